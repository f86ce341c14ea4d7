//! The server to add: its name, and a command or a URL.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use url::Url;

use super::edit::InstallError;

/// A server with its name.
#[derive(Debug)]
pub(super) struct ServerEntry {
    pub(super) name: String,
    pub(super) launch: Launch,
}

/// The way in which a client reaches the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Launch {
    /// A program, over its standard streams.
    Command { program: String, arguments: Vec<String>, environment: Map<String, Value> },
    /// A server over HTTP.
    Http { url: String, host: String, headers: Map<String, Value> },
}

impl Launch {
    pub(super) fn command(program: &str, arguments: &[String], environment: &[(String, String)]) -> Self {
        let own_directory = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
        Self::Command {
            program: resolve(program, own_directory.as_deref()),
            arguments: arguments.to_vec(),
            environment: to_map(environment),
        }
    }

    pub(super) fn http(url: &Url, headers: &[(String, String)]) -> Result<Self, InstallError> {
        match url.host_str() {
            Some(host) if matches!(url.scheme(), "http" | "https") => {
                Ok(Self::Http { url: url.to_string(), host: host.to_owned(), headers: to_map(headers) })
            }
            _ => Err(InstallError::Url(url.to_string())),
        }
    }

    /// Returns the program of a command if there is no such file, neither at its path nor on the `PATH`.
    pub(super) fn missing_program(&self) -> Option<&str> {
        let Self::Command { program, .. } = self else { return None };
        let path = Path::new(program);
        let exists = |path: PathBuf| {
            path.is_file()
                || ["exe", "cmd", "bat"].iter().any(|suffix| cfg!(windows) && path.with_extension(suffix).is_file())
        };
        let is_found = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => exists(path.to_owned()),
            _ => std::env::var_os("PATH")
                .is_some_and(|paths| std::env::split_paths(&paths).any(|directory| exists(directory.join(path)))),
        };
        (!is_found).then_some(program)
    }

    /// Returns the name of the program or the host, with only the characters that names may have.
    fn default_name(&self) -> String {
        let text = match self {
            Self::Command { program, .. } => Path::new(program).file_stem().unwrap_or_default().to_string_lossy(),
            Self::Http { host, .. } => host.into(),
        };
        text.chars().map(|letter| if is_name_letter(letter) { letter } else { '-' }).collect()
    }
}

impl ServerEntry {
    pub(super) fn new(name: Option<&str>, launch: Launch) -> Result<Self, InstallError> {
        let name = name.map_or_else(|| launch.default_name(), str::to_owned);
        // Clients build the names of tools from that of the server.
        if name.is_empty() || !name.chars().all(is_name_letter) {
            return Err(InstallError::Name(name));
        }
        Ok(Self { name, launch })
    }
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

fn to_map(pairs: &[(String, String)]) -> Map<String, Value> {
    pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}

/// Makes a path absolute, because clients start programs in other directories.
///
/// A name without a directory is kept, unless that program is in `own_directory`, the directory of the running program.
/// Clients with a window do not have the `PATH` of a shell.
fn resolve(program: &str, own_directory: Option<&Path>) -> String {
    let path = Path::new(program);
    let beside = |directory: &Path| -> Option<PathBuf> {
        let file = directory.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        file.is_file().then_some(file)
    };
    let resolved = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::path::absolute(path).ok(),
        _ => own_directory.and_then(beside),
    };
    resolved.map_or_else(|| program.to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_program_or_the_host() {
        let named = |launch| ServerEntry::new(None, launch).map(|entry| entry.name);
        assert_eq!(named(Launch::command("/opt/my.tools/my.server", &[], &[])).unwrap(), "my");
        assert_eq!(named(Launch::command("my tools", &[], &[])).unwrap(), "my-tools");
        let url = Url::parse("https://shop.example.com/mcp").unwrap();
        assert_eq!(named(Launch::http(&url, &[]).unwrap()).unwrap(), "shop-example-com");
    }

    #[test]
    fn rejects_names_and_urls_that_no_client_accepts() {
        for name in ["", "my tools", "größe"] {
            assert!(ServerEntry::new(Some(name), Launch::command("a", &[], &[])).is_err(), "{name}");
        }
        assert!(Launch::http(&Url::parse("file:///tmp/mcp").unwrap(), &[]).is_err());
    }

    #[test]
    fn paths_become_absolute_and_names_stay() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join(format!("here{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&program, "").unwrap();
        assert_eq!(resolve("npx", Some(directory.path())), "npx");
        assert_eq!(resolve("here", Some(directory.path())), program.display().to_string());
        assert!(Path::new(&resolve("./target/server", None)).is_absolute());
    }
}
