//! `tool-gen watch`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use clap::Args;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::arguments::{Format, PackageChoice};
use super::exit::{Doing, Exit, Failure, Result};
use super::packages::Selection;
use super::report;
use super::scanning::Tools;
use super::terminal::{DIM, count, print_json_line, say, styled};
use super::write::{Written, shown};

/// Keep the manifest fresh while sources change
///
/// Reads the sources again when a file that was read, or a folder that one stands in, changes. A source that is broken
/// for the moment leaves the manifest as it is.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Watch {
    /// Write to this file instead of tools_calls.json beside Cargo.toml
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen watch
  tool-gen watch --workspace

With `--format json`: after each scan one line, with what `tool-gen write` prints.";

/// Editors write a file in several steps; a branch is switched in many.
const QUIET: Duration = Duration::from_millis(150);

impl Watch {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        let mut watched = Folders::new()?;
        // The first time everything must be right: a wrong option is not mended by waiting.
        let selection = Selection::of(&self.choice)?;
        let file = self.output.clone().unwrap_or(selection.manifest);
        watched.keep(selection.folders.iter().cloned());
        loop {
            match self.round(&file, format) {
                Ok(files) => {
                    let folders = files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
                    watched.keep(folders.chain(selection.folders.iter().cloned()));
                }
                Err(failure) => drop(report::failure(&failure)),
            }
            if format == Format::Text {
                say(styled(DIM, format_args!("Watching {}", count(watched.folders.len(), "folder"))));
            }
            watched.wait(&file)?;
        }
    }

    /// Reads and writes once; the files that were read.
    fn round(&self, file: &Path, format: Format) -> Result<Vec<PathBuf>> {
        let selection = Selection::of(&self.choice)?;
        let tools = Tools::scan(&selection.scan, format)?;
        let written = Written::write(file, &tools)?;
        match format {
            Format::Text => written.say(),
            Format::Json => print_json_line(&written.json(&tools))?,
        }
        Ok(tools.files)
    }
}

/// The folders that are watched, each without those below it.
struct Folders {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    folders: BTreeSet<PathBuf>,
}

impl Folders {
    fn new() -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).doing(|| "watch files".to_owned())?;
        Ok(Self { watcher, events, folders: BTreeSet::new() })
    }

    /// Watches these folders and no others.
    fn keep(&mut self, folders: impl Iterator<Item = PathBuf>) {
        let wanted: BTreeSet<PathBuf> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
        for gone in self.folders.difference(&wanted) {
            // A folder that was deleted is not watched any more anyway.
            let _ = self.watcher.unwatch(gone);
        }
        let mut kept = BTreeSet::new();
        for folder in wanted {
            match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(kept.insert(folder)),
                Err(error) => say(format_args!("warning: cannot watch {}: {error}", shown(&folder))),
            }
        }
        self.folders = kept;
    }

    /// Waits for a change, and then until there is none for a moment.
    fn wait(&self, written: &Path) -> Result {
        let stopped = || Failure::new("the system no longer reports changes");
        while !matters(&self.events.recv().map_err(|_| stopped())?, written) {}
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
            }
        }
    }
}

/// Reading changes nothing, and what we wrote ourselves is no news.
fn matters(event: &notify::Result<Event>, written: &Path) -> bool {
    let Ok(event) = event else { return true };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let written = name(written);
    // While it is written, it has a name that begins so.
    let unfinished = format!(".{written}.");
    let is_ours = |path: &PathBuf| name(path) == written || name(path).starts_with(&unfinished);
    // With `need_rescan` there may be no path at all.
    !matches!(event.kind, EventKind::Access(_)) && (event.paths.is_empty() || !event.paths.iter().all(is_ours))
}
