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

/// Update the manifest when sources change
///
/// Reads the sources again when a file that was read changes, or the directory of one. Sources with errors leave the
/// manifest unchanged.
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

With `--format json`: one line after each scan, as `tool-gen write` prints it.";

/// The number of directories that are listed.
const MOST_NAMED: usize = 8;

/// The time without changes before a scan. Editors write a file in several steps, and switching a branch takes many.
const QUIET: Duration = Duration::from_millis(150);

/// The outcome of the last round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundOutcome {
    None,
    Well,
    Failed,
}

impl WatchCommand {
    pub(super) fn run(&self, format: OutputFormat) -> Result<ExitStatus> {
        // At the first time any error ends the program: waiting does not fix a wrong option.
        let selection = PackageSelection::resolve(&self.choice)?;
        let file = self.target.output.clone().unwrap_or(selection.manifest);
        let mut watched = SourceWatcher::new()?;
        watched.watch_only(&[], &selection.directories);
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

    /// Reads the sources and writes the manifest once.
    fn round(&self, file: &Path, watched: &mut SourceWatcher, format: OutputFormat, last: RoundOutcome) -> Result {
        let tools = self.read(watched)?;
        tools.report(format);
        let tools = tools.or_failure("nothing was written")?;
        let written = WriteOutcome::write(file, &tools, &self.target)?;
        match format {
            OutputFormat::Json => print_json_line(&written.json())?,
            // A change that does not affect the manifest is not reported. The end of an error is.
            OutputFormat::Text if written.written || last != RoundOutcome::Well => written.print_changes(),
            OutputFormat::Text => {}
        }
        Ok(())
    }

    /// Reads the sources until every directory was watched before it was read. Changes in between would be lost.
    fn read(&self, watched: &mut SourceWatcher) -> Result<LoadedTools> {
        loop {
            let selection = PackageSelection::resolve(&self.choice)?;
            let tools = LoadedTools::scan_quietly(&selection)?;
            if !watched.watch_only(&tools.files, &selection.directories) {
                return Ok(tools);
            }
        }
    }
}

/// Watches directories, without their subdirectories.
struct SourceWatcher {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    directories: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl SourceWatcher {
    fn new() -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).context(|| "watch files".to_owned())?;
        Ok(Self { watcher, events, directories: BTreeSet::new(), files: BTreeSet::new() })
    }

    /// Watches the directories of these files, which need not exist yet, and these directories, and no others. Returns
    /// `true` if one of them was not watched before.
    fn watch_only(&mut self, files: &[PathBuf], directories: &[PathBuf]) -> bool {
        let of_files = files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let directories = of_files.chain(directories.iter().cloned());
        let wanted: BTreeSet<PathBuf> = directories.filter_map(|directory| directory.canonicalize().ok()).collect();
        for gone in self.directories.difference(&wanted) {
            // A deleted directory is no longer watched anyway.
            let _ = self.watcher.unwatch(gone);
        }
        let new: Vec<_> = wanted.difference(&self.directories).cloned().collect();
        for directory in &new {
            if let Err(error) = self.watcher.watch(directory, RecursiveMode::NonRecursive) {
                print_status(format_args!("warning: cannot watch {}: {error}", display_path(directory)));
            }
        }
        self.files = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        self.directories = wanted;
        !new.is_empty()
    }

    /// Lists the directories for a message.
    fn describe(&self) -> String {
        let names: Vec<String> = self.directories.iter().map(|directory| display_path(directory)).collect();
        let names = names.iter().map(|name| if name.is_empty() { "." } else { name }).collect::<Vec<_>>();
        match names.split_at_checked(MOST_NAMED) {
            Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
            _ => names.join(", "),
        }
    }

    /// Waits for a change, then for a moment without changes.
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

    /// Returns `true` for an event that may change the manifest: not an access, not our own output, and a file that was
    /// read or that rustc would look for.
    fn is_relevant(&self, event: &notify::Result<Event>, written: &Path) -> bool {
        let Ok(event) = event else { return true };
        let is_source = |path: &PathBuf| {
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            let is_cargo = path.file_name().is_some_and(|name| name == "Cargo.toml");
            // A deleted path without an extension may have been a directory.
            let was_directory = path.extension().is_none() && !path.exists();
            is_rust || is_cargo || self.files.contains(path) || path.is_dir() || was_directory
        };
        let is_ours = |path: &PathBuf| path.file_name() == written.file_name();
        let is_change = !matches!(event.kind, EventKind::Access(_));
        // An event without a path means that events were lost.
        is_change && (event.paths.is_empty() || event.paths.iter().any(|path| is_source(path) && !is_ours(path)))
    }
}
