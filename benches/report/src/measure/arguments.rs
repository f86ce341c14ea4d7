//! Cost of a call by the size of its arguments.

use crate::contenders::ALL;
use crate::figures::Figures;
use crate::{Outcome, valgrind};

pub const BYTES: [usize; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    let most = if quick { 1_000_000 } else { 10_000_000 };
    for contender in ALL.iter().filter(|contender| contender.plotted) {
        let program = contender.program(0)?.ok_or("everyone has a program without fillers")?;
        for size in BYTES.into_iter().filter(|size| *size <= most) {
            let (few, many) = if size > 100_000 { (1, 2) } else { (5, 25) };
            let each = valgrind::each(1, few, many, |times| {
                contender.command(&program, &["grow", &size.to_string(), &times.to_string()])
            });
            match each {
                Ok(each) => figures.set(format!("argument bytes {size}"), contender.name, each),
                // A contender that cannot handle this size is omitted at this point, but not from the report.
                Err(error) => eprintln!("  {} with {size} bytes: {error}", contender.name),
            }
        }
        figures.save()?;
        eprintln!("  {}", contender.name);
    }
    Ok(())
}
