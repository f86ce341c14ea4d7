//! What a tool costs to compile and in the stripped binary: the slope from 50 to 300 tools.

use std::fs;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::specimens::{self, COUNTS, Mode, SPAN, SPECIMENS, record};
use crate::{Outcome, processor, valgrind};

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    let modes: &[Mode] = if quick { &[Mode::Check] } else { &Mode::ALL };
    for &mode in modes {
        specimens::build(mode)?;
        times(mode, if quick { 2 } else { 5 }, figures)?;
        eprintln!("  {}", mode.name());
    }
    if !quick {
        instructions(figures)?;
        sizes(figures)?;
    }
    Ok(())
}

/// Milliseconds of processor time a tool: the least of some rounds, all specimens by turns.
fn times(mode: Mode, rounds: usize, figures: &mut Figures) -> Outcome {
    let mut least = vec![[f64::MAX; 2]; SPECIMENS.len()];
    for _ in 0..rounds {
        for (specimen, least) in SPECIMENS.iter().zip(&mut least) {
            for (count, least) in COUNTS.into_iter().zip(least) {
                *least = least.min(processor::seconds(&mut record::replay(specimen.name, count, mode)?)?);
            }
        }
    }
    for (specimen, [few, many]) in SPECIMENS.iter().zip(least) {
        figures.set(format!("compile {}", mode.name()), specimen.title, (many - few) / SPAN * 1e3);
    }
    Ok(())
}

/// rustc's instructions a tool, in `cargo check`: the one figure of a compiler that is not of this hour.
fn instructions(figures: &mut Figures) -> Outcome {
    for specimen in &SPECIMENS {
        let [few, many] =
            COUNTS.map(|count| valgrind::instructions(&record::replay(specimen.name, count, Mode::Check)?));
        figures.set("compile instructions", specimen.title, (many? - few?) / SPAN);
        figures.save()?;
        eprintln!("  instructions: {}", specimen.name);
    }
    Ok(())
}

fn sizes(figures: &mut Figures) -> Outcome {
    let stripped = target().join("stripped");
    for specimen in &SPECIMENS {
        let [few, many] = COUNTS.map(|count| -> Outcome<f64> {
            let program = specimens::program(specimen.name, count);
            cargo::run(std::process::Command::new("strip").arg("-o").arg(&stripped).arg(program))?;
            Ok(fs::metadata(&stripped)?.len() as f64)
        });
        figures.set("binary", specimen.title, (many? - few?) / SPAN);
    }
    Ok(())
}
