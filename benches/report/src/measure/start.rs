//! Time from process start to the first call, with 300 distinct tools; and listing a thousand.

use std::process::Command;

use crate::contenders::ALL;
use crate::figures::Figures;
use crate::specimens::{self, BuildMode, SPECIMENS};
use crate::{Outcome, valgrind};

pub fn run(figures: &mut Figures) -> Outcome {
    specimens::build(BuildMode::Release)?;
    for specimen in &SPECIMENS {
        let [few, many] = specimens::COUNTS
            .map(|count| valgrind::instructions(&Command::new(specimens::program(specimen.name, count))));
        let (few, many) = (few?, many?);
        figures.set("start 300", specimen.title, many);
        figures.set("start each", specimen.title, (many - few) / specimens::SPAN);
    }
    for contender in ALL.iter().filter(|contender| contender.describes && contender.plotted) {
        let Some(program) = contender.program(1_000)? else { continue };
        let list = valgrind::each(1, 1, 3, |times| contender.command(&program, &["list", &times.to_string(), "1000"]))?;
        figures.set("list 1000", contender.name, list);
    }
    Ok(())
}
