//! Searching 10,000 tools, by the crate `search`, if present.

use std::process::Command;

use crate::figures::Figures;
use crate::{Outcome, cargo, valgrind};

pub const WHAT: [&str; 3] = ["rare", "common", "definitions"];

pub fn run(figures: &mut Figures) -> Outcome {
    let Some(program) = cargo::optional("search")? else { return Ok(()) };
    for what in WHAT {
        let command = |times: usize| {
            let mut command = Command::new(&program);
            command.args([what, &times.to_string()]);
            command
        };
        figures.set("search", what, valgrind::each(1, 10, 110, command)?);
    }
    Ok(())
}
