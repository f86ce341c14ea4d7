//! Our MCP server and a plain one of rmcp with the same tools: calls per second, and the 99th percentile.

use std::process::Command;

use crate::Outcome;
use crate::cargo::{self, target};
use crate::figures::Figures;

pub const SERVERS: [&str; 2] = ["rmcp", "ours"];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    cargo::run(&mut cargo::cargo(&["build", "--release", "-p", "mcp"]))?;
    let rounds = if quick { "3" } else { "40" };
    let printed = cargo::output(Command::new(target().join("release/mcp")).arg(rounds))?;
    let table = printed.split("\n\n").last().ok_or("a table is printed")?;
    for row in table.lines().skip(2) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let &[transport, tools, rmcp, ours, _, slow_rmcp, slow_ours] = cells.as_slice() else {
            return Err(format!("not a row of seven: {row}").into());
        };
        let case = format!("{transport}, {tools} tools");
        for (server, calls, slow) in [(SERVERS[0], rmcp, slow_rmcp), (SERVERS[1], ours, slow_ours)] {
            figures.set(format!("mcp calls {server}"), &case, calls.parse()?);
            figures.set(format!("mcp slow {server}"), &case, slow.trim_end_matches(" µs").parse()?);
        }
    }
    Ok(())
}
