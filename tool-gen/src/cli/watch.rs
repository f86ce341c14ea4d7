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
use super::terminal::{DIM, print_json_line, say, shown, styled};
use super::write::{Target, Written};

/// Keep the manifest fresh while sources change
///
/// Reads the sources again when a file that was read, or a folder that one stands in, changes. A source that is broken
/// for the moment leaves the manifest as it is.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Watch {
    #[command(flatten)]
    target: Target,

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
enum Last {
    None,
    Well,
    Failed,
}

impl Watch {
    pub(super) fn run(&self, format: Format) -> Result<Exit> {
        // The first time everything must be right: a wrong option is not mended by waiting.
        let selection = Selection::of(&self.choice)?;
        let file = self.target.output.clone().unwrap_or(selection.manifest);
        let mut watched = Watched::new()?;
        watched.keep(&[], &selection.folders);
        let mut last = Last::None;
        loop {
            let round = self.round(&file, &mut watched, format, last);
            if last == Last::None && format == Format::Text {
                say(styled(DIM, format_args!("Watching {}", watched.shown())));
            }
            last = match round {
                Ok(()) => Last::Well,
                Err(failure) => {
                    match format {
                        Format::Text => drop(report::failure(&failure, format)),
                        Format::Json => print_json_line(&report::json_failure(&failure))?,
                    }
                    Last::Failed
                }
            };
            watched.wait(&file)?;
        }
    }

    /// Reads and writes once.
    fn round(&self, file: &Path, watched: &mut Watched, format: Format, last: Last) -> Result {
        let tools = self.read(watched)?;
        tools.report(format);
        let tools = tools.or_failure("nothing is written")?;
        let written = Written::write(file, &tools, &self.target)?;
        match format {
            Format::Json => print_json_line(&written.json())?,
            // A change that does not matter to the manifest is not worth a line; that an error is gone is.
            Format::Text if written.written || last != Last::Well => written.say(),
            Format::Text => {}
        }
        Ok(())
    }

    /// Reads the sources until every folder was watched before it was read: a change in between would be lost.
    fn read(&self, watched: &mut Watched) -> Result<Tools> {
        loop {
            let selection = Selection::of(&self.choice)?;
            let tools = Tools::scan_quietly(&selection)?;
            if !watched.keep(&tools.files, &selection.folders) {
                return Ok(tools);
            }
        }
    }
}

/// What is watched: folders, each without those below it.
struct Watched {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
}

impl Watched {
    fn new() -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).doing(|| "watch files".to_owned())?;
        Ok(Self { watcher, events, folders: BTreeSet::new(), files: BTreeSet::new() })
    }

    /// Watches the folders of these files, which may be still to be written, and these folders, and no others; whether there is a folder among them that was not watched.
    fn keep(&mut self, files: &[PathBuf], folders: &[PathBuf]) -> bool {
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
                say(format_args!("warning: cannot watch {}: {error}", shown(folder)));
            }
        }
        self.files = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        self.folders = wanted;
        !new.is_empty()
    }

    /// The folders, for people.
    fn shown(&self) -> String {
        let names: Vec<String> = self.folders.iter().map(|folder| shown(folder)).collect();
        let names = names.iter().map(|name| if name.is_empty() { "." } else { name }).collect::<Vec<_>>();
        match names.split_at_checked(MOST_NAMED) {
            Some((first, rest)) if !rest.is_empty() => format!("{} and {} more", first.join(", "), rest.len()),
            _ => names.join(", "),
        }
    }

    /// Waits for a change, and then until there is none for a moment.
    fn wait(&self, written: &Path) -> Result {
        let stopped = || Failure::new("the system no longer reports changes");
        while !self.matters(&self.events.recv().map_err(|_| stopped())?, written) {}
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
    fn matters(&self, event: &notify::Result<Event>, written: &Path) -> bool {
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
