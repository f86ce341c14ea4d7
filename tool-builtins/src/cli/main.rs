//! The `tool-builtins` program: reads one call per line and writes one result per line.

mod arguments;
mod protocol;
mod tools;

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use tool_runtime::Dispatcher;

use self::arguments::BuiltinsArguments;
use self::protocol::{CallLine, CallLines, MalformedLine, ResultLine};

/// The conventional exit code of an interrupted program.
const ABORTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = BuiltinsArguments::parse();
    arguments.log.install("warn");
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("tool-builtins: {error}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &BuiltinsArguments) -> Result<ExitCode, Box<dyn Error>> {
    let tools = tools::dispatcher(arguments)?;
    if arguments.manifest {
        return write(&tools.manifest().to_json());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for line in CallLines::default() {
        let result = runtime.block_on(run_line(&tools, line?));
        let code = write(&result.to_line())?;
        if result.is_aborted() {
            return Ok(ExitCode::from(ABORTED));
        }
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn run_line(tools: &Dispatcher, line: Result<CallLine, MalformedLine>) -> ResultLine {
    match line {
        Ok(request) => {
            let id = request.id.clone();
            ResultLine::new(id, tools.call(request.into_call()).await)
        }
        Err(malformed) => ResultLine::malformed(&malformed),
    }
}

/// Writes to standard output. Returns a failure code if the reader has closed the pipe.
fn write(text: &str) -> Result<ExitCode, Box<dyn Error>> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::FAILURE),
        Err(error) => Err(error.into()),
    }
}
