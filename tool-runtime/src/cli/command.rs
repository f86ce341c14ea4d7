//! What can be written behind `tools`.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// See and call the tools of this program
#[derive(Debug, Parser)]
#[command(name = "tools", subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Tools {
    #[command(subcommand)]
    pub(super) what: What,
}

#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// List the tools, all or some
    List(List),
    /// Show one tool in full
    Show(Show),
    /// Call a tool
    Call(Call),
    /// Say where tools and what they need come from
    Explain(Explain),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

#[derive(Args, Debug, Default)]
pub(super) struct List {
    /// Those that have this tag; several must all be there
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,

    /// Those of this category
    #[arg(long)]
    pub(super) category: Option<String>,

    /// Those whose names have this form: `*` for any characters, `?` for one
    #[arg(long)]
    pub(super) glob: Option<String>,

    /// Those that fit these words, the best first
    #[arg(long, value_name = "WORDS")]
    pub(super) search: Option<String>,

    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Args, Debug)]
pub(super) struct Show {
    /// The tool
    pub(super) name: String,

    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

#[derive(Args, Debug)]
pub(super) struct Explain {
    /// Only this tool
    pub(super) name: Option<String>,
}

/// Call a tool
///
/// It is called as a model would call it: its arguments are checked, and somebody is asked where the program wants that.
#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub(super) struct Call {
    /// The tool
    pub(super) name: String,

    /// Arguments, each as `name=value`. A value is a text where the argument is one, and otherwise JSON; one that is a list
    /// can be given several times
    #[arg(value_name = "NAME=VALUE")]
    pub(super) arguments: Vec<String>,

    /// The arguments as a JSON object; `-` reads it from the standard input, which keeps secrets out of the process list
    #[arg(long, value_name = "JSON")]
    pub(super) json: Option<String>,

    /// Only say what would happen
    #[arg(long)]
    pub(super) dry_run: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  tools call metrics.newest host=web-1 limit=5
  tools call note.write tags=a tags=b --json '{\"text\": \"buy milk\"}'
  tools call account.login --json - < login.json

Ends with 0 if the tool succeeded, 1 if it failed or was refused, 2 if it was called wrongly, 130 if it was aborted.";
