//! A command line for the tools of any program: `app tools list`, `show`, `call`, `explain`.

mod arguments;
mod call;
mod command;
mod interrupt;
mod list;
mod show;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use crate::display::escape_lines;
use crate::{CancellationToken, Dispatcher, ErrorKind, ToolError};
use command::{Tools, What};

/// The command line of a program's tools: `tools list`, `tools show NAME`, `tools call NAME key=value ..`, `tools explain`.
///
/// Calls take the one way that all calls take, with the dispatcher's policy, confirmation, journal and limits: give it
/// [`Terminal`](crate::confirm::Terminal) to be asked in the terminal.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use tool_runtime::confirm::Terminal;
/// use tool_runtime::{Cli, Dispatcher};
///
/// #[tokio::main]
/// async fn main() -> ExitCode {
///     let tools = match Dispatcher::builder().confirm(Terminal::default()).build() {
///         Ok(tools) => tools,
///         Err(error) => {
///             eprintln!("{error}");
///             return ExitCode::FAILURE;
///         }
///     };
///     if std::env::args().nth(1).as_deref() == Some("tools") {
///         return Cli::new(tools).run().await;
///     }
///     // What the program does otherwise.
///     ExitCode::SUCCESS
/// }
/// ```
///
/// A program that uses clap adds [`Cli::command`] to its own, and hands the matches to [`Cli::run_matches`].
#[derive(Clone, Debug)]
#[must_use = "a command line does nothing until it is run"]
pub struct Cli {
    tools: Dispatcher,
}

impl Cli {
    /// Creates the command line of a dispatcher's tools.
    pub fn new(tools: Dispatcher) -> Self {
        Self { tools }
    }

    /// Runs what the program was called with: `app tools list`.
    ///
    /// It ends with 0 if all went well, 1 if a tool failed or was refused, 2 if it was called wrongly, and 130 if it was
    /// aborted.
    ///
    /// Ctrl-C stops a call and rolls back what was injected into it, and then ends the process with 130, also while a
    /// tool blocks its thread. A second Ctrl-C does not wait for the rollback. The process ends at once, too, after a
    /// call that could not be stopped in time: nothing behind `run` is reached then.
    pub async fn run(self) -> ExitCode {
        self.run_with(std::env::args_os()).await
    }

    /// As [`run`](Self::run), with these arguments, of which the first is the program's name.
    async fn run_with(self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
        // Its help says the name that it was called by.
        let program = Command::new("app").subcommand_required(true).arg_required_else_help(true);
        let program = program.subcommand(Self::command());
        match program.try_get_matches_from(arguments.into_iter().map(Into::into)) {
            Ok(matches) => match matches.subcommand() {
                Some((_, matches)) => self.run_matches(matches).await,
                None => Exit::WrongUse.into(),
            },
            Err(error) => wrong_use(&error),
        }
    }

    /// The command `tools`, for a program that has others.
    #[must_use]
    pub fn command() -> Command {
        Tools::command()
    }

    /// Runs what stands behind `tools`.
    pub async fn run_matches(self, matches: &ArgMatches) -> ExitCode {
        match Tools::from_arg_matches(matches) {
            Ok(Tools { what }) => self.execute(what, interrupt::token).await.print(),
            Err(error) => wrong_use(&error),
        }
    }

    async fn execute(&self, what: What, stop: impl FnOnce() -> CancellationToken) -> Report {
        let report = match what {
            What::List(list) => list::run(&self.tools, &list),
            What::Show(show) => show::run(&self.tools, &show),
            What::Call(call) => call::run(&self.tools, &call, stop).await,
            What::Explain(explain) => show::explain(&self.tools, explain.name.as_deref()),
        };
        report.unwrap_or_else(Report::wrong_use)
    }
}

/// What a command has to say, and how it ends.
#[derive(Debug, Default)]
struct Report {
    out: String,
    err: String,
    exit: Exit,
    /// Whether the process ends as soon as this is printed.
    at_once: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Exit {
    #[default]
    Fine = 0,
    Failed = 1,
    WrongUse = 2,
    /// As a shell says it of a program that was interrupted.
    Aborted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What was wrong with how a command was called.
type Result<T> = std::result::Result<T, String>;

impl Report {
    fn out(text: impl Into<String>) -> Self {
        Self { out: text.into(), ..Self::default() }
    }

    fn wrong_use(message: String) -> Self {
        Self { err: format!("error: {message}\n"), exit: Exit::WrongUse, ..Self::default() }
    }

    /// Prints it. Whoever reads may have gone, as `head` does; that is no mistake.
    fn print(self) -> ExitCode {
        let _ = std::io::stdout().write_all(self.out.as_bytes());
        let _ = std::io::stderr().write_all(self.err.as_bytes());
        if self.at_once {
            let _ = std::io::stdout().flush();
            std::process::exit(self.exit as i32);
        }
        self.exit.into()
    }
}

fn wrong_use(error: &clap::Error) -> ExitCode {
    // Help that was asked for is printed there, too, and is no mistake.
    let _ = error.print();
    u8::try_from(error.exit_code()).map_or(Exit::WrongUse.into(), ExitCode::from)
}

/// There is no tool of that name.
fn unknown(tools: &Dispatcher, name: &str) -> String {
    tools.with_offer(|offer| offer.unknown_tool(name)).to_string()
}

fn exit_of(error: Option<&ToolError>) -> Exit {
    match error.map(|error| error.kind) {
        None => Exit::Fine,
        Some(ErrorKind::Aborted | ErrorKind::Cancelled) => Exit::Aborted,
        Some(ErrorKind::UnknownTool | ErrorKind::InvalidArguments) => Exit::WrongUse,
        Some(_) => Exit::Failed,
    }
}

/// For a terminal. What another program says of its tools must not be what a terminal obeys.
fn shown(text: &str) -> String {
    escape_lines(text).map(|line| format!("{line}\n")).collect()
}

/// As indented JSON, with a line's end.
fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}
