//! The settings file and its subscribers.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;
use tokio::sync::watch;

use super::{Extension, Settings};

/// Reads and writes the settings file and notifies subscribers. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    inner: Arc<SettingsState>,
}

#[derive(Debug)]
struct SettingsState {
    path: PathBuf,
    current: watch::Sender<Settings>,
    /// Held while the file is written, so that file and memory agree.
    writing: Mutex<()>,
}

impl SettingsFile {
    /// Reads the file, or writes one with the defaults if there is none.
    ///
    /// # Errors
    /// If it cannot be read or written, or has invalid settings.
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
        Ok(Self {
            inner: Arc::new(SettingsState { path, current: watch::Sender::new(settings), writing: Mutex::default() }),
        })
    }

    /// Returns the current settings.
    #[must_use]
    pub fn get(&self) -> Settings {
        self.inner.current.borrow().clone()
    }

    /// Changes the settings: first the file, then the memory.
    ///
    /// # Errors
    /// If they are invalid or the file cannot be written. Then they stay unchanged.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> io::Result<Settings> {
        let _writing = self.inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = self.get();
        change(&mut settings);
        settings.check().map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))?;
        write(&self.inner.path, &settings)?;
        self.inner.current.send_replace(settings.clone());
        Ok(settings)
    }

    /// Enables or disables an extension. Returns `false` if that changes nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
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

    /// Subscribes to changes.
    #[must_use]
    pub fn follow(&self) -> watch::Receiver<Settings> {
        self.inner.current.subscribe()
    }
}

/// Writes a temporary file and renames it, so that readers find the old or the new one.
fn write(path: &Path, settings: &Settings) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, settings)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}
