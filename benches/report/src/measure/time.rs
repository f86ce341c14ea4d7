//! Nanoseconds per call: the median of rounds that alternate between all contenders.

use super::calls::{FILLERS, TOOLS};
use crate::contenders::ALL;
use crate::figures::Figures;
use crate::{Outcome, cargo};

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    let rounds = if quick { 3 } else { 11 };
    for fillers in FILLERS {
        for tool in TOOLS {
            let mut taken = vec![Vec::new(); ALL.len()];
            for _ in 0..rounds {
                for (contender, taken) in ALL.iter().zip(&mut taken) {
                    let Some(program) = contender.program(fillers)? else { continue };
                    let mut command = contender.command(&program, &["time", tool, &fillers.to_string()]);
                    taken.push(cargo::output(&mut command)?.parse::<f64>()?);
                }
            }
            for (contender, mut taken) in ALL.iter().zip(taken) {
                taken.sort_by(f64::total_cmp);
                if let Some(median) = taken.get(taken.len() / 2) {
                    figures.set(format!("nanoseconds {tool} {fillers}"), contender.name, *median);
                }
            }
        }
    }
    Ok(())
}
