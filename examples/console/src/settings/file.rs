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
    /// The settings of the file, and the extensions that the command line enables.
    current: watch::Sender<Settings>,
    /// The extensions that the command line enables, each with its option.
    enabled: Vec<(Extension, &'static str)>,
    /// The settings of the file. Locked while it is written, so that file and memory agree.
    stored: Mutex<Settings>,
}

impl SettingsFile {
    /// Reads the file, or writes one with the defaults if there is none. The extensions of the command line are enabled
    /// beside those of the file, and not stored.
    ///
    /// # Errors
    /// If it cannot be read or written, or has invalid settings.
    pub fn open(path: impl Into<PathBuf>, enabled: Vec<(Extension, &'static str)>) -> io::Result<Self> {
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
        let current = watch::Sender::new(with(settings.clone(), &enabled));
        Ok(Self { inner: Arc::new(SettingsState { path, current, enabled, stored: Mutex::new(settings) }) })
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
        let mut stored = self.inner.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = stored.clone();
        change(&mut settings);
        settings.check().map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))?;
        write(&self.inner.path, &settings)?;
        stored.clone_from(&settings);
        let settings = with(settings, &self.inner.enabled);
        self.inner.current.send_replace(settings.clone());
        Ok(settings)
    }

    /// Returns the settings of the file, without the extensions of the command line.
    #[must_use]
    pub fn stored(&self) -> Settings {
        self.inner.stored.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the option of the command line that enables an extension, if there is one.
    #[must_use]
    pub fn enabled_by(&self, extension: Extension) -> Option<&'static str> {
        self.inner.enabled.iter().find(|(enabled, _)| *enabled == extension).map(|(_, option)| *option)
    }

    /// Enables or disables an extension. Returns `false` if that changes nothing.
    ///
    /// # Errors
    /// If the file cannot be written, or if the command line enables the extension.
    pub fn switch(&self, extension: Extension, on: bool) -> io::Result<bool> {
        if let Some(option) = self.enabled_by(extension).filter(|_| !on) {
            let problem = format!("`{extension}` is enabled by `{option}`: start the console without it to disable it");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
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

/// Enables the extensions of the command line.
fn with(mut settings: Settings, enabled: &[(Extension, &'static str)]) -> Settings {
    settings.extensions.extend(enabled.iter().map(|(extension, _)| *extension));
    settings
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
