//! Overhead of the agent loops of tool-agent and rig: a turn with three calls.

use std::process::Command;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::{Outcome, valgrind};

pub const AGENTS: [&str; 2] = ["ours", "rig"];

pub fn run(figures: &mut Figures) -> Outcome {
    cargo::run(&mut cargo::cargo(&["build", "--release", "-p", "agent"]))?;
    for agent in AGENTS {
        let command = |turns: usize, runs: usize| {
            let mut command = Command::new(target().join("release/agent"));
            command.args([agent, &turns.to_string(), &runs.to_string()]);
            command
        };
        let instructions = |turns: usize| valgrind::each(3, 50, 150, |runs| command(turns, runs));
        let allocations = |turns: usize| -> Outcome<f64> {
            let printed = cargo::output(command(turns, 100).arg("allocations"))?;
            Ok(printed.split(' ').next().ok_or("a number is printed")?.parse()?)
        };
        figures.set("agent turn", agent, (instructions(5)? - instructions(1)?) / 4.0);
        figures.set("agent allocations", agent, (allocations(5)? - allocations(1)?) / 4.0);
    }
    Ok(())
}
