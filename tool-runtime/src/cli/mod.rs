//! Command line for the tools of a program: `app tools list`, `show`, `call`, `explain`.

mod call_arguments;
mod call_command;
mod command;
mod interrupt;
mod list_command;
mod show_command;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use crate::display::escape_lines;
use crate::{CancellationToken, Dispatcher, ErrorKind, ToolError};
use command::{ToolsAction, ToolsCommand};

/// Command line for a program's tools: `tools list`, `tools show NAME`, `tools call NAME key=value ..`, `tools explain`.
///
/// Calls go through the dispatcher with its policy, confirmer, journal and limits. Use
/// [`Terminal`](crate::confirm::Terminal) as the confirmer to ask on the terminal.
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
///     // The program's other commands.
///     ExitCode::SUCCESS
/// }
/// ```
///
/// A program that uses clap adds [`Cli::command`] as a subcommand, and passes its matches to [`Cli::run_matches`].
#[derive(Clone, Debug)]
#[must_use = "the command line does nothing until it is run"]
pub struct Cli {
    tools: Dispatcher,
}

impl Cli {
    /// Creates the command line of a dispatcher's tools.
    pub fn new(tools: Dispatcher) -> Self {
        Self { tools }
    }

    /// Runs the command in the program's arguments, such as `app tools list`.
    ///
    /// The exit code is 0 on success, 1 if the tool failed or was refused, 2 for wrong usage, and 130 if the call was
    /// aborted.
    ///
    /// Ctrl-C cancels the call, rolls back its injected values and then exits the process with 130, even if the tool
    /// blocks its thread. A second Ctrl-C does not wait for the rollback. If a call cannot be stopped in time, the
    /// process exits without returning from `run`.
    pub async fn run(self) -> ExitCode {
        self.run_with(std::env::args_os()).await
    }

    /// Like [`run`](Self::run), with explicit arguments. The first is the program's name.
    async fn run_with(self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
        // clap replaces `app` by the name from the arguments.
        let program = Command::new("app").subcommand_required(true).arg_required_else_help(true);
        let program = program.subcommand(Self::command());
        match program.try_get_matches_from(arguments.into_iter().map(Into::into)) {
            Ok(matches) => match matches.subcommand() {
                Some((_, matches)) => self.run_matches(matches).await,
                None => CliExit::WrongUsage.into(),
            },
            Err(error) => wrong_usage(&error),
        }
    }

    /// Returns the clap command `tools`, for a program with other commands.
    #[must_use]
    pub fn command() -> Command {
        ToolsCommand::command()
    }

    /// Runs the command in the matches of `tools`.
    pub async fn run_matches(self, matches: &ArgMatches) -> ExitCode {
        match ToolsCommand::from_arg_matches(matches) {
            Ok(ToolsCommand { action }) => self.execute(action, interrupt::token).await.print(),
            Err(error) => wrong_usage(&error),
        }
    }

    async fn execute(&self, action: ToolsAction, stop: impl FnOnce() -> CancellationToken) -> CommandReport {
        let report = match action {
            ToolsAction::List(list) => list_command::run(&self.tools, &list),
            ToolsAction::Show(show) => show_command::run(&self.tools, &show),
            ToolsAction::Call(call) => call_command::run(&self.tools, &call, stop).await,
            ToolsAction::Explain(explain) => show_command::explain(&self.tools, explain.name.as_deref()),
        };
        report.unwrap_or_else(CommandReport::wrong_usage)
    }
}

/// The output and exit code of a command.
#[derive(Debug, Default)]
struct CommandReport {
    out: String,
    err: String,
    exit: CliExit,
    /// CliExit the process right after printing.
    exits_at_once: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CliExit {
    #[default]
    Success = 0,
    Failed = 1,
    WrongUsage = 2,
    /// The shells' code for a program that SIGINT terminated.
    Aborted = 130,
}

impl From<CliExit> for ExitCode {
    fn from(exit: CliExit) -> Self {
        Self::from(exit as u8)
    }
}

/// A result whose error describes wrong usage.
type Result<T> = std::result::Result<T, String>;

impl CommandReport {
    fn out(text: impl Into<String>) -> Self {
        Self { out: text.into(), ..Self::default() }
    }

    fn wrong_usage(message: String) -> Self {
        Self { err: format!("error: {message}\n"), exit: CliExit::WrongUsage, ..Self::default() }
    }

    /// Prints the report. Write errors are ignored, since a reader such as `head` may close the pipe early.
    fn print(self) -> ExitCode {
        let _ = std::io::stdout().write_all(self.out.as_bytes());
        let _ = std::io::stderr().write_all(self.err.as_bytes());
        if self.exits_at_once {
            let _ = std::io::stdout().flush();
            std::process::exit(self.exit as i32);
        }
        self.exit.into()
    }
}

fn wrong_usage(error: &clap::Error) -> ExitCode {
    // clap reports requested help as an error, with exit code 0.
    let _ = error.print();
    u8::try_from(error.exit_code()).map_or(CliExit::WrongUsage.into(), ExitCode::from)
}

/// Returns the error for an unknown tool.
fn unknown(tools: &Dispatcher, name: &str) -> String {
    tools.with_snapshot(|offer| offer.unknown_tool(name)).to_string()
}

fn exit_code(error: Option<&ToolError>) -> CliExit {
    match error.map(|error| error.kind) {
        None => CliExit::Success,
        Some(ErrorKind::Aborted | ErrorKind::Cancelled) => CliExit::Aborted,
        Some(ErrorKind::UnknownTool | ErrorKind::InvalidArguments) => CliExit::WrongUsage,
        Some(_) => CliExit::Failed,
    }
}

/// Escapes text for a terminal: definitions of remote tools may contain control sequences.
fn escaped(text: &str) -> String {
    escape_lines(text).map(|line| format!("{line}\n")).collect()
}

/// Returns a value as indented JSON with a trailing newline.
fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}
