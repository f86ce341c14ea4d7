//! Long results in files.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{SpillKey, SpillStore};

/// Keeps long results as files of a folder, up to a number of bytes, over a restart too. The oldest go first.
///
/// A file begins with a line that names its conversation. Only the user of the program can read it, where the
/// system knows such a thing. Files of other names than `result-*.txt` are let alone.
#[derive(Debug)]
pub struct FolderStore {
    folder: PathBuf,
    capacity: u64,
    /// Held while room is made, so that two calls do not count the same files.
    writing: Mutex<()>,
}

impl FolderStore {
    /// A store in a folder, which is made if it is not there, of at most 1 GB.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, capacity: 1_000_000_000, writing: Mutex::new(()) })
    }

    /// How many bytes it holds at most.
    #[must_use]
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = bytes;
        self
    }

    /// The file of a handle. A handle is of a model's making: what cannot be one of ours names no file.
    fn path(&self, handle: &str) -> Option<PathBuf> {
        let is_handle = (1..=64).contains(&handle.len()) && handle.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_handle.then(|| self.folder.join(format!("{PREFIX}{handle}{SUFFIX}")))
    }

    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut files = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            // One that another process has removed meanwhile takes no room.
            if is_ours(&file.file_name())
                && let Ok(about) = file.metadata()
            {
                files.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), file.path()));
            }
        }
        files.sort();
        let mut kept: u64 = files.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in files {
            if kept <= bytes {
                break;
            }
            remove(&path)?;
            kept -= length;
        }
        Ok(())
    }
}

const PREFIX: &str = "result-";
const SUFFIX: &str = ".txt";

fn is_ours(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

impl SpillStore for FolderStore {
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()> {
        let path = self.path(key.handle).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let owner = serde_json::to_string(&key.conversation)?;
        let length = (owner.len() + 1 + text.len()) as u64;
        let Some(others) = self.capacity.checked_sub(length) else {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        };
        let _one_by_one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.make_room(others)?;
        let mut file = create(&path)?;
        let written = writeln!(file, "{owner}").and_then(|()| file.write_all(text.as_bytes()));
        if written.is_err() {
            // Half a result is worse than none.
            remove(&path)?;
        }
        written
    }

    fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
        let Some(path) = self.path(key.handle) else { return Ok(None) };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut file = BufReader::new(file);
        let mut owner = String::new();
        file.read_line(&mut owner)?;
        if serde_json::from_str::<Option<String>>(&owner)?.as_deref() != key.conversation {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(Some(text.into()))
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("tool-runtime-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key<'a>(conversation: Option<&'a str>, handle: &'a str) -> SpillKey<'a> {
        SpillKey { conversation, handle }
    }

    #[test]
    fn a_text_outlives_its_store() {
        let folder = Folder::new("restart");
        let text = "first\nsecond\r\n\u{2028}é";
        let odd = Some("c \"1\"\nnull");
        FolderStore::new(&folder.0).unwrap().put(key(odd, "r1"), text).unwrap();
        let store = FolderStore::new(&folder.0).unwrap();
        assert_eq!(store.get(key(odd, "r1")).unwrap().as_deref(), Some(text));
        assert_eq!(store.get(key(None, "r1")).unwrap(), None);
        assert_eq!(store.get(key(Some("null"), "r1")).unwrap(), None);
        assert_eq!(store.get(key(odd, "r2")).unwrap(), None);
        assert!(store.put(key(None, "r1"), "other").is_err(), "a handle is put once");
    }

    #[test]
    fn a_handle_cannot_leave_the_folder() {
        let folder = Folder::new("outside");
        let store = FolderStore::new(folder.0.join("inner")).unwrap();
        fs::write(folder.0.join("result-secret.txt"), "null\nsecret").unwrap();
        let long = "a".repeat(300);
        for handle in [
            "../result-secret",
            "x/../../result-secret",
            "..",
            "",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "a:b",
            "é",
            "a.b",
            "a\0",
            &long,
        ] {
            assert_eq!(store.get(key(None, handle)).unwrap(), None, "{handle:?}");
            assert!(store.put(key(None, handle), "text").is_err(), "{handle:?}");
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = Folder::new("room");
        let store = FolderStore::new(&folder.0).unwrap().capacity(30);
        fs::write(folder.0.join("note.txt"), "not a result, and long enough to be in the way").unwrap();
        for (age, handle) in [(30, "a"), (20, "b"), (10, "c")] {
            store.put(key(None, handle), "12345").unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(store.path(handle).unwrap()).unwrap().set_modified(then).unwrap();
        }
        store.put(key(None, "d"), "12345").unwrap();
        let there = ["a", "b", "c", "d"].map(|handle| store.get(key(None, handle)).unwrap().is_some());
        assert_eq!(there, [false, true, true, true]);
        assert!(store.put(key(None, "e"), &"1".repeat(31)).is_err());
        assert!(folder.0.join("note.txt").exists());
    }
}
