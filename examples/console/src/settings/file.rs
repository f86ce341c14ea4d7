//! The settings on the disk, and those who follow them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;
use tokio::sync::watch;

use super::{Extension, Settings};

/// Reads and writes the file, and tells those who follow. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    current: watch::Sender<Settings>,
    /// Held while the file is written: the file that is there is of the settings that hold.
    writing: Mutex<()>,
}

impl SettingsFile {
    /// Reads the file, and writes one with the defaults if there is none.
    ///
    /// # Errors
    /// When it cannot be read or written, and when it says what cannot be.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let settings = match fs::read_to_string(&path) {
            Ok(text) => Settings::from_json(&text).map_err(|problem| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{}: {problem}", path.display()))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let settings = Settings::default();
                write(&path, &settings)?;
                settings
            }
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        };
        Ok(Self { inner: Arc::new(Inner { path, current: watch::Sender::new(settings), writing: Mutex::default() }) })
    }

    /// The settings as they are.
    #[must_use]
    pub fn get(&self) -> Settings {
        self.inner.current.borrow().clone()
    }

    /// Changes them: the file first, then what holds.
    ///
    /// # Errors
    /// When they say what cannot be, and when the file cannot be written. They stay as they were then.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> io::Result<Settings> {
        let _writing = self.inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = self.get();
        change(&mut settings);
        settings.check().map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))?;
        write(&self.inner.path, &settings)?;
        self.inner.current.send_replace(settings.clone());
        Ok(settings)
    }

    /// Switches an extension on or off; false if it was so before.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn switch(&self, extension: Extension, on: bool) -> io::Result<bool> {
        if self.get().has(extension) == on {
            return Ok(false);
        }
        self.change(|settings| {
            if on {
                settings.extensions.insert(extension)
            } else {
                settings.extensions.remove(&extension)
            };
        })?;
        Ok(true)
    }

    /// Follows them.
    #[must_use]
    pub fn follow(&self) -> watch::Receiver<Settings> {
        self.inner.current.subscribe()
    }
}

/// Beside the file, then in its place: whoever reads it finds the old one or the new one.
fn write(path: &Path, settings: &Settings) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, settings)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}
