//! The person's own editor.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

/// What `$VISUAL` or `$EDITOR` says, if anything.
pub(super) fn command() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok().filter(|command| !command.trim().is_empty()))
}

/// Opens a text in an editor, such as `vi` or `code --wait`, and gives what was saved.
pub(super) fn edit(command: &str, text: &str) -> io::Result<String> {
    let (mut file, path) = create()?;
    let _removed = Removed(&path);
    file.write_all(text.as_bytes())?;
    drop(file);
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| io::Error::other("no editor is named"))?;
    let status = Command::new(program).args(words).arg(&path).status()?;
    match status.success() {
        true => fs::read_to_string(&path),
        false => Err(io::Error::other(format!("`{command}` ended with {status}"))),
    }
}

/// A new file that only this person can read: arguments may be private.
fn create() -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut options = OpenOptions::new();
    // Fails where something is there already, a link among others.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("tool-arguments-{}-{number}.json", process::id()));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
            opened => return opened.map(|file| (file, path)),
        }
    }
}

struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(self.0) {
            tracing::warn!("{} could not be removed: {error}", self.0.display());
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_private_and_goes_away() {
        let (_, path) = create().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(Removed(&path));
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
