//! A walk over the folders of a workspace, by several threads.
//!
//! The walker of the `ignore` crate works on paths and would follow a folder that is swapped for a link. Here every
//! folder is opened beneath the workspace's descriptor, links are not followed, and what is found in a folder is
//! opened by its name in that folder's descriptor. The rules of `.gitignore` are those of the crate.

mod queue;
mod rules;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use cap_std::fs::{Dir, FileType};
use tool_runtime::CancellationToken;

use self::queue::Queue;
use self::rules::{RuleFiles, Rules};
use super::workspace::Workspace;

/// More threads do not make a disk faster.
const MOST_THREADS: usize = 8;
/// How many files of a folder one thread takes at a time.
const BATCH: usize = 128;

/// Which folders are walked, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk<'a> {
    pub(super) workspace: &'a Workspace,
    /// Where it begins, as seen from the workspace.
    pub(super) start: &'a Path,
    /// Whether it goes on into folders.
    pub(super) recursive: bool,
    /// Whether it also goes where `.gitignore` says that nobody should.
    pub(super) ignored: bool,
    /// After so many entries it ends.
    pub(super) entries: usize,
    pub(super) cancelled: &'a CancellationToken,
}

/// Something in a folder.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// As seen from the workspace.
    pub(super) path: PathBuf,
    pub(super) kind: FileType,
}

impl Found {
    /// Its name in its folder.
    pub(super) fn name(&self) -> &Path {
        self.path.file_name().map_or(&self.path, Path::new)
    }
}

/// Whole paths as bytes: the same order everywhere, and much quicker than name by name.
pub(super) fn in_order(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
}

/// What is done with what is found. Every thread has its own.
pub(super) trait Visitor: Send {
    /// Something in a folder; folders themselves only if the walk does not go into them.
    fn visit(&mut self, folder: &Dir, found: Found);
}

/// How a walk went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// Folders that could not be read.
    pub(super) unreadable: usize,
    /// Whether it ended early, for there was too much.
    pub(super) is_partial: bool,
}

enum Job {
    Folder(PathBuf, Arc<Rules>),
    Files(Arc<Dir>, Vec<Found>),
}

impl Walk<'_> {
    /// Walks, with a visitor for each thread, and gives them back.
    pub(super) fn run<V: Visitor>(&self, visitor: impl Fn() -> V + Sync) -> (Vec<V>, Walked) {
        let rules = if self.ignored { Rules::none() } else { Rules::around(self.workspace, self.start) };
        let queue = Queue::new(vec![Job::Folder(self.start.to_owned(), rules)]);
        let (unreadable, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let mut visitor = visitor();
            queue.work(|job, more| {
                if self.cancelled.is_cancelled() || seen.load(Relaxed) > self.entries {
                    return;
                }
                match job {
                    Job::Folder(path, rules) => match self.enter(path, rules, more) {
                        Ok(entries) => drop(seen.fetch_add(entries, Relaxed)),
                        Err(_) => drop(unreadable.fetch_add(1, Relaxed)),
                    },
                    Job::Files(folder, files) => {
                        for found in files {
                            if self.cancelled.is_cancelled() {
                                break;
                            }
                            visitor.visit(&folder, found);
                        }
                    }
                }
            });
            visitor
        };
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(MOST_THREADS));
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
        let is_partial = seen.into_inner() > self.entries;
        (visitors, Walked { unreadable: unreadable.into_inner(), is_partial })
    }

    /// Reads a folder, and makes jobs of what is in it; how much that is.
    fn enter(&self, path: PathBuf, rules: Arc<Rules>, more: &mut Vec<Job>) -> std::io::Result<usize> {
        let dir = self.workspace.folder_met(&path)?;
        let mut all = Vec::new();
        let mut rule_files = RuleFiles::default();
        for entry in dir.entries()? {
            // A name that vanished meanwhile is none.
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if !self.ignored {
                rule_files.see(&name);
            }
            all.push(Found { path: path.join(name), kind });
            if all.len() > self.entries || (all.len().is_multiple_of(4096) && self.cancelled.is_cancelled()) {
                break;
            }
        }
        let count = all.len();
        let rules = rules.of(&dir, &path, rule_files);
        let folder = Arc::new(dir);
        let mut batch = Vec::new();
        for found in all {
            let is_dir = found.kind.is_dir();
            if self.leaves_out(&found, is_dir, &rules) {
                continue;
            }
            if is_dir && self.recursive {
                more.push(Job::Folder(found.path, rules.clone()));
                continue;
            }
            batch.push(found);
            if batch.len() == BATCH {
                more.push(Job::Files(folder.clone(), std::mem::take(&mut batch)));
            }
        }
        if !batch.is_empty() {
            more.push(Job::Files(folder, batch));
        }
        Ok(count)
    }

    fn leaves_out(&self, found: &Found, is_dir: bool, rules: &Rules) -> bool {
        let name: &OsStr = found.name().as_os_str();
        if name == ".git" {
            return true;
        }
        !self.ignored && (name == "node_modules" || rules.leave_out(&found.path, is_dir))
    }
}
