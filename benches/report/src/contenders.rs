//! Who takes part.

use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, cargo};

/// Whose it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What one writes by hand.
    Floor,
    Ours,
    Peer,
}

/// How a library gets more tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fillers {
    /// While it runs, as many as one likes.
    Running,
    /// By compiling them, at most so many in reasonable time; whether a program built with many can offer fewer.
    Compiled { most: usize, fewer: bool },
}

/// One way of using one library.
pub struct Contender {
    /// In tables and plots.
    pub name: &'static str,
    pub side: Side,
    pub package: &'static str,
    /// The way, if its program has several.
    pub entry: &'static str,
    pub fillers: Fillers,
    /// Whether it says what its tools take.
    pub describes: bool,
    /// Whether it stands in the plots; what differs little from another does not.
    pub plotted: bool,
}

/// The floor to which all others are compared.
pub const FLOOR: &str = "table by hand";

const fn peer(name: &'static str, package: &'static str, entry: &'static str) -> Contender {
    Contender { name, side: Side::Peer, package, entry, fillers: Fillers::Running, describes: true, plotted: true }
}

const fn ours(name: &'static str, entry: &'static str, plotted: bool) -> Contender {
    let fillers = Fillers::Compiled { most: 10_000, fewer: true };
    Contender { name, side: Side::Ours, package: "ours", entry, fillers, describes: true, plotted }
}

const COMPILED: Fillers = Fillers::Compiled { most: 1_000, fewer: false };
/// With a thousand tools in its one `impl`, rustc was still at it after seven minutes, with 4 GB.
const ALONE: Fillers = Fillers::Compiled { most: 0, fewer: false };

pub const ALL: [Contender; 15] = [
    Contender { side: Side::Floor, describes: false, ..peer(FLOOR, "by-hand", "table") },
    Contender { side: Side::Floor, describes: false, fillers: COMPILED, ..peer("match by hand", "by-hand", "match") },
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
    Contender { fillers: COMPILED, ..peer("llm-tool", "contest-llm-tool", "registry") },
    Contender { fillers: ALONE, ..peer("turbomcp", "contest-turbomcp", "handler") },
];

impl Contender {
    /// The program that offers so many tools more; none where they cannot be had.
    pub fn program(&self, fillers: usize) -> Outcome<Option<PathBuf>> {
        let built = match self.fillers {
            Fillers::Running => 0,
            _ if fillers == 0 => 0,
            Fillers::Compiled { most, .. } if fillers > most => return Ok(None),
            Fillers::Compiled { most, fewer: true } if fillers > 1_000 => most,
            Fillers::Compiled { .. } => 1_000,
        };
        if let Fillers::Compiled { fewer: false, .. } = self.fillers
            && built != fillers
        {
            return Ok(None);
        }
        let kept = cargo::target().join("programs").join(format!("{}-{built}", self.package));
        Ok(Some(if kept.exists() { kept } else { cargo::program(self.package, built)? }))
    }

    /// The program with words for it.
    pub fn command(&self, program: &PathBuf, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.arg(self.entry).args(words);
        command
    }
}

/// Whatever is needed is built anew from here on, so that no program is of older sources.
pub fn forget_programs() -> Outcome {
    let folder = cargo::target().join("programs");
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
