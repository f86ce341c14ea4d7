//! The person's own editor.

use std::env;
use std::fs;
use std::io;
use std::process::Command;

use tempfile::TempDir;

/// What `$VISUAL` or `$EDITOR` says, if anything.
pub(super) fn command() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|command| !command.trim().is_empty()))
}

/// Opens a text in an editor, such as `vi` or `code --wait`, and gives what was saved.
pub(super) fn edit(command: &str, text: &str) -> io::Result<String> {
    let folder = private_folder()?;
    let path = folder.path().join("arguments.json");
    fs::write(&path, text)?;
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| io::Error::other("no editor is named"))?;
    let status = Command::new(program).args(words).arg(&path).status()?;
    let saved = match status.success() {
        true => fs::read_to_string(&path),
        false => Err(io::Error::other(format!("`{command}` ended with {status}"))),
    };
    if let Err(error) = folder.close() {
        tracing::warn!("what was edited could not be removed: {error}");
    }
    saved
}

/// A new folder of a name that nobody knows, which only this person can enter: arguments may be private, and an editor
/// that leaves copies beside its file, or puts a new file in its place, does that in there.
fn private_folder() -> io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("tool-arguments-");
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    folder.tempdir()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_private_and_goes_away_with_all_that_is_in_it() {
        let folder = private_folder().unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_ne!(path.file_name(), private_folder().unwrap().path().file_name());
        fs::write(path.join("arguments.json~"), "a copy").unwrap();
        folder.close().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn an_editor_changes_the_text() {
        assert_eq!(edit("sed -i s/web-1/web-2/", "{\"host\": \"web-1\"}").unwrap(), "{\"host\": \"web-2\"}");
        assert_eq!(edit("true", "left as it was").unwrap(), "left as it was");
        assert!(edit("false", "").unwrap_err().to_string().contains("`false` ended with exit status: 1"));
        assert!(edit("no-such-editor-anywhere", "").is_err());
    }
}
