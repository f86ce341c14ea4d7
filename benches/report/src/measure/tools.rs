//! Cost of a call by the number of tools.

use crate::contenders::ALL;
use crate::figures::Figures;
use crate::{Outcome, valgrind};

pub const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    let most = if quick { 1_000 } else { 10_000 };
    // The largest number comes last, because ten thousand tools take a while to compile.
    for count in COUNTS.into_iter().filter(|count| *count <= most) {
        for contender in ALL.iter().filter(|contender| contender.plotted) {
            let Some(program) = contender.program(count)? else { continue };
            let each = valgrind::each(if quick { 1 } else { 3 }, 100, 1_100, |times| {
                contender.command(&program, &["calls", "add", &times.to_string(), &count.to_string()])
            })?;
            figures.set(format!("tools {count}"), contender.name, each);
        }
        figures.save()?;
        eprintln!("  {count}");
    }
    Ok(())
}
