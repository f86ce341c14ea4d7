//! Reloading of a manifest when its file changes.
//!
//! The file is polled, not watched through the operating system. One `stat` a second costs nothing, and it works the
//! same on a network drive, in a container whose volume is swapped behind a symbolic link, and after an editor has
//! replaced the file. Notifications differ in each of these cases.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tool_model::Manifest;

use super::dispatcher_state::DispatcherState;
use crate::dispatch::{BuildError, BuildProblem, Dispatcher};
use crate::panics;

/// Polling more often would not find a change sooner, because file times are coarse.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// A watched manifest file; see [`Dispatcher::watch`]. Dropping it stops the watch.
#[must_use = "dropping it stops the watch"]
pub struct ManifestWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ManifestWatch {
    pub(super) fn start(tools: &Dispatcher, path: PathBuf, interval: Duration) -> Result<Self, BuildError> {
        let mut file = ManifestFile { path, loaded: None, changing: None };
        file.loaded = FileStamp::read(&file.path);
        file.load(tools)?;
        let interval = interval.max(SHORTEST_INTERVAL);
        let (stop, stopped) = channel();
        // The watch must not keep the tools alive.
        let tools = Arc::downgrade(&tools.inner);
        let watch = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) && file.poll(&tools) {}
        };
        let thread = thread::Builder::new().name("tools manifest".to_owned()).spawn(watch).map_err(|error| {
            let problem = BuildProblem::general(format!("cannot start a thread: {error}"), "stop some others");
            BuildError { headline: "the manifest is not watched", problems: vec![problem] }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for ManifestWatch {
    /// Waits for a load that has started, so that nothing changes after the drop.
    fn drop(&mut self) {
        drop(self.stop.take());
        // Values that the thread drops may own the watch, and a thread cannot join itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id()) {
            drop(thread.join());
        }
    }
}

struct ManifestFile {
    path: PathBuf,
    /// The stamp of the file when it was last loaded.
    loaded: Option<FileStamp>,
    /// The stamp at the last poll, if it differed from `loaded`.
    changing: Option<Option<FileStamp>>,
}

impl ManifestFile {
    /// Polls the file once. Returns `false` once the dispatcher is gone.
    fn poll(&mut self, tools: &Weak<DispatcherState>) -> bool {
        let Some(inner) = tools.upgrade() else { return false };
        let now = FileStamp::read(&self.path);
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
                let count = tools.inner.snapshot.with(|snapshot| snapshot.tools.len());
                tracing::info!("loaded the manifest {path}: {count} tools");
            }
            Ok(Err(error)) => tracing::warn!("{path} has changed, but {error}\nThe tools stay as they were."),
            Err(panic) => tracing::warn!("{path} has changed, but loading it panicked: {panic}"),
        }
    }

    fn load(&self, tools: &Dispatcher) -> Result<(), BuildError> {
        tools.reload(Manifest::load(&self.path))
    }
}

/// Metadata that changes whenever the content of a file does.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    /// The inode: a file that replaces another may have the same time and length.
    inode: u64,
}

impl FileStamp {
    /// Returns `None` if there is no such file.
    fn read(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self { modified: metadata.modified().ok(), length: metadata.len(), inode: inode(&metadata) })
    }
}

#[cfg(unix)]
fn inode(file: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}
