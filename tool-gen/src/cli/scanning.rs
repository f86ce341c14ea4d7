//! Running scans with a progress bar.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::panic;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tool_gen::{Diagnostic, ScanOutput, Severity, SourcePlace};
use tool_model::{Manifest, is_for_tests};

use super::arguments::{OutputFormat, ToolSource};
use super::exit::{CommandFailure, Result};
use super::packages::PackageSelection;
use super::report;

/// The delay before the progress bar appears.
const PATIENCE: Duration = Duration::from_millis(500);

/// The interval between updates of the progress bar.
const TICK: Duration = Duration::from_millis(100);

/// The tools with their diagnostics.
#[derive(Debug, Default)]
pub(super) struct LoadedTools {
    pub(super) manifest: Manifest,
    /// Errors and warnings. With errors the tools are incomplete.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The place of each tool, if it was read from sources.
    pub(super) places: BTreeMap<String, SourcePlace>,
    /// The tools whose documentation says that they are for tests.
    pub(super) for_tests: BTreeSet<String>,
    /// The arguments that are marked `#[arg(any)]`, by tool and name.
    pub(super) accepted_any: BTreeSet<(String, String)>,
    /// Warnings about tools that a model should not be offered as they are. `lint` has rules for them.
    pub(super) advice: Vec<Diagnostic>,
    /// The files that were read or looked for, if the tools were read from sources.
    pub(super) files: Vec<PathBuf>,
}

impl LoadedTools {
    /// Reads the sources or the manifest, and prints the diagnostics. Fails if the sources have errors; `consequence`
    /// says what was not done: `nothing was written`.
    pub(super) fn read(source: &ToolSource, format: OutputFormat, consequence: &str) -> Result<Self> {
        if let Some(file) = &source.from {
            let manifest = Manifest::load(file)?;
            let for_tests = manifest.iter().filter(|(_, tool)| is_for_tests(&tool.description));
            let for_tests = for_tests.map(|(name, _)| name.to_owned()).collect();
            return Ok(Self { manifest, for_tests, ..Self::default() });
        }
        Self::scan(&PackageSelection::resolve(&source.choice)?, format, consequence)
    }

    /// Does the same as [`read`](Self::read) for sources.
    pub(super) fn scan(selection: &PackageSelection, format: OutputFormat, consequence: &str) -> Result<Self> {
        let tools = Self::scan_quietly(selection)?;
        tools.report(format);
        tools.or_failure(consequence)
    }

    /// Reads the sources without printing the diagnostics.
    pub(super) fn scan_quietly(selection: &PackageSelection) -> Result<Self> {
        let scanned = {
            let files = Arc::new(AtomicUsize::new(0));
            let scan = selection.scan.clone().progress(files.clone());
            run_with_progress(&files, || scan.run())??
        };
        let advice = scanned.advice();
        let ScanOutput { manifest, mut diagnostics, places, for_tests, accepted_any, files } = scanned;
        for file in &files {
            tracing::trace!(file = %file.display(), "file read or looked for");
        }
        tracing::debug!(files = files.len(), tools = manifest.len(), diagnostics = diagnostics.len(), "sources read");
        if manifest.is_empty() && !diagnostics.iter().any(is_error) {
            diagnostics.push(selection.elsewhere.suggestion());
        }
        Ok(Self { manifest, diagnostics, places, for_tests, accepted_any, advice, files })
    }

    /// Prints the diagnostics as text. In JSON they are part of the result.
    pub(super) fn report(&self, format: OutputFormat) {
        if format == OutputFormat::Text {
            report::diagnostics(&self.diagnostics);
        }
    }

    /// Adds the advice to the diagnostics, and prints it as text.
    pub(super) fn with_advice(mut self, format: OutputFormat) -> Self {
        if format == OutputFormat::Text {
            report::diagnostics(&self.advice);
        }
        self.diagnostics.append(&mut self.advice);
        self
    }

    /// Fails if the sources have errors: missing tools would look removed.
    pub(super) fn or_failure(self, consequence: &str) -> Result<Self> {
        match self.diagnostics.iter().any(is_error) {
            true => Err(CommandFailure::from_diagnostics(self.diagnostics, consequence)),
            false => Ok(self),
        }
    }
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

/// Runs the work on another thread and shows a progress bar. A panic is a bug of ours and becomes one failure.
fn run_with_progress<T: Send>(files: &AtomicUsize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let seen = Arc::new(Mutex::new(String::new()));
    let hook = panic::take_hook();
    panic::set_hook(Box::new({
        let seen = Arc::clone(&seen);
        move |panic| *seen.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string()
    }));
    let finished = std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            // Dropped when the work ends, even by a panic.
            let _running = running;
            work()
        });
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let bar = progress();
            // Nothing is sent. This waits for the sender to be dropped.
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_message(format!("{} files read", files.load(Ordering::Relaxed)));
            }
            bar.finish_and_clear();
        }
        worker.join()
    });
    panic::set_hook(hook);
    finished.map_err(|_| {
        let what = seen.lock().unwrap_or_else(PoisonError::into_inner).replace('\n', " ");
        CommandFailure::new(format!("bug in tool-gen: it {what}"))
            .help("please report it with the source; nothing was written")
    })
}

fn progress() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message("Reading sources");
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_panic_as_one_failure() {
        let failure = run_with_progress(&AtomicUsize::new(0), || panic!("no such thing"))
            .map(|()| "nothing")
            .expect_err("it panicked");
        let message = failure.to_string();
        assert!(message.starts_with("bug in tool-gen: it panicked at ") && message.contains("no such thing"));
        assert!(failure.help_text().is_some_and(|help| help.contains("report it")));
        assert_eq!(run_with_progress(&AtomicUsize::new(0), || 7).ok(), Some(7));
    }
}
