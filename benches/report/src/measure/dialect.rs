//! A thousand tools in the formats of model providers, by the crate `dialect`, if present.

use std::process::Command;

use crate::figures::Figures;
use crate::{Outcome, cargo, valgrind};

pub const FORMS: [&str; 6] = ["openai", "openai-strict", "anthropic", "anthropic-strict", "gemini", "mcp"];

pub fn run(figures: &mut Figures) -> Outcome {
    let Some(program) = cargo::optional("dialect")? else { return Ok(()) };
    for form in FORMS {
        let step = |step: &str| valgrind::instructions(Command::new(&program).args([step, form]));
        let offer = step("offer")?;
        figures.set("dialect again", form, step("again")? - offer);
        figures.set("dialect offer", form, offer - step("nothing")?);
        figures.set("dialect value", form, step("value")? - step("parsed")?);
    }
    Ok(())
}
