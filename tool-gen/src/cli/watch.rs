//! `tool-gen watch`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use clap::Args;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::arguments::{OutputFormat, PackageChoice};
use super::exit::{CommandFailure, ExitStatus, FailureContext, Result};
use super::packages::PackageSelection;
use super::report;
use super::scanning::LoadedTools;
use super::terminal::{DIM, display_path, print_json_line, print_status, styled};
use super::write::{OutputTarget, WriteOutcome};

/// Keep the manifest fresh while sources change
///
/// Reads the sources again when a file that was read, or a folder that one stands in, changes. A source that is broken
/// for the moment leaves the manifest as it is.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct WatchCommand {
    #[command(flatten)]
    target: OutputTarget,

    #[command(flatten)]
    choice: PackageChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen watch
  tool-gen watch --workspace

With `--format json`: after each scan one line, with what `tool-gen write` prints.";

/// How many folders are named.
const MOST_NAMED: usize = 8;

/// Editors write a file in several steps; a branch is switched in many.
const QUIET: Duration = Duration::from_millis(150);

/// How the last round went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundOutcome {
    None,
    Well,
    Failed,
}

impl WatchCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        // The first time everything must be right: a wrong option is not mended by waiting.
        let selection = PackageSelection::resolve(&self.choice)?;
        let file = self.target.output.clone().unwrap_or(selection.manifest);
        let mut watched = SourceWatcher::new()?;
        watched.watch_only(&[], &selection.folders);
        let mut last = RoundOutcome::None;
        loop {
            let round = self.round(&file, &mut watched, format, last);
            if last == RoundOutcome::None && format == OutputFormat::Text {
                print_status(styled(DIM, format_args!("Watching {}", watched.describe())));
            }
            last = match round {
                Ok(()) => RoundOutcome::Well,
                Err(failure) => {
                    match format {
                        OutputFormat::Text => drop(report::failure(&failure, format)),
                        OutputFormat::Json => print_json_line(&report::json_failure(&failure))?,
                    }
                    RoundOutcome::Failed
                }
            };
            watched.wait(&file)?;
        }
    }

    /// Reads and writes once.
    fn round(&self, file: &Path, watched: &mut SourceWatcher, format: OutputFormat, last: RoundOutcome) -> Result {
        let tools = self.read(watched)?;
        tools.report(format);
        let tools = tools.or_failure("nothing is written")?;
        let written = WriteOutcome::write(file, &tools, &self.target)?;
        match format {
            OutputFormat::Json => print_json_line(&written.json())?,
            // A change that does not matter to the manifest is not worth a line; that an error is gone is.
            OutputFormat::Text if written.written || last != RoundOutcome::Well => written.print_changes(),
            OutputFormat::Text => {}
        }
        Ok(())
    }

    /// Reads the sources until every folder was watched before it was read: a change in between would be lost.
    fn read(&self, watched: &mut SourceWatcher) -> Result<LoadedTools> {
        loop {
            let selection = PackageSelection::resolve(&self.choice)?;
            let tools = LoadedTools::scan_quietly(&selection)?;
            if !watched.watch_only(&tools.files, &selection.folders) {
                return Ok(tools);
            }
        }
    }
}

/// What is watched: folders, each without those below it.
struct SourceWatcher {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl SourceWatcher {
    fn new() -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).context(|| "watch files".to_owned())?;
        Ok(Self { watcher, events, folders: BTreeSet::new(), files: BTreeSet::new() })
    }

    /// Watches the folders of these files, which may be still to be written, and these folders, and no others; whether there is a folder among them that was not watched.
    fn watch_only(&mut self, files: &[PathBuf], folders: &[PathBuf]) -> bool {
        let of_files = files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let folders = of_files.chain(folders.iter().cloned());
        let wanted: BTreeSet<PathBuf> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
        for gone in self.folders.difference(&wanted) {
            // A folder that was deleted is not watched any more anyway.
            let _ = self.watcher.unwatch(gone);
        }
        let new: Vec<_> = wanted.difference(&self.folders).cloned().collect();
        for folder in &new {
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                print_status(format_args!("warning: cannot watch {}: {error}", display_path(folder)));
            }
        }
        self.files = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        self.folders = wanted;
        !new.is_empty()
    }

    /// The folders, for people.
    fn describe(&self) -> String {
        let names: Vec<String> = self.folders.iter().map(|folder| display_path(folder)).collect();
        let names = names.iter().map(|name| if name.is_empty() { "." } else { name }).collect::<Vec<_>>();
        match names.split_at_checked(MOST_NAMED) {
            Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
            _ => names.join(", "),
        }
    }

    /// Waits for a change, and then until there is none for a moment.
    fn wait(&self, written: &Path) -> Result {
        let stopped = || CommandFailure::new("the system no longer reports changes");
        while !self.is_relevant(&self.events.recv().map_err(|_| stopped())?, written) {}
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
            }
        }
    }

    /// Reading changes nothing, what we wrote ourselves is no news, and of other files only those matter that were
    /// read or that rustc would look for.
    fn is_relevant(&self, event: &notify::Result<Event>, written: &Path) -> bool {
        let Ok(event) = event else { return true };
        let is_source = |path: &PathBuf| {
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            let is_cargo = path.file_name().is_some_and(|name| name == "Cargo.toml");
            // What is gone may have been a folder, if its name looks like one.
            let was_folder = path.extension().is_none() && !path.exists();
            is_rust || is_cargo || self.files.contains(path) || path.is_dir() || was_folder
        };
        let is_ours = |path: &PathBuf| path.file_name() == written.file_name();
        let is_change = !matches!(event.kind, EventKind::Access(_));
        // When the system has lost count there is no path.
        is_change && (event.paths.is_empty() || event.paths.iter().any(|path| is_source(path) && !is_ours(path)))
    }
}
