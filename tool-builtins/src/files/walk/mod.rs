//! Multi-threaded walk over the directories of a workspace.
//!
//! The walker of the `ignore` crate works with paths and would follow a directory that is swapped for a link. Here every
//! directory is opened beneath the workspace's descriptor, and its entries are opened by name in its own descriptor.
//! Symbolic links are not followed. The ignore rules are parsed and matched by the crate.

mod ignore_rules;
mod queue;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use cap_std::fs::{Dir, FileType};
use tool_runtime::CancellationToken;

use self::ignore_rules::{IgnoreFiles, IgnoreRules};
use self::queue::WalkQueue;
use super::workspace::Workspace;

/// The maximum number of threads. More do not make a disk faster.
const MAX_THREADS: usize = 8;
/// The number of files that a thread takes at a time.
const BATCH: usize = 128;

/// A walk over directories.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryWalk<'a> {
    pub(super) workspace: &'a Workspace,
    /// The start, relative to the workspace.
    pub(super) start: &'a Path,
    /// `true` to enter subdirectories.
    pub(super) recursive: bool,
    /// `true` to include ignored files.
    pub(super) include_ignored: bool,
    /// `true` to include names that begin with a dot.
    pub(super) include_hidden: bool,
    /// The number of entries after which the walk ends.
    pub(super) max_entries: usize,
    pub(super) cancelled: &'a CancellationToken,
}

/// A directory entry found by a walk.
#[derive(Clone, Debug)]
pub(super) struct WalkEntry {
    /// The path relative to the workspace.
    pub(super) path: PathBuf,
    pub(super) kind: FileType,
}

impl WalkEntry {
    /// Returns the name within its directory.
    pub(super) fn name(&self) -> &Path {
        self.path.file_name().map_or(&self.path, Path::new)
    }
}

/// Compares paths as bytes, which is the same everywhere and much faster than by components.
pub(super) fn compare_paths(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
}

/// Visits the entries of a walk. Each thread has its own visitor.
pub(super) trait WalkVisitor: Send {
    /// Visits an entry. A recursive walk visits only the directories that contain nothing to visit.
    fn visit(&mut self, directory: &Dir, found: WalkEntry);
}

/// The parts that a walk did not cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WalkSummary {
    /// The number of directories that could not be read.
    pub(super) unreadable: usize,
    /// `true` if the walk ended early at the limit of entries.
    pub(super) is_partial: bool,
}

enum WalkJob {
    Directory(PathBuf, Arc<IgnoreRules>),
    Files(Arc<Dir>, Vec<WalkEntry>),
}

impl DirectoryWalk<'_> {
    /// Walks the directories, and returns the visitor of each thread.
    pub(super) fn run<V: WalkVisitor>(&self, visitor: impl Fn() -> V + Sync) -> (Vec<V>, WalkSummary) {
        let rules =
            if self.include_ignored { IgnoreRules::none() } else { IgnoreRules::around(self.workspace, self.start) };
        let queue = WalkQueue::new(vec![WalkJob::Directory(self.start.to_owned(), rules)]);
        let (unreadable, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let mut visitor = visitor();
            queue.work(|job, more| {
                if self.cancelled.is_cancelled() || seen.load(Relaxed) > self.max_entries {
                    return;
                }
                match job {
                    WalkJob::Directory(path, rules) => match self.enter(path, rules, more) {
                        Ok(entries) => drop(seen.fetch_add(entries, Relaxed)),
                        Err(_) => drop(unreadable.fetch_add(1, Relaxed)),
                    },
                    WalkJob::Files(directory, files) => {
                        for found in files {
                            if self.cancelled.is_cancelled() {
                                break;
                            }
                            visitor.visit(&directory, found);
                        }
                    }
                }
            });
            visitor
        };
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(MAX_THREADS));
        let visitors = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut visitors = vec![work()];
            for other in others {
                match other.join() {
                    Ok(visitor) => visitors.push(visitor),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            visitors
        });
        let is_partial = seen.into_inner() > self.max_entries;
        (visitors, WalkSummary { unreadable: unreadable.into_inner(), is_partial })
    }

    /// Reads a directory, and creates jobs for its entries. Returns their number.
    fn enter(&self, path: PathBuf, rules: Arc<IgnoreRules>, more: &mut Vec<WalkJob>) -> std::io::Result<usize> {
        let dir = self.workspace.open_directory(&path)?;
        let mut all = Vec::new();
        let mut ignore_files = IgnoreFiles::default();
        for entry in dir.entries()? {
            // Entries that have vanished are skipped.
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if !self.include_ignored {
                ignore_files.record(&name);
            }
            all.push(WalkEntry { path: path.join(name), kind });
            if all.len() > self.max_entries || (all.len().is_multiple_of(4096) && self.cancelled.is_cancelled()) {
                break;
            }
        }
        let count = all.len();
        let rules = rules.enter(&dir, &path, ignore_files);
        let directory = Arc::new(dir);
        let (mut batch, mut is_empty) = (Vec::new(), true);
        for found in all {
            let is_dir = found.kind.is_dir();
            if self.is_left_out(&found, is_dir, &rules) {
                continue;
            }
            is_empty = false;
            if is_dir && self.recursive {
                more.push(WalkJob::Directory(found.path, rules.clone()));
                continue;
            }
            batch.push(found);
            if batch.len() == BATCH {
                more.push(WalkJob::Files(directory.clone(), std::mem::take(&mut batch)));
            }
        }
        if is_empty && path != self.start {
            batch.push(WalkEntry { path, kind: FileType::dir() });
        }
        if !batch.is_empty() {
            more.push(WalkJob::Files(directory, batch));
        }
        Ok(count)
    }

    fn is_left_out(&self, found: &WalkEntry, is_dir: bool, rules: &IgnoreRules) -> bool {
        let name: &OsStr = found.name().as_os_str();
        if name == ".git" || (!self.include_hidden && is_hidden(name)) {
            return true;
        }
        !self.include_ignored && (name == "node_modules" || rules.is_ignored(&found.path, is_dir))
    }
}

/// Returns `true` for a name that begins with a dot, except `.gitignore`, which says what a project consists of.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") && name != ".gitignore"
}
