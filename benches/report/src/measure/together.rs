//! Cost of a call by the number of concurrent calls, on two threads.

use crate::contenders::ALL;
use crate::figures::Figures;
use crate::{Outcome, cargo};

pub const COUNTS: [usize; 5] = [1, 10, 100, 1_000, 10_000];

pub fn run(figures: &mut Figures) -> Outcome {
    for contender in ALL.iter().filter(|contender| contender.plotted) {
        let program = contender.program(0)?.ok_or("everyone has a program without fillers")?;
        for count in COUNTS {
            let printed = cargo::output(&mut contender.command(&program, &["together", &count.to_string()]))?;
            let (wall, processor) = printed.split_once(' ').ok_or("two numbers are printed")?;
            figures.set(format!("together wall {count}"), contender.name, wall.parse()?);
            figures.set(format!("together processor {count}"), contender.name, processor.parse()?);
        }
    }
    Ok(())
}
