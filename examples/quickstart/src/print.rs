//! Terminal output.

use std::io::{self, IsTerminal, Write, stdout};

use tool_runtime::manifest::Argument;
use tool_runtime::{Manifest, ToolResult};

use crate::conversation::Turn;

const BOLD: &str = "1";
const DIM: &str = "2";
const GREEN: &str = "32";
const RED: &str = "31";

/// Prints every tool with its description and arguments.
pub fn catalogue(manifest: &Manifest) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}\n", paint(BOLD, &format!("{} tools", manifest.len())))?;
    for (name, tool) in manifest.iter() {
        writeln!(out, "{}  {}", paint(BOLD, name), tool.description)?;
        for (name, argument) in &tool.arguments {
            writeln!(out, "    {name:<8}{}", paint(DIM, &describe(argument)))?;
            for line in argument.description.iter().flat_map(|text| text.lines()) {
                writeln!(out, "            {line}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Describes the type and the other keywords of an argument.
fn describe(argument: &Argument) -> String {
    let required = if argument.required { "required" } else { "optional" };
    let keywords = argument.keywords.iter().map(|(keyword, value)| format!("{keyword} {value}"));
    let parts = [argument.type_name.clone(), required.to_owned()].into_iter().chain(keywords);
    parts.collect::<Vec<_>>().join(", ")
}

/// Prints one call with its result.
pub fn turn(turn: &Turn, result: &ToolResult) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}", paint(DIM, turn.why))?;
    writeln!(out, "{} {}", paint(BOLD, turn.tool), turn.arguments)?;
    let (mark, colour) = if result.success { ("ok", GREEN) } else { ("failed", RED) };
    for (index, line) in result.output.lines().enumerate() {
        let mark = if index == 0 { mark } else { "" };
        writeln!(out, "  {} {line}", paint(colour, &format!("{mark:<7}")))?;
    }
    writeln!(out)
}

fn paint(code: &str, text: &str) -> String {
    if stdout().is_terminal() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
