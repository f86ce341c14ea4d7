//! The environment variables of commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variables that commands inherit, besides `LC_*`. None of them holds a secret.
const INHERITED: [&str; 7] = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "TERM", "TZ", "USER"];
/// The fallback if the host has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The environment variables of commands.
#[derive(Clone, Debug)]
pub(super) struct CommandEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl CommandEnvironment {
    /// Creates an environment with the inherited variables of this process.
    pub fn inherited() -> Self {
        let is_inherited =
            |name: &OsStr| name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"));
        let mut variables: BTreeMap<_, _> = std::env::vars_os().filter(|(name, _)| is_inherited(name)).collect();
        variables.insert("PATH".into(), path());
        Self { variables }
    }

    pub fn set(&mut self, name: OsString, value: OsString) {
        self.variables.insert(name, value);
    }

    /// Inherits one more variable of this process, if it is set.
    pub fn pass(&mut self, name: &OsStr) {
        if let Some(value) = std::env::var_os(name) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Returns the search path for programs.
    pub fn path(&self) -> &OsStr {
        self.variables.get(OsStr::new("PATH")).map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str)
    }

    /// Returns the variables, with `TMPDIR` set to a scratch directory.
    pub fn with_scratch<'a>(&'a self, scratch: &'a Path) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let temporary = (OsStr::new("TMPDIR"), scratch.as_os_str());
        self.variables.iter().map(|(name, value)| (&**name, &**value)).chain([temporary])
    }
}

/// Returns the host's `PATH` without relative entries, so that a file in the workspace cannot pass for `git`.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    let absolute = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    std::env::join_paths(absolute).unwrap_or_else(|_| DEFAULT_PATH.into())
}
