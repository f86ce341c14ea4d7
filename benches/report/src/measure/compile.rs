//! Cost of a tool in compile time and in the stripped binary: the slope from 50 to 300 tools.

use std::fs;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::specimens::{self, BuildMode, COUNTS, SPAN, SPECIMENS, record};
use crate::{Outcome, processor};

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    // The longer a compiler runs, the less its rounds differ.
    let modes: &[(BuildMode, usize)] = if quick {
        &[(BuildMode::Check, 2)]
    } else {
        &[(BuildMode::Check, 5), (BuildMode::Debug, 3), (BuildMode::Release, 2)]
    };
    for &(mode, rounds) in modes {
        specimens::build(mode)?;
        times(mode, rounds, figures)?;
        figures.save()?;
        eprintln!("  {}", mode.name());
    }
    if quick { Ok(()) } else { sizes(figures) }
}

/// Returns milliseconds of processor time per tool: the minimum of some rounds, alternating between all specimens.
fn times(mode: BuildMode, rounds: usize, figures: &mut Figures) -> Outcome {
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
