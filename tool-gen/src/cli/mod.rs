//! The command line: one file per command, and what they share.
//!
//! Results go to stdout, everything about the way there (warnings, progress, what was written) to stderr.

mod arguments;
mod changes;
mod check;
mod diff;
mod docs;
mod exit;
mod git;
mod lint;
mod packages;
mod report;
mod scanning;
mod show;
mod terminal;
mod watch;
mod wrap;
mod write;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use arguments::{ColourChoice, OutputFormat};
use exit::{CommandFailure, ExitStatus, Result};

/// Reads the annotated tools of a package and keeps their manifest, tools_calls.json.
#[derive(Parser)]
#[command(name = "tool-gen", version, max_term_width = 100, after_help = EXAMPLES, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// How results are printed: for people, or as JSON for programs
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    format: OutputFormat,

    /// When to use colours; by default on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    color: ColourChoice,
}

const EXAMPLES: &str = "\
Examples:
  tool-gen write                     write tools_calls.json beside Cargo.toml
  tool-gen check --workspace         fail if the workspace's manifest is stale
  tool-gen show metrics.newest       one tool in detail
  tool-gen diff main                 what has changed for callers since main
  tool-gen docs --html -o tools.html

ExitStatus codes: 0 fine, 1 stale, breaking or denied, 2 error.
`--format json` prints one JSON value to stdout and nothing else, `watch` one line after each scan; of a command
that could not do its work:
  {\"error\": TEXT, \"help\": TEXT | null, \"diagnostics\": [DIAGNOSTIC]}";

#[derive(Subcommand)]
enum Command {
    Write(write::WriteCommand),
    Check(check::CheckCommand),
    Show(show::ShowCommand),
    Docs(docs::DocsCommand),
    Lint(lint::LintCommand),
    Watch(watch::WatchCommand),
    Diff(diff::DiffCommand),
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mistake) if mistake.use_stderr() && wants_json() => {
            return report::failure(&usage_failure(&mistake), OutputFormat::Json).into();
        }
        Err(mistake) => mistake.exit(),
    };
    cli.color.apply();
    cli.run().unwrap_or_else(|failure| report::failure(&failure, cli.format)).into()
}

/// Whether a program reads the answer, said on a command line that could not be read otherwise.
fn wants_json() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// A mistake on the command line: what it is, and below that how it should be.
fn usage_failure(mistake: &clap::Error) -> CommandFailure {
    let text = mistake.render().to_string();
    let text = text.trim().trim_start_matches("error: ");
    let (message, help) = text.split_once("\n\n").unwrap_or((text, "`tool-gen --help` explains the commands"));
    CommandFailure::new(message).help(help.trim())
}

impl Cli {
    fn run(&self) -> Result<ExitStatus> {
        let format = self.format;
        match &self.command {
            Command::Write(write) => write.run(format),
            Command::Check(check) => check.run(format),
            Command::Show(show) => show.run(format),
            Command::Docs(docs) => docs.run(format),
            Command::Lint(lint) => lint.run(format),
            Command::Watch(watch) => watch.run(format),
            Command::Diff(diff) => diff.run(format),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_grammar_holds_together() {
        super::Cli::command().debug_assert();
    }
}
