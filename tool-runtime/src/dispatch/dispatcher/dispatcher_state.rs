//! The state that clones of a dispatcher share, and its changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::snapshot::{CurrentSnapshot, ToolSnapshot};
use crate::RegistryChanges;
use crate::dispatch::build::problem::{no_tools, skip, unreadable};
use crate::dispatch::{BoundTool, BuildError, CallRules, Dependencies};
use crate::manifest::IntoManifest;
use crate::registry::{AppliedChanges, BoundChanges, ToolTable};

/// The state that clones of a dispatcher share.
pub(crate) struct DispatcherState {
    /// Replaced as a whole: a call takes its tool from the current snapshot and keeps it.
    pub(crate) snapshot: CurrentSnapshot,
    /// All tools, from which snapshots are made. Locked while a new snapshot is made, so that the later of two
    /// [reloads](crate::Dispatcher::reload) wins.
    table: Mutex<ToolTable>,
    /// Counts the snapshots, for subscribers to changes.
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) limits: CallLimits,
    pub(crate) rules: CallRules,
    lenient: bool,
    allow_empty: bool,
}

/// Limits that hold for every call.
pub(crate) struct CallLimits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) argument_bytes: usize,
    pub(crate) allow_unknown: bool,
    pub(crate) repair: bool,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { timeout: None, argument_bytes: 16_000_000, allow_unknown: false, repair: true }
    }
}

impl DispatcherState {
    pub(crate) fn new(table: ToolTable, dependencies: Arc<Dependencies>, limits: CallLimits, rules: CallRules) -> Self {
        log_registered(&table.added_since(&ToolTable::default()));
        let snapshot = match table.all_linked() {
            true => CurrentSnapshot::new(table.snapshot()),
            false => CurrentSnapshot::replaceable(table.snapshot()),
        };
        let (table, changes) = (Mutex::new(table), watch::Sender::new(0));
        Self { snapshot, table, changes, dependencies, limits, rules, lenient: false, allow_empty: false }
    }

    /// Sets whether tools that cannot be bound are logged and skipped.
    pub(crate) fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets whether a manifest may leave no tools.
    pub(crate) fn allow_empty(mut self, allow_empty: bool) -> Self {
        self.allow_empty = allow_empty;
        self
    }

    fn table(&self) -> MutexGuard<'_, ToolTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self, changes: RegistryChanges) -> Result<AppliedChanges, BuildError> {
        let changes = BoundChanges::new(changes);
        // Removed tools hold application values, which must be dropped after the lock is released.
        let (done, replaced) = {
            let mut table = self.table();
            match table.changed(&changes) {
                (next, done, problems) if problems.is_empty() => (done, self.replace(&mut table, next)),
                (_, _, problems) => return Err(BuildError { headline: "the tools stay as they are", problems }),
            }
        };
        self.notify(&replaced);
        Ok(done)
    }

    pub(crate) fn reload(&self, manifest: impl IntoManifest) -> Result<(), BuildError> {
        let failed = |problems| BuildError { headline: "the manifest is not loaded", problems };
        let replaced = {
            let mut table = self.table();
            let manifest = manifest.into_manifest().map_err(|error| failed(vec![unreadable(&error)]))?;
            let (next, mut problems) = table.loaded(Some(manifest), &self.dependencies);
            if next.is_empty() && problems.is_empty() && !self.allow_empty {
                problems.push(no_tools(true));
            }
            let problems = if self.lenient { skip(problems) } else { problems };
            if !problems.is_empty() {
                return Err(failed(problems));
            }
            self.replace(&mut table, next)
        };
        self.notify(&replaced);
        Ok(())
    }

    /// Logs the added tools and wakes the subscribers to changes. Must be called without the lock.
    fn notify(&self, replaced: &ReplacedTools) {
        log_registered(&replaced.added);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Replaces the tools. Returns the old ones, which must be dropped after the lock is released.
    fn replace(&self, table: &mut ToolTable, next: ToolTable) -> ReplacedTools {
        ReplacedTools {
            added: next.added_since(table),
            _snapshot: self.snapshot.replace(next.snapshot()),
            _table: std::mem::replace(table, next),
        }
    }
}

/// The tools before a change, and those that it added.
struct ReplacedTools {
    added: Vec<Arc<BoundTool>>,
    _snapshot: Arc<ToolSnapshot>,
    _table: ToolTable,
}

fn log_registered(tools: &[Arc<BoundTool>]) {
    for tool in tools {
        tracing::debug!(tool = &*tool.name, handler = %tool.origin(), "tool registered");
    }
}
