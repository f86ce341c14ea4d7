//! Renders `RESULTS.md` and its plots.

mod calls;
mod compile;
mod fit;
mod growth;
mod plot;
mod rest;
mod table;
mod verdict;
mod versions;

use std::fs;

use crate::Outcome;
use crate::cargo::benches;
use crate::figures::Figures;

pub fn write(figures: &Figures) -> Outcome {
    fs::create_dir_all(benches().join("plots"))?;
    let sections = [
        head(figures),
        versions::section()?,
        verdict::section(figures),
        calls::section(figures)?,
        growth::section(figures)?,
        compile::section(figures)?,
        rest::section(figures),
    ];
    Ok(fs::write(benches().join("RESULTS.md"), sections.join("\n"))?)
}

fn head(figures: &Figures) -> String {
    let machine: Vec<String> = figures.machine.iter().map(|(what, value)| format!("{what}: {value}")).collect();
    let quick: Vec<&str> =
        figures.measured.iter().filter(|(_, quick)| **quick).map(|(measurement, _)| measurement.as_str()).collect();
    let hurry = match quick.as_slice() {
        [] => String::new(),
        some => format!(" Measured with `--quick`: {}.", some.join(", ")),
    };
    format!(
        "# Results\n\nWritten by `benches/run`; do not edit. {}.{hurry}\n\n\
         Instructions are counted by valgrind as the difference between two numbers of calls (median of \
         several rounds), and vary by a few percent between builds. Times were taken on a shared machine, \
         as the median or minimum of alternating rounds; read them as orders of magnitude. A dash means \
         not measured or not available.\n",
        machine.join("; ")
    )
}
