//! Builds and runs all benchmarks and writes `RESULTS.md` with its plots.
//!
//! Measurements are stored in `figures.json`, so that one can be repeated alone while the report stays complete.
//! Each measurement is a file in `measure/`; its presentation is in `render/`.

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

/// A result whose error is shown to the user of the benchmarks.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Runs benchmarks and writes benches/RESULTS.md.
#[derive(Parser)]
#[command(name = "benches/run")]
struct Options {
    /// Run a few minutes: fewer rounds, nothing that needs thousands of tools or separate builds.
    #[arg(long)]
    quick: bool,
    /// Rewrite the report from existing figures.
    #[arg(long)]
    render: bool,
    /// Reuse the contenders' programs from earlier builds, even if their sources changed.
    #[arg(long)]
    built: bool,
    /// Measurements to run; all if none is named.
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
