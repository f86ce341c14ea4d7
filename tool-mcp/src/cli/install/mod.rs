//! `tool-mcp install`: adds a server to the configuration of an MCP client.

mod client;
mod edit;
mod json;
mod server_entry;
mod write;
mod yaml;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use self::client::{BaseDirectories, Client};
use self::edit::{ConfigEdit, InstallError};
use self::server_entry::{Launch, ServerEntry};

/// The client, the server and how it is added.
///
/// The file keeps its comments, and a copy of it is saved beside it. An entry that is already there is not written again.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct InstallArguments {
    /// The client.
    #[arg(value_enum)]
    client: Client,
    /// Command that starts the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url", conflicts_with = "url")]
    command: Vec<String>,
    /// URL of a server over HTTP.
    #[arg(long, value_name = "URL")]
    url: Option<url::Url>,
    /// Name of the server; by default that of the command or the host.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Environment variable of the command; can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "url")]
    env: Vec<(String, String)>,
    /// HTTP header; can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "command")]
    header: Vec<(String, String)>,
    /// Configure this project instead of the user's account.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    project: Option<PathBuf>,
    /// Configuration file, if it is not where the client looks for it by default.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Replace an entry of the same name.
    #[arg(long)]
    force: bool,
    /// Print the entry and write nothing.
    #[arg(long)]
    print: bool,
}

const EXAMPLES: &str = "\
Examples:
  tool-mcp install claude-desktop --name files -- tool-mcp --files /path/to/workspace
  tool-mcp install vscode --project . -- ./target/release/my-tools mcp
  tool-mcp install cursor --name shop --url https://shop.example.com/mcp --header Authorization='Bearer ..'
  tool-mcp install goose --print -- my-tools mcp";

/// Parses `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

impl InstallArguments {
    /// Adds the server, or prints its entry.
    ///
    /// # Errors
    /// Returns an error if the client cannot use the server, or if its file cannot be read, parsed or written. The file is
    /// unchanged then.
    pub fn run(&self) -> Result<(), InstallError> {
        let entry = ServerEntry::new(self.name.as_deref(), self.launch()?)?;
        let value = self.client.entry(&entry)?;
        let edit = ConfigEdit { section: self.client.section(), name: self.client.key(&entry.name), entry: &value };
        if self.print {
            let text = self.client.format().render(&edit);
            return super::print(&text).map_err(InstallError::Output);
        }
        let file = match &self.config {
            Some(file) => file.clone(),
            None => self.client.file(&BaseDirectories::from_env(), self.project.as_deref())?,
        };
        let report = |line: String| writeln!(std::io::stderr(), "tool-mcp: {line}").map_err(InstallError::Output);
        if let Some(program) = entry.launch.missing_program() {
            report(format!(
                "warning: `{program}` does not exist or is not on the PATH; {} cannot start it",
                self.client.title()
            ))?;
        }
        match write::apply(&file, self.client.format(), &edit, self.force)? {
            write::Applied::Unchanged => report(format!("`{}` is already in {}", edit.name, file.display())),
            write::Applied::Written { backup } => {
                report(format!("`{}` written to {}", edit.name, file.display()))?;
                backup.map_or(Ok(()), |backup| report(format!("the previous file is {}", backup.display())))?;
                report(format!("restart {} to use the server", self.client.title()))
            }
        }
    }

    fn launch(&self) -> Result<Launch, InstallError> {
        if let Some(url) = &self.url {
            return Launch::http(url, &self.header);
        }
        let (program, arguments) = self.command.split_first().ok_or(InstallError::NoServer)?;
        Ok(Launch::command(program, arguments, &self.env))
    }
}
