//! A manifest of 10,000 tools: parsed, bound, compared with the code. The baseline parses its bytes as JSON.

use std::process::Command;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::{Outcome, valgrind};

/// The steps and their names in tables.
pub const STEPS: [&str; 5] = [
    "`serde_json::from_slice::<Value>`",
    "`Manifest::from_json`",
    "binding, without the comparison",
    "reading and binding",
    "comparing with the linked definition",
];

pub fn run(figures: &mut Figures) -> Outcome {
    let count = std::env::var("LOAD_TOOLS").unwrap_or_else(|_| "10000".to_owned());
    cargo::run(cargo::cargo(&["build", "--release", "-p", "load"]).env("LOAD_TOOLS", &count))?;
    let program = target().join("release/load");
    let file = target().join("load.json");
    let command = |step: &str| {
        let mut command = Command::new(&program);
        command.arg(step).arg(&file);
        command
    };
    cargo::run(&mut command("write"))?;
    let tools: f64 = cargo::output(&mut command("count"))?.parse()?;
    let step = |step: &str| valgrind::instructions(&command(step));
    let nothing = step("nothing")?;
    let value = step("value")? - nothing;
    let manifest = step("manifest")? - nothing;
    let compare = step("compare")? - nothing - manifest;
    let bind = step("build")? - nothing - manifest - compare;
    let linked = step("linked")? - nothing;
    for (name, total) in STEPS.into_iter().zip([value, manifest, bind, manifest + bind, compare]) {
        figures.set("load", name, total / tools);
    }
    figures.set("load tools", "", tools);
    figures.set("load bytes", "", std::fs::metadata(&file)?.len() as f64 / tools);
    figures.set("start linked", "", linked / tools);
    Ok(())
}
