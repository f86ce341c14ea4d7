//! The person's own editor.

use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// What `$VISUAL` or `$EDITOR` says, if anything.
pub(super) fn command() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|command| !command.trim().is_empty()))
}

/// Opens a text in an editor, such as `vi` or `code --wait`, and gives what was saved.
pub(super) fn edit(command: &str, text: &str) -> io::Result<String> {
    let folder = PrivateFolder::new()?;
    let path = folder.0.join("arguments.json");
    fs::write(&path, text)?;
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| io::Error::other("no editor is named"))?;
    let status = Command::new(program).args(words).arg(&path).status()?;
    match status.success() {
        true => fs::read_to_string(&path),
        false => Err(io::Error::other(format!("`{command}` ended with {status}"))),
    }
}

/// A new folder which only this person can enter: arguments may be private, and an editor that leaves copies beside its
/// file, or puts a new file in its place, does that in there. It goes away with all that is in it.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// What stands there already, a link of somebody else's too, is not taken: then another name is tried.
    fn new() -> io::Result<Self> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
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

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(folder = %self.0.display(), %error, "what was edited could not be removed");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_private_and_goes_away_with_all_that_is_in_it() {
        let folder = PrivateFolder::new().unwrap();
        let path = folder.0.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_ne!(path, PrivateFolder::new().unwrap().0);
        fs::write(path.join("arguments.json~"), "a copy").unwrap();
        drop(folder);
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
