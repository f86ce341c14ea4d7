//! One call: instructions, allocations and bytes, with three tools and with a thousand more.

use serde_json::Value;

use crate::contenders::{ALL, ContenderEntry, FLOOR};
use crate::figures::Figures;
use crate::{Outcome, cargo, valgrind};

pub const TOOLS: [&str; 3] = ["add", "search", "order"];
/// Numbers of fillers.
pub const FILLERS: [usize; 2] = [0, 1_000];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    same_answers()?;
    let (rounds, few, many) = if quick { (1, 50, 150) } else { (5, 100, 300) };
    for contender in &ALL {
        for fillers in FILLERS {
            let Some(program) = contender.program(fillers)? else { continue };
            let fillers = fillers.to_string();
            for tool in TOOLS {
                let each = valgrind::each(rounds, few, many, |times| {
                    contender.command(&program, &["calls", tool, &times.to_string(), &fillers])
                })?;
                figures.set(format!("instructions {tool} {fillers}"), contender.name, each);
                let printed = cargo::output(&mut contender.command(&program, &["allocations", tool, &fillers]))?;
                let (count, bytes) = printed.split_once(' ').ok_or("two numbers are printed")?;
                figures.set(format!("allocations {tool} {fillers}"), contender.name, count.parse()?);
                figures.set(format!("bytes {tool} {fillers}"), contender.name, bytes.parse()?);
            }
        }
        figures.save()?;
        eprintln!("  {}", contender.name);
    }
    Ok(())
}

/// Checks that all contenders return the same result, because a different one would be different work.
fn same_answers() -> Outcome {
    let answer = |contender: &ContenderEntry, tool: &str| -> Outcome<Value> {
        let program = contender.program(0)?.ok_or("everyone has a program without fillers")?;
        Ok(serde_json::from_str(&cargo::output(&mut contender.command(&program, &["answer", tool]))?)?)
    };
    let floor = ALL.iter().find(|contender| contender.name == FLOOR).ok_or("the floor takes part")?;
    for tool in TOOLS {
        let expected = answer(floor, tool)?;
        for contender in &ALL {
            let got = answer(contender, tool)?;
            if got != expected {
                return Err(format!("{} answers `{tool}` with {got}, not with {expected}", contender.name).into());
            }
        }
    }
    Ok(())
}
