//! Runs a scan, and says so if it takes a while.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tool_gen::{Diagnostic, Scan, Scanned, Severity};
use tool_model::Manifest;

use super::arguments::{Format, ToolSource};
use super::exit::{Failure, Result};
use super::packages::Selection;
use super::report;

/// A scan that takes longer shows that it is at work.
const PATIENCE: Duration = Duration::from_millis(500);

/// The tools, and what was found on the way.
pub(super) struct Tools {
    pub(super) manifest: Manifest,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The files that were read, if the tools come from sources.
    pub(super) files: Vec<PathBuf>,
}

impl Tools {
    /// Reads the sources or the manifest; what is wrong is reported.
    pub(super) fn read(source: &ToolSource, format: Format) -> Result<Self> {
        if let Some(file) = &source.from {
            let manifest = Manifest::load(file)?;
            return Ok(Self { manifest, diagnostics: Vec::new(), files: Vec::new() });
        }
        Self::scan(&Selection::of(&source.choice)?.scan, format)
    }

    /// Reads the sources; what is wrong is reported.
    pub(super) fn scan(scan: &Scan, format: Format) -> Result<Self> {
        let tools = Self::scan_quietly(scan)?;
        tools.report(format);
        Ok(tools)
    }

    /// Reads the sources; what is wrong is still to be reported.
    pub(super) fn scan_quietly(scan: &Scan) -> Result<Self> {
        let Scanned { manifest, diagnostics, files, .. } = run(scan)?;
        Ok(Self { manifest, diagnostics, files })
    }

    /// Shows people what is wrong; programs find it in the result.
    pub(super) fn report(&self, format: Format) {
        if format == Format::Text {
            report::diagnostics(&self.diagnostics);
        }
    }

    /// Whether the manifest is not to be trusted.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|found| found.severity == Severity::Error)
    }
}

/// Runs the scan on a thread of its own, so that this one can show that it runs.
fn run(scan: &Scan) -> Result<Scanned> {
    let (done, result) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Nobody waits any more only if this thread is going down.
            let _ = done.send(scan.run());
        });
        let scanned = match result.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => {
                let bar = progress();
                let scanned = result.recv();
                bar.finish_and_clear();
                scanned.map_err(|_| stopped())?
            }
            finished => finished.map_err(|_| stopped())?,
        };
        Ok(scanned?)
    })
}

fn stopped() -> Failure {
    Failure::new("the scan stopped without a result")
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
