//! From the command line to the last result.

mod answer;
mod arguments;
mod request;
mod tools;

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use tool_runtime::Dispatcher;

use self::answer::Answer;
use self::arguments::Arguments;
use self::request::Lines;

/// What shells call a program that was told to stop.
const ABORTED: u8 = 130;

/// Runs the program.
pub fn main() -> ExitCode {
    run(&Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("tool-builtins: {error}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let tools = tools::offered(arguments)?;
    if arguments.manifest {
        return write(&tools.manifest().to_json());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for line in Lines::default() {
        let answer = runtime.block_on(answered(&tools, line?));
        let code = write(&answer.to_line())?;
        if answer.stops() {
            return Ok(ExitCode::from(ABORTED));
        }
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn answered(tools: &Dispatcher, line: Result<request::Request, request::Malformed>) -> Answer {
    match line {
        Ok(request) => {
            let id = request.id.clone();
            Answer::new(id, tools.call(request.into_call()).await)
        }
        Err(malformed) => Answer::malformed(&malformed),
    }
}

/// Writes to whoever reads; one who has stopped reading has heard enough.
fn write(text: &str) -> Result<ExitCode, Box<dyn Error>> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::FAILURE),
        Err(error) => Err(error.into()),
    }
}
