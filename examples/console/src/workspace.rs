//! The workspace: a folder that somebody has named, or a sample for the first start.

use std::fs;
use std::io;
use std::path::Path;

/// What there is to begin with: something to read, something to mend.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../sample/README.md")),
    ("notes/on-call.md", include_str!("../sample/notes/on-call.md")),
    ("site/index.html", include_str!("../sample/site/index.html")),
    ("site/style.css", include_str!("../sample/site/style.css")),
];

/// Says how to make a folder that somebody has named and that is not there. It is not made for them: a name that is
/// mistyped is not to become a folder.
///
/// # Errors
/// When it is no folder.
pub fn expect(folder: &Path) -> io::Result<()> {
    let shown = folder.display();
    if folder.is_dir() {
        return Ok(());
    }
    let problem = match folder.exists() {
        true => format!("{shown} is no folder: name one, or leave `--workspace` out for a sample"),
        false => format!(
            "{shown} does not exist: make it with `mkdir -p '{shown}'`, or leave `--workspace` out for a sample"
        ),
    };
    Err(io::Error::new(io::ErrorKind::NotFound, problem))
}

/// Makes the sample with its files, if it is not there. A folder that is there stays as it is.
///
/// # Errors
/// When it cannot be written.
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
