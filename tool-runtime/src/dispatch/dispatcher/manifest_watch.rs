//! A manifest that is loaded again when its file changes.
//!
//! The file is looked at now and then, not watched through the operating system: one question a second costs nothing,
//! and it is answered alike on a network drive, in a container whose volume is swapped behind a link, and after an
//! editor has put a new file in the place of the old one. Notifications are different in each of these.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tool_model::Manifest;

use crate::dispatch::dispatcher::DispatcherState;
use crate::dispatch::{BuildError, BuildProblem, Dispatcher};
use crate::panics;

/// To look more often would keep a processor busy and find nothing sooner: files have coarse times.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// A manifest's file that is being watched; see [`Dispatcher::watch`]. Dropped, it stops watching.
#[must_use = "dropped, it stops watching"]
pub struct ManifestWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Loads the manifest of a file now, and again whenever the file changes. It is looked at in this interval, but
    /// not more often than a hundred times a second.
    ///
    /// A change is loaded once the file has been left alone for an interval, so that a file which is still being
    /// written is not read. TurnCall that does not fit is logged as a warning, with all that is wrong, and what was offered
    /// before is still offered.
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use tool_runtime::{Dispatcher, Manifest, tool};
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() {}
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("watched-{}.json", std::process::id()));
    /// # Manifest::linked().save(&path)?;
    /// let tools = Dispatcher::builder().manifest(Manifest::load(&path)?).build()?;
    /// let watch = tools.watch(&path, Duration::from_secs(1))?;
    /// // The application runs; then:
    /// drop(watch);
    /// # std::fs::remove_file(path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`reload`](Self::reload), when the manifest cannot be loaded now.
    pub fn watch(&self, path: impl Into<PathBuf>, interval: Duration) -> Result<ManifestWatch, BuildError> {
        let mut file = ManifestFile { path: path.into(), loaded: None, changing: None };
        file.loaded = FileStamp::of(&file.path);
        file.load(self)?;
        let interval = interval.max(SHORTEST_INTERVAL);
        let (stop, stopped) = channel();
        // The tools may go before the watch does.
        let tools = Arc::downgrade(&self.inner);
        let watch = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) && file.look(&tools) {}
        };
        let thread = thread::Builder::new().name("tools manifest".to_owned()).spawn(watch).map_err(|error| {
            let problem = BuildProblem::general(format!("no thread can be started: {error}"), "free some");
            BuildError { headline: "the manifest is not watched", problems: vec![problem] }
        })?;
        Ok(ManifestWatch { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for ManifestWatch {
    /// Waits for a load that has begun, so that nothing changes afterwards.
    fn drop(&mut self) {
        drop(self.stop.take());
        // What is logged or loaded there may own the watch, and a thread cannot wait for itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id()) {
            drop(thread.join());
        }
    }
}

struct ManifestFile {
    path: PathBuf,
    /// The file as it was when it was last read.
    loaded: Option<FileStamp>,
    /// The file as it was at the last look, if it was another one then.
    changing: Option<Option<FileStamp>>,
}

impl ManifestFile {
    /// Looks once. Whether to go on.
    fn look(&mut self, tools: &Weak<DispatcherState>) -> bool {
        let Some(inner) = tools.upgrade() else { return false };
        let now = FileStamp::of(&self.path);
        if now == self.loaded {
            self.changing = None;
        } else if self.changing != Some(now) {
            self.changing = Some(now);
        } else {
            self.changing = None;
            self.loaded = now;
            self.load_and_log(&Dispatcher { inner, view: None });
        }
        true
    }

    fn load_and_log(&self, tools: &Dispatcher) {
        let path = self.path.display();
        match panics::catch(|| self.load(tools)) {
            Ok(Ok(())) => {
                tracing::info!(
                    "loaded the manifest {path}: {} tools",
                    tools.inner.offer.with(|offer| offer.tools.len())
                )
            }
            Ok(Err(error)) => tracing::warn!("{path} has changed, but {error}\nThe tools stay as they were."),
            Err(panic) => tracing::warn!("{path} has changed, but loading it panicked: {panic}"),
        }
    }

    fn load(&self, tools: &Dispatcher) -> Result<(), BuildError> {
        tools.reload(Manifest::load(&self.path))
    }
}

/// What tells one content of a file from another without reading it. Nothing where there is no file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    /// A file that took the place of another may have its time and its length, where times are not kept.
    number: u64,
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let known = fs::metadata(path).ok()?;
        Some(Self { modified: known.modified().ok(), length: known.len(), number: number(&known) })
    }
}

#[cfg(unix)]
fn number(file: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}
