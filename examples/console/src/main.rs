//! Starts the console: `cargo run -p console`, or with `-- --help` for its flags.

use std::process::ExitCode;

use clap::Parser;
use console::options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    options.log.install("info,rmcp=warn");
    match console::web::serve(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
