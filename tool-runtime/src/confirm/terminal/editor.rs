//! The user's editor.

use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Returns the value of `$VISUAL` or `$EDITOR`, unless both are empty.
pub(super) fn command() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|command| !command.trim().is_empty()))
}

/// Opens a text in an editor, such as `vi` or `code --wait`, and returns the saved text.
pub(super) fn edit(command: &str, text: &str) -> io::Result<String> {
    let directory = PrivateDirectory::new()?;
    let path = directory.0.join("arguments.json");
    fs::write(&path, text)?;
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| io::Error::other("`$EDITOR` is empty"))?;
    let status = Command::new(program).args(words).arg(&path).status()?;
    match status.success() {
        true => fs::read_to_string(&path),
        false => Err(io::Error::other(format!("`{command}` ended with {status}"))),
    }
}

/// A temporary directory that only the user can access, since arguments may be private. It also holds the backups and
/// replacement files that editors create. Dropping it removes the directory and its contents.
struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Creates the directory. An existing file or symlink of that name is never used; another name is tried instead.
    fn new() -> io::Result<Self> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "modes exist on Unix only"))]
        let mut make = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
        loop {
            let name = format!("tool-arguments-{:016x}", RandomState::new().hash_one(std::process::id()));
            let path = env::temp_dir().join(name);
            match make.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => return made.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(directory = %self.0.display(), %error, "cannot remove the edited arguments");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_directory_is_private_and_removed_on_drop() {
        let directory = PrivateDirectory::new().unwrap();
        let path = directory.0.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_ne!(path, PrivateDirectory::new().unwrap().0);
        fs::write(path.join("arguments.json~"), "a copy").unwrap();
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn returns_the_text_that_the_editor_saved() {
        assert_eq!(edit("sed -i s/web-1/web-2/", "{\"host\": \"web-1\"}").unwrap(), "{\"host\": \"web-2\"}");
        assert_eq!(edit("true", "left as it was").unwrap(), "left as it was");
        assert!(edit("false", "").unwrap_err().to_string().contains("`false` ended with exit status: 1"));
        assert!(edit("no-such-editor-anywhere", "").is_err());
    }
}
