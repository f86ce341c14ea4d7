//! A store of long outputs in files.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{SpillKey, SpillStore};

/// A [`SpillStore`] that writes files to a directory, up to a total size. Outputs survive a restart; the oldest are
/// removed first.
///
/// The first line of a file names its conversation. On Unix, only the user of the process can read the files. Files not
/// named `result-*.txt` are ignored.
///
/// The directory is listed once, when the store is created. Stores that share a directory count only the files that
/// existed then and their own, so together they may exceed the capacity.
#[derive(Debug)]
pub struct DirectorySpillStore {
    directory: PathBuf,
    capacity: u64,
    /// Locked while old files are removed and a new one is written.
    index: Mutex<DirectoryIndex>,
}

/// The files of a store.
#[derive(Debug, Default)]
struct DirectoryIndex {
    /// Handles and lengths, the oldest first.
    files: VecDeque<(Box<str>, u64)>,
    bytes: u64,
}

impl DirectorySpillStore {
    /// Opens a store of at most 1 GB in a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// Fails if the directory cannot be created or listed.
    pub fn new(directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = directory.into();
        fs::create_dir_all(&directory)?;
        let index = Mutex::new(DirectoryIndex::read(&directory)?);
        Ok(Self { directory, capacity: 1_000_000_000, index })
    }

    /// Sets the capacity in bytes.
    #[must_use]
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = bytes;
        self
    }

    /// Returns the path of a handle. Handles come from models, so anything but letters and digits is rejected.
    fn path(&self, handle: &str) -> Option<PathBuf> {
        is_handle(handle).then(|| self.directory.join(format!("{PREFIX}{handle}{SUFFIX}")))
    }

    /// Removes the oldest files until the rest takes at most `bytes` bytes.
    fn make_room(&self, index: &mut DirectoryIndex, bytes: u64) -> io::Result<()> {
        while index.bytes > bytes
            && let Some((handle, length)) = index.files.front()
        {
            if let Some(path) = self.path(handle) {
                remove(&path)?;
            }
            index.bytes -= length;
            index.files.pop_front();
        }
        Ok(())
    }
}

impl DirectoryIndex {
    /// Lists the outputs in a directory.
    fn read(directory: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for file in fs::read_dir(directory)? {
            let file = file?;
            // Another process may have removed the file since.
            if let Some(handle) = handle_of(&file.file_name())
                && let Ok(metadata) = file.metadata()
            {
                files.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), handle, metadata.len()));
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

/// Returns the handle of a file, if it is an output.
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
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        // Created first, so that an existing handle fails before old files are removed.
        let mut file = create(&path)?;
        let room = self.make_room(&mut index, others);
        let written = room.and_then(|()| writeln!(file, "{owner}")).and_then(|()| file.write_all(text.as_bytes()));
        if written.is_err() {
            // A partial output must not be read.
            remove(&path)?;
            return written;
        }
        index.files.push_back((key.handle.into(), length));
        index.bytes += length;
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

    /// A temporary directory.
    struct TemporaryDirectory(PathBuf);

    impl TemporaryDirectory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("tool-runtime-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for TemporaryDirectory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn key<'a>(conversation: Option<&'a str>, handle: &'a str) -> SpillKey<'a> {
        SpillKey { conversation, handle }
    }

    #[test]
    fn an_output_survives_a_restart() {
        let directory = TemporaryDirectory::new("restart");
        let text = "first\nsecond\r\n\u{2028}é";
        let odd = Some("c \"1\"\nnull");
        DirectorySpillStore::new(&directory.0).unwrap().put(key(odd, "r1"), text).unwrap();
        let store = DirectorySpillStore::new(&directory.0).unwrap();
        assert_eq!(store.get(key(odd, "r1")).unwrap().as_deref(), Some(text));
        assert_eq!(store.get(key(None, "r1")).unwrap(), None);
        assert_eq!(store.get(key(Some("null"), "r1")).unwrap(), None);
        assert_eq!(store.get(key(odd, "r2")).unwrap(), None);
        assert!(store.put(key(None, "r1"), "other").is_err(), "a handle cannot be overwritten");
    }

    #[test]
    fn a_handle_cannot_leave_the_directory() {
        let directory = TemporaryDirectory::new("outside");
        let store = DirectorySpillStore::new(directory.0.join("inner")).unwrap();
        fs::write(directory.0.join("result-secret.txt"), "null\nsecret").unwrap();
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
    fn removes_the_oldest_outputs_first() {
        let directory = TemporaryDirectory::new("room");
        let store = DirectorySpillStore::new(&directory.0).unwrap().capacity(30);
        fs::write(directory.0.join("note.txt"), "not a result, and long enough to be in the way").unwrap();
        for handle in ["a", "b", "c", "d"] {
            store.put(key(None, handle), "12345").unwrap();
        }
        assert_eq!(there(&store, &["a", "b", "c", "d"]), [false, true, true, true]);
        assert!(store.put(key(None, "e"), &"1".repeat(31)).is_err());
        assert!(store.put(key(None, "d"), "again").is_err());
        assert!(directory.0.join("note.txt").exists());
        let index = store.index.lock().unwrap();
        assert_eq!((index.files.len(), index.bytes), (3, 30));
    }

    /// By the modification times of the files.
    #[test]
    fn removes_the_oldest_outputs_of_before_a_restart_first() {
        let directory = TemporaryDirectory::new("ages");
        fs::create_dir_all(&directory.0).unwrap();
        for (age, handle) in [(10, "a"), (30, "b"), (20, "c")] {
            let mut file = create(&directory.0.join(format!("result-{handle}.txt"))).unwrap();
            file.write_all(b"null\n12345").unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        let store = DirectorySpillStore::new(&directory.0).unwrap().capacity(30);
        store.put(key(None, "d"), "12345").unwrap();
        assert_eq!(there(&store, &["a", "b", "c", "d"]), [true, false, true, true]);
        store.put(key(None, "e"), "12345").unwrap();
        assert_eq!(there(&store, &["a", "c", "d", "e"]), [true, false, true, true]);
    }

    /// Files that appear later are not counted, and missing ones are tolerated.
    #[test]
    fn lists_the_directory_once() {
        let directory = TemporaryDirectory::new("once");
        let store = DirectorySpillStore::new(&directory.0).unwrap().capacity(30);
        store.put(key(None, "a"), "12345").unwrap();
        fs::write(directory.0.join("result-foreign.txt"), "null\nlonger than everything that the store holds").unwrap();
        fs::remove_file(directory.0.join("result-a.txt")).unwrap();
        for handle in ["b", "c", "d"] {
            store.put(key(None, handle), "12345").unwrap();
        }
        assert_eq!(there(&store, &["foreign", "b", "c", "d"]), [true; 4]);
        drop(store);
        let store = DirectorySpillStore::new(&directory.0).unwrap().capacity(30);
        store.put(key(None, "e"), "12345").unwrap();
        assert!(!there(&store, &["foreign"])[0], "the control: a new store counts it");
    }
}
