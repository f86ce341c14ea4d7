//! Plugin directories: each executable is a server, each JSON file is a configuration file.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

use super::config_file;
use super::endpoint::Endpoint;
use super::server_config::ServerConfig;

/// The environment variable with the plugin directory.
const VARIABLE: &str = "TOOL_PLUGINS_DIR";

/// Returns the plugin directory of the environment, if it is set.
pub(super) fn from_env() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|directory| !directory.is_empty()).map(PathBuf::from)
}

/// Returns the servers of a directory, each with its file, and the problems.
pub(super) fn scan(directory: &Path) -> (Vec<(PathBuf, ServerConfig)>, Vec<String>) {
    let (mut servers, mut problems) = (Vec::new(), Vec::new());
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(format!("cannot read the plugin directory {}: {error}", directory.display()));
            return (servers, problems);
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).filter(is_plugin).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            match config_file::read(&path) {
                Ok(read) => servers.extend(read.into_iter().map(|server| (path.clone(), server))),
                Err(error) => problems.push(format!("plugin {error}")),
            }
        } else if let Some(program) = program(&path) {
            servers.push((path, program));
        } else if is_script(&path) {
            problems
                .push(format!("plugin {} is a script that is not executable; run `chmod +x` on it", path.display()));
        }
    }
    (servers, problems)
}

/// Returns `false` for hidden files and backup files of editors.
fn is_plugin(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    !(name.starts_with('.') || name.ends_with('~'))
}

/// Returns the configuration of an executable. It changes when the file is modified.
fn program(path: &Path) -> Option<ServerConfig> {
    // Follows symbolic links.
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || !is_executable(path, &metadata) {
        return None;
    }
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let mut config = ServerConfig::command(name, path);
    if let Endpoint::Command(command) = &mut config.endpoint {
        command.modified = metadata.modified().ok();
    }
    Some(config)
}

/// Returns `true` if a file starts with `#!`.
#[cfg(unix)]
fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 2];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

#[cfg(not(unix))]
fn is_script(_path: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_executable(_path: &Path, metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(path: &Path, _metadata: &Metadata) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exe"))
}
