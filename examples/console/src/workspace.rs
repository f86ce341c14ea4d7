//! A sample workspace, for the first start.

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

/// Makes the folder with its files, if it is not there. A folder that is there stays as it is.
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
