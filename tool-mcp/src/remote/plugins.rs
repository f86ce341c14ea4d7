//! A folder of servers: each program in it is started, each file of `mcpServers` is read.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

use super::config::ServerConfig;
use super::file;
use super::reached::Reached;

/// The variable that names the folder.
pub(super) const VARIABLE: &str = "TOOL_PLUGINS_DIR";

/// The servers of a folder, each with the file that it is from, and what in it cannot be used.
pub(super) fn scan(folder: &Path) -> (Vec<(PathBuf, ServerConfig)>, Vec<String>) {
    let (mut servers, mut problems) = (Vec::new(), Vec::new());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(format!("the folder of plugins {} cannot be read: {error}", folder.display()));
            return (servers, problems);
        }
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).filter(is_meant).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            match file::read(&path) {
                Ok(read) => servers.extend(read.into_iter().map(|server| (path.clone(), server))),
                Err(error) => problems.push(format!("the plugin {error}")),
            }
        } else if let Some(program) = program(&path) {
            servers.push((path, program));
        } else if is_script(&path) {
            problems.push(format!("the plugin {} is a script that may not be run: `chmod +x` lets it", path.display()));
        }
    }
    (servers, problems)
}

/// Hidden files and what editors leave behind are not meant.
fn is_meant(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    !(name.starts_with('.') || name.ends_with('~'))
}

/// A program as a server, by its name without the extension. It is another one when it was written again.
fn program(path: &Path) -> Option<ServerConfig> {
    // A link may stand for a program elsewhere.
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || !is_executable(path, &metadata) {
        return None;
    }
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let mut config = ServerConfig::command(name, path);
    if let Reached::Command(command) = &mut config.reached {
        command.written = metadata.modified().ok();
    }
    Some(config)
}

/// Whether somebody meant a file to be run.
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
