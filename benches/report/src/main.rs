//! Builds and runs all benchmarks and writes `RESULTS.md` with its plots.
//!
//! What is measured goes to `figures.json`, so that one measurement can be repeated alone while the report stays whole.
//! Each measurement is a file under `measure/`; what a reader sees of it is under `render/`.

mod cargo;
mod contenders;
mod figures;
mod machine;
mod measure;
mod processor;
mod render;
mod specimens;
mod valgrind;

use std::process::ExitCode;

use clap::Parser;
use figures::Figures;
use measure::Measurement;

/// What goes wrong, in words for whoever runs the benchmarks.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Measures, and writes benches/RESULTS.md.
#[derive(Parser)]
#[command(name = "benches/run")]
struct Options {
    /// A few minutes: fewer rounds, nothing that needs thousands of tools or other builds.
    #[arg(long)]
    quick: bool,
    /// Writes the report again from the figures that are there.
    #[arg(long)]
    render: bool,
    /// Uses the contenders' programs as they were built before, whatever their sources say now.
    #[arg(long)]
    built: bool,
    /// What to measure; everything if none is named.
    #[arg(value_enum)]
    only: Vec<Measurement>,
}

fn main() -> ExitCode {
    if let Some(code) = specimens::record::as_wrapper() {
        return code;
    }
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Outcome {
    let mut figures = Figures::load(machine::describe()?)?;
    if !options.render {
        if !options.built {
            contenders::forget_programs()?;
        }
        for measurement in Measurement::chosen(&options.only, options.quick) {
            eprintln!("{measurement:?}");
            measurement.run(options.quick, &mut figures)?;
            figures.finished(&format!("{measurement:?}"), options.quick);
            figures.save()?;
        }
    }
    render::write(&figures)
}
