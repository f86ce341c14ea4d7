//! Long results in files.

use std::collections::VecDeque;
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
///
/// The folder is listed once, when the store is made. Of several stores that share a folder, each counts only the files
/// that were there then and those that it has written itself, so that together they may hold more than one of them.
#[derive(Debug)]
pub struct DirectorySpillStore {
    folder: PathBuf,
    capacity: u64,
    /// Locked while room is made and a file is written.
    kept: Mutex<Kept>,
}

/// The files of a store.
#[derive(Debug, Default)]
struct Kept {
    /// Their handles and lengths, the oldest first.
    files: VecDeque<(Box<str>, u64)>,
    bytes: u64,
}

impl DirectorySpillStore {
    /// A store in a folder, which is made if it is not there, of at most 1 GB.
    ///
    /// # Errors
    /// The folder cannot be made or listed.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let kept = Mutex::new(Kept::of(&folder)?);
        Ok(Self { folder, capacity: 1_000_000_000, kept })
    }

    /// How many bytes it holds at most.
    #[must_use]
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = bytes;
        self
    }

    /// The file of a handle. A handle is of a model's making: what cannot be one of ours names no file.
    fn path(&self, handle: &str) -> Option<PathBuf> {
        is_handle(handle).then(|| self.folder.join(format!("{PREFIX}{handle}{SUFFIX}")))
    }

    /// Removes the oldest files until the rest takes no more than so many bytes.
    fn make_room(&self, kept: &mut Kept, bytes: u64) -> io::Result<()> {
        while kept.bytes > bytes
            && let Some((handle, length)) = kept.files.front()
        {
            if let Some(path) = self.path(handle) {
                remove(&path)?;
            }
            kept.bytes -= length;
            kept.files.pop_front();
        }
        Ok(())
    }
}

impl Kept {
    /// Lists the results of a folder.
    fn of(folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for file in fs::read_dir(folder)? {
            let file = file?;
            // One that another process has removed meanwhile takes no room.
            if let Some(handle) = handle_of(&file.file_name())
                && let Ok(about) = file.metadata()
            {
                files.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), handle, about.len()));
            }
        }
        files.sort();
        let bytes = files.iter().map(|(_, _, length)| length).sum();
        Ok(Self { files: files.into_iter().map(|(_, handle, length)| (handle, length)).collect(), bytes })
    }
}

const PREFIX: &str = "result-";
const SUFFIX: &str = ".txt";

fn is_handle(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The handle of a file, if it is a result.
fn handle_of(file: &OsStr) -> Option<Box<str>> {
    let handle = file.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    is_handle(handle).then(|| handle.into())
}

impl SpillStore for DirectorySpillStore {
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()> {
        let path = self.path(key.handle).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let owner = serde_json::to_string(&key.conversation)?;
        let length = (owner.len() + 1 + text.len()) as u64;
        let Some(others) = self.capacity.checked_sub(length) else {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // First, so that a handle that is there already makes no room.
        let mut file = create(&path)?;
        let room = self.make_room(&mut kept, others);
        let written = room.and_then(|()| writeln!(file, "{owner}")).and_then(|()| file.write_all(text.as_bytes()));
        if written.is_err() {
            // Half a result is worse than none.
            remove(&path)?;
            return written;
        }
        kept.files.push_back((key.handle.into(), length));
        kept.bytes += length;
        Ok(())
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
        DirectorySpillStore::new(&folder.0).unwrap().put(key(odd, "r1"), text).unwrap();
        let store = DirectorySpillStore::new(&folder.0).unwrap();
        assert_eq!(store.get(key(odd, "r1")).unwrap().as_deref(), Some(text));
        assert_eq!(store.get(key(None, "r1")).unwrap(), None);
        assert_eq!(store.get(key(Some("null"), "r1")).unwrap(), None);
        assert_eq!(store.get(key(odd, "r2")).unwrap(), None);
        assert!(store.put(key(None, "r1"), "other").is_err(), "a handle is put once");
    }

    #[test]
    fn a_handle_cannot_leave_the_folder() {
        let folder = Folder::new("outside");
        let store = DirectorySpillStore::new(folder.0.join("inner")).unwrap();
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

    fn there(store: &DirectorySpillStore, handles: &[&str]) -> Vec<bool> {
        handles.iter().map(|handle| store.get(key(None, handle)).unwrap().is_some()).collect()
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = Folder::new("room");
        let store = DirectorySpillStore::new(&folder.0).unwrap().capacity(30);
        fs::write(folder.0.join("note.txt"), "not a result, and long enough to be in the way").unwrap();
        for handle in ["a", "b", "c", "d"] {
            store.put(key(None, handle), "12345").unwrap();
        }
        assert_eq!(there(&store, &["a", "b", "c", "d"]), [false, true, true, true]);
        assert!(store.put(key(None, "e"), &"1".repeat(31)).is_err());
        assert!(store.put(key(None, "d"), "again").is_err());
        assert!(folder.0.join("note.txt").exists());
        let kept = store.kept.lock().unwrap();
        assert_eq!((kept.files.len(), kept.bytes), (3, 30));
    }

    /// Their ages are those of the files.
    #[test]
    fn the_oldest_of_before_a_restart_make_room_first() {
        let folder = Folder::new("ages");
        fs::create_dir_all(&folder.0).unwrap();
        for (age, handle) in [(10, "a"), (30, "b"), (20, "c")] {
            let mut file = create(&folder.0.join(format!("result-{handle}.txt"))).unwrap();
            file.write_all(b"null\n12345").unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        let store = DirectorySpillStore::new(&folder.0).unwrap().capacity(30);
        store.put(key(None, "d"), "12345").unwrap();
        assert_eq!(there(&store, &["a", "b", "c", "d"]), [true, false, true, true]);
        store.put(key(None, "e"), "12345").unwrap();
        assert_eq!(there(&store, &["a", "c", "d", "e"]), [true, false, true, true]);
    }

    /// A file that appears later is not counted, and one that is gone does no harm.
    #[test]
    fn the_folder_is_listed_once() {
        let folder = Folder::new("once");
        let store = DirectorySpillStore::new(&folder.0).unwrap().capacity(30);
        store.put(key(None, "a"), "12345").unwrap();
        fs::write(folder.0.join("result-foreign.txt"), "null\nlonger than everything that the store holds").unwrap();
        fs::remove_file(folder.0.join("result-a.txt")).unwrap();
        for handle in ["b", "c", "d"] {
            store.put(key(None, handle), "12345").unwrap();
        }
        assert_eq!(there(&store, &["foreign", "b", "c", "d"]), [true; 4]);
        drop(store);
        let store = DirectorySpillStore::new(&folder.0).unwrap().capacity(30);
        store.put(key(None, "e"), "12345").unwrap();
        assert!(!there(&store, &["foreign"])[0], "the control: now it is counted");
    }
}
