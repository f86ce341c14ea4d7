//! The workspace: a directory of the user, or a sample for the first start.

use std::fs;
use std::io;
use std::path::Path;

use tool_builtins::files::is_inside;

use crate::options::Options;

/// The sample files.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../sample/README.md")),
    ("notes/on-call.md", include_str!("../sample/notes/on-call.md")),
    ("site/index.html", include_str!("../sample/site/index.html")),
    ("site/style.css", include_str!("../sample/site/style.css")),
];

/// Checks that the directory exists. It is not created, since its name may be mistyped.
///
/// # Errors
/// If it is not a directory.
pub fn expect(folder: &Path) -> io::Result<()> {
    let shown = folder.display();
    if folder.is_dir() {
        return Ok(());
    }
    let problem = match folder.exists() {
        true => format!("{shown} is not a directory: name one, or omit `--workspace` to use a sample"),
        false => format!(
            "{shown} does not exist: create it with `mkdir -p '{shown}'`, or omit `--workspace` to use a sample"
        ),
    };
    Err(io::Error::new(io::ErrorKind::NotFound, problem))
}

/// Checks that the model cannot change the settings and the MCP servers of the console with the file tools.
///
/// # Errors
/// If the data directory or a configuration of MCP servers is in the workspace.
pub fn check_separation(folder: &Path, options: &Options) -> io::Result<()> {
    let shown = folder.display();
    if is_inside(folder, &options.data)? {
        return Err(io::Error::other(format!(
            "{shown} contains the data directory {}, so the model could change the settings: pass another directory with \
             `--data`, or a smaller `--workspace`",
            options.data.display()
        )));
    }
    for path in options.plugins.paths() {
        if is_inside(folder, &path)? {
            return Err(io::Error::other(format!(
                "{shown} contains {}, so the model could add programs that the console starts: move it out of the \
                 workspace, or pass a smaller `--workspace`",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Creates the sample files. An existing directory is left unchanged.
///
/// # Errors
/// If writing fails.
pub fn create(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    for (path, content) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)?;
    }
    Ok(())
}
