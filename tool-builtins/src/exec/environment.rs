//! What a command knows of the host's environment: next to nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is handed on, besides everything that begins with `LC_`. No key and no token is called like that.
const HANDED_ON: [&str; 7] = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "TERM", "TZ", "USER"];
/// The path, where the host has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The variables of a command.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// What is handed on of this process's own.
    pub fn of_this_process() -> Self {
        let is_handed_on =
            |name: &OsStr| name.to_str().is_some_and(|name| HANDED_ON.contains(&name) || name.starts_with("LC_"));
        let mut variables: BTreeMap<_, _> = std::env::vars_os().filter(|(name, _)| is_handed_on(name)).collect();
        variables.insert("PATH".into(), path());
        Self { variables }
    }

    pub fn set(&mut self, name: OsString, value: OsString) {
        self.variables.insert(name, value);
    }

    /// Hands on one more variable of this process's, if it has it.
    pub fn pass(&mut self, name: &OsStr) {
        if let Some(value) = std::env::var_os(name) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Where programs are looked for.
    pub fn path(&self) -> &OsStr {
        self.variables.get(OsStr::new("PATH")).map_or(OsStr::new(USUAL_PATH), OsString::as_os_str)
    }

    /// The variables, with a folder for what is temporary.
    pub fn with_scratch<'a>(&'a self, scratch: &'a Path) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let temporary = (OsStr::new("TMPDIR"), scratch.as_os_str());
        self.variables.iter().map(|(name, value)| (&**name, &**value)).chain([temporary])
    }
}

/// The host's path, without what depends on the working directory: a file of the workspace must not pass for `git`.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let absolute = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    std::env::join_paths(absolute).unwrap_or_else(|_| USUAL_PATH.into())
}
