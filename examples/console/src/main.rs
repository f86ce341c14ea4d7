//! Starts the console: `cargo run -p console`, or with `-- --help` for its flags.

use std::process::ExitCode;

use clap::Parser;
use console::options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    match console::web::serve(&Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
