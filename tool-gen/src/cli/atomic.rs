//! Writing a file all at once or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::exit::{Doing, Result};

/// Writes the text if the file does not have it already; whether it was written.
///
/// The text goes to a file beside it, which then takes its place: a reader sees the old text or the new one, and a
/// failure leaves the old one.
pub(super) fn write(file: &Path, text: &str) -> Result<bool> {
    if fs::read(file).is_ok_and(|known| known == text.as_bytes()) {
        return Ok(false);
    }
    let what = || format!("write {}", file.display());
    // A link stays a link: what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".tools_calls.").tempfile_in(folder).doing(what)?;
    temporary.write_all(text.as_bytes()).doing(what)?;
    set_permissions(temporary.path(), &target).doing(what)?;
    temporary.as_file().sync_all().doing(what)?;
    temporary.persist(&target).doing(what)?;
    Ok(true)
}

/// A temporary file is for its owner only; a manifest is for everyone, or for whom it was before.
#[cfg(unix)]
fn set_permissions(temporary: &Path, target: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::metadata(target).map_or(fs::Permissions::from_mode(0o644), |known| known.permissions());
    fs::set_permissions(temporary, permissions)
}

#[cfg(not(unix))]
fn set_permissions(_: &Path, _: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        assert!(write(&file, "one").unwrap());
        assert!(!write(&file, "one").unwrap());
        assert!(write(&file, "two").unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");
        let nowhere = write(&folder.path().join("none/a.json"), "one").unwrap_err();
        assert!(nowhere.to_string().starts_with("cannot write "), "{nowhere}");
    }
}
