//! The command line: one file per command, and shared modules.
//!
//! Results go to stdout. Warnings, progress and status messages go to stderr.

mod adopt;
mod arguments;
mod changes;
mod check;
mod diff;
mod docs;
mod exit;
mod git;
mod init;
mod lint;
mod new;
mod packages;
mod report;
mod scanning;
mod show;
mod starter;
mod terminal;
mod watch;
mod wrap;
mod write;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use arguments::{ColourChoice, OutputFormat};
use exit::{CommandFailure, ExitStatus, Result};

/// Reads the annotated tools of a package and maintains their manifest, tools_calls.json.
#[derive(Parser)]
#[command(name = "tool-gen", version, max_term_width = 100, after_help = EXAMPLES, after_long_help = EXAMPLES)]
struct GenCli {
    #[command(subcommand)]
    command: Command,

    /// Output format: text for people, or JSON for programs
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    format: OutputFormat,

    /// When to use colours; by default on a terminal unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    color: ColourChoice,

    /// Format of the log on standard error; `RUST_LOG` sets what is logged, by default `warn`
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    log: OutputFormat,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen new my-tools              create a package with tools, a test and an MCP server
  tool-gen write                     write tools_calls.json beside Cargo.toml
  tool-gen check --workspace         fail if the workspace's manifest is stale
  tool-gen show metrics.newest       one tool in detail
  tool-gen diff main                 show what has changed for callers since main
  tool-gen docs --html -o tools.html
  tool-gen adopt                     find existing code that could become tools

Exit codes: 0 success, 1 stale, breaking or denied, 2 error.
`--format json` prints one JSON value to stdout, `watch` one line after each scan. A command that fails prints:
  {\"error\": TEXT, \"help\": TEXT | null, \"diagnostics\": [DIAGNOSTIC]}";

#[derive(Subcommand)]
enum Command {
    New(new::NewCommand),
    Init(init::InitCommand),
    Write(write::WriteCommand),
    Check(check::CheckCommand),
    Show(show::ShowToolsCommand),
    Docs(docs::DocsCommand),
    Lint(lint::LintCommand),
    Watch(watch::WatchCommand),
    Diff(diff::DiffCommand),
    Adopt(adopt::AdoptCommand),
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match GenCli::read(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(mistake) if mistake.use_stderr() && wants_json() => {
            return report::failure(&usage_failure(&mistake), OutputFormat::Json).into();
        }
        Err(mistake) => mistake.exit(),
    };
    cli.color.apply();
    install_log(cli.log);
    cli.run().unwrap_or_else(|failure| report::failure(&failure, cli.format)).into()
}

/// Logs to standard error what `RUST_LOG` selects, or warnings.
fn install_log(format: OutputFormat) {
    let filter = EnvFilter::builder().with_default_directive(tracing::Level::WARN.into()).from_env_lossy();
    // A reader that closes the pipe must not make the program panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).log_internal_errors(false);
    let has_colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    match format {
        OutputFormat::Text => log.with_ansi(has_colours).init(),
        OutputFormat::Json => log.json().flatten_event(true).with_ansi(false).init(),
    }
}

/// Returns `true` if the arguments ask for JSON, although they could not be parsed.
fn wants_json() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Converts a usage error to a failure: the message, and the usage as help.
fn usage_failure(mistake: &clap::Error) -> CommandFailure {
    let text = mistake.render().to_string();
    let text = text.trim().trim_start_matches("error: ");
    let (message, help) = text.split_once("\n\n").unwrap_or((text, "see `tool-gen --help`"));
    CommandFailure::new(message).help(help.trim())
}

impl GenCli {
    /// Parses the arguments. Cargo passes the name of the subcommand first: `cargo-tool-gen tool-gen write`.
    fn read(mut arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        if arguments.get(1).is_some_and(|first| first == "tool-gen") {
            arguments.remove(1);
            command = command.bin_name("cargo tool-gen");
        }
        Self::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }

    fn run(&self) -> Result<ExitStatus> {
        let format = self.format;
        match &self.command {
            Command::New(new) => new.run(format),
            Command::Init(init) => init.run(format),
            Command::Write(write) => write.run(format),
            Command::Check(check) => check.run(format),
            Command::Show(show) => show.run(format),
            Command::Docs(docs) => docs.run(format),
            Command::Lint(lint) => lint.run(format),
            Command::Watch(watch) => watch.run(format),
            Command::Diff(diff) => diff.run(format),
            Command::Adopt(adopt) => adopt.run(format),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::GenCli::command().debug_assert();
    }
}
