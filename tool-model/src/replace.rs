//! Writing a file so that nobody ever reads half of it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Gives a file this content, unless it has it already. Whether it was written.
///
/// The content goes into a new file beside it, which then takes its place: a reader sees the old one or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<bool> {
    // What a link points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::read(&path) {
        Ok(known) if known == content => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let beside = beside(&path)?;
    let written = write_new(&beside, content)
        .and_then(|()| keep_permissions(&path, &beside))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // It may not even exist; the error that matters is the other one.
        drop(fs::remove_file(&beside));
    }
    written.map(|()| true)
}

/// A name in the same folder, since a file cannot be renamed from one disk to another.
fn beside(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(hidden))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    // Otherwise a crash of the machine may keep the new name and lose the content.
    file.sync_all()
}

fn keep_permissions(of: &Path, on: &Path) -> io::Result<()> {
    match fs::metadata(of) {
        Ok(known) => fs::set_permissions(on, known.permissions()),
        Err(_) => Ok(()),
    }
}
