//! The contenders of the comparison.

use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, cargo};

/// The group of a contender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ContenderGroup {
    /// Handwritten code, the baseline.
    Floor,
    Ours,
    Peer,
}

/// The way to add fillers to a library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FillerSupport {
    /// At run time, without a limit.
    Running,
    /// At compile time, up to `most`; `fewer` if a program built with many can use fewer.
    Compiled { most: usize, fewer: bool },
}

/// One way of using one library.
pub struct ContenderEntry {
    /// The name in tables and plots.
    pub name: &'static str,
    pub side: ContenderGroup,
    pub package: &'static str,
    /// The entry of its program.
    pub entry: &'static str,
    pub fillers: FillerSupport,
    /// `true` if it describes the arguments of its tools.
    pub describes: bool,
    /// `true` if it is plotted; contenders that differ little from another are not.
    pub plotted: bool,
}

/// The baseline for all others.
pub const FLOOR: &str = "table by hand";

const fn peer(name: &'static str, package: &'static str, entry: &'static str) -> ContenderEntry {
    ContenderEntry {
        name,
        side: ContenderGroup::Peer,
        package,
        entry,
        fillers: FillerSupport::Running,
        describes: true,
        plotted: true,
    }
}

const fn ours(name: &'static str, entry: &'static str, plotted: bool) -> ContenderEntry {
    let fillers = FillerSupport::Compiled { most: 10_000, fewer: true };
    ContenderEntry { name, side: ContenderGroup::Ours, package: "ours", entry, fillers, describes: true, plotted }
}

const COMPILED: FillerSupport = FillerSupport::Compiled { most: 1_000, fewer: false };
/// With a thousand tools in its one `impl`, rustc had not finished after seven minutes, using 4 GB.
const ALONE: FillerSupport = FillerSupport::Compiled { most: 0, fewer: false };

pub const ALL: [ContenderEntry; 15] = [
    ContenderEntry { side: ContenderGroup::Floor, describes: false, ..peer(FLOOR, "by-hand", "table") },
    ContenderEntry {
        side: ContenderGroup::Floor,
        describes: false,
        fillers: COMPILED,
        ..peer("match by hand", "by-hand", "match")
    },
    ours("ours, sync", "sync", true),
    ours("ours, async", "async", true),
    ours("ours, sync, with a deadline", "sync-deadline", false),
    ours("ours, async, with a deadline", "async-deadline", false),
    ours("ours, sync, bare", "sync-bare", false),
    ours("ours, async, bare", "async-bare", false),
    peer("rmcp, router", "contest-rmcp", "router"),
    peer("rmcp, in-memory transport", "contest-rmcp", "transport"),
    peer("rig", "contest-rig", "toolset"),
    peer("tools-rs", "contest-tools-rs", "collection"),
    peer("swiftide", "contest-swiftide", "tools"),
    ContenderEntry { fillers: COMPILED, ..peer("llm-tool", "contest-llm-tool", "registry") },
    ContenderEntry { fillers: ALONE, ..peer("turbomcp", "contest-turbomcp", "handler") },
];

impl ContenderEntry {
    /// Returns the program with this many fillers, or `None` if the library cannot have that many.
    pub fn program(&self, fillers: usize) -> Outcome<Option<PathBuf>> {
        let built = match self.fillers {
            FillerSupport::Running => 0,
            _ if fillers == 0 => 0,
            FillerSupport::Compiled { most, .. } if fillers > most => return Ok(None),
            FillerSupport::Compiled { most, fewer: true } if fillers > 1_000 => most,
            FillerSupport::Compiled { .. } => 1_000,
        };
        if let FillerSupport::Compiled { fewer: false, .. } = self.fillers
            && built != fillers
        {
            return Ok(None);
        }
        let kept = cargo::target().join("programs").join(format!("{}-{built}", self.package));
        Ok(Some(if kept.exists() { kept } else { cargo::program(self.package, built)? }))
    }

    /// Returns a command that runs the entry with these arguments.
    pub fn command(&self, program: &PathBuf, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.arg(self.entry).args(words);
        command
    }
}

/// Deletes all programs, so that they are rebuilt from current sources.
pub fn forget_programs() -> Outcome {
    let folder = cargo::target().join("programs");
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
