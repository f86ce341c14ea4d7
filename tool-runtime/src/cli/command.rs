//! Arguments of the `tools` command.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// List, inspect and call the tools of this program
#[derive(Debug, Parser)]
#[command(name = "tools", subcommand_required = true, arg_required_else_help = true)]
pub(super) struct ToolsCommand {
    #[command(subcommand)]
    pub(super) action: ToolsAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum ToolsAction {
    /// List all tools, or those that match the filters
    List(ListCommand),
    /// Show one tool in full
    Show(ShowCommand),
    /// Call a tool
    Call(CallCommand),
    /// Show where tools and their injected values come from
    Explain(ExplainCommand),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// Human-readable text
    #[default]
    Text,
    /// Machine-readable JSON
    Json,
}

#[derive(Args, Debug, Default)]
pub(super) struct ListCommand {
    /// Only tools with this tag; repeat it to require several
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,

    /// Only tools of this category
    #[arg(long)]
    pub(super) category: Option<String>,

    /// Only tools whose names match: `*` for any characters, `?` for one
    #[arg(long)]
    pub(super) glob: Option<String>,

    /// Only tools that match these words, best match first
    #[arg(long, value_name = "WORDS")]
    pub(super) search: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: ReportFormat,
}

#[derive(Args, Debug)]
pub(super) struct ShowCommand {
    /// Name of the tool
    pub(super) name: String,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: ReportFormat,
}

#[derive(Args, Debug)]
pub(super) struct ExplainCommand {
    /// Name of a tool; all tools if omitted
    pub(super) name: Option<String>,
}

/// Call a tool
///
/// The tool is called as a model would call it: its arguments are checked, and the call is confirmed if the program's
/// policy says so.
#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallCommand {
    /// Name of the tool
    pub(super) name: String,

    /// Arguments, each as `name=value`. The value is a string if the argument is one, and JSON otherwise. An array can be
    /// given item by item by repeating its name
    #[arg(value_name = "NAME=VALUE")]
    pub(super) arguments: Vec<String>,

    /// The arguments as a JSON object. `-` reads it from standard input, which keeps secrets out of the process list
    #[arg(long, value_name = "JSON")]
    pub(super) json: Option<String>,

    /// Show what the call would do, without running it
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Output format of the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: ReportFormat,
}

const EXAMPLES: &str = "\
Examples:
  tools call metrics.newest host=web-1 limit=5
  tools call note.write tags=a tags=b --json '{\"text\": \"buy milk\"}'
  tools call account.login --json - < login.json

Exits with 0 if the tool succeeded, 1 if it failed or was refused, 2 for wrong usage, 130 if the call was aborted.";
