//! Command-line options.

use std::env;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Parser;
use tool_mcp::PluginArguments;
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::diagnostics::LogArguments;

use crate::settings::Extension;

/// A monitor of this machine with tools for a language model, and web pages to chat with it
///
/// Calls, warnings and errors are logged to standard error (level `info`); `RUST_LOG` selects other events.
#[derive(Clone, Debug, Parser)]
#[command(name = "console", version)]
pub struct Options {
    /// Port to listen on; 0 picks a free one
    #[arg(long, default_value_t = 8484)]
    pub port: u16,

    /// Address to listen on. Any address other than loopback serves other machines and requires a token
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,

    /// Token that clients must send, at least 16 characters; without a value, one is generated and printed. The
    /// variable `CONSOLE_TOKEN` does the same without showing the token in the list of processes
    #[arg(long, value_name = "TOKEN", num_args = 0..=1, default_missing_value = "")]
    pub token: Option<String>,

    /// Host name of the console, such as `box.example.org`, if browsers do not use an address. Can be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,

    /// Existing directory whose files the model can read and, with approval, change. The default is a sample in the
    /// data directory
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Offer `run_command`, which runs programs in the workspace with the rights of the console, after approval. The
    /// switch `commands` of the settings page does the same until it is switched off
    #[arg(long)]
    pub exec: bool,

    /// Run commands without network access
    #[arg(long)]
    pub no_network: bool,

    /// Offer `web_fetch` and, with `BRAVE_API_KEY` or `SEARXNG_URL`, `web_search`. The switch `web` of the settings page
    /// does the same until it is switched off
    #[arg(long)]
    pub web: bool,

    /// When to ask for approval
    #[command(flatten)]
    pub policy: PolicyArguments,

    /// More tools
    #[command(flatten)]
    pub plugins: PluginArguments,

    /// Directory for settings, metrics, conversations and the journal
    #[arg(long, value_name = "DIR", default_value_os_t = default_data())]
    pub data: PathBuf,

    /// NATS server whose workers provide more tools, such as `nats://127.0.0.1:4222`. The console's own tools take
    /// precedence. `NATS_USER` and `NATS_PASSWORD`, or `NATS_CREDS` with a credentials file, authenticate; `NATS_CA`
    /// sets the trusted certificate authority
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,

    /// The log
    #[command(flatten)]
    pub log: LogArguments,
}

impl Options {
    /// Returns the extensions that the command line enables, each with its option.
    #[must_use]
    pub fn extensions(&self) -> Vec<(Extension, &'static str)> {
        let options = [(self.exec, Extension::Commands, "--exec"), (self.web, Extension::Web, "--web")];
        let given = options.into_iter().filter(|(given, ..)| *given);
        given.map(|(_, extension, option)| (extension, option)).collect()
    }

    /// Returns the token of the command line or of the environment. An empty string means that one is to be generated.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        self.token.clone().or_else(|| env::var("CONSOLE_TOKEN").ok())
    }
}

/// Returns a directory of the user, so that the current directory stays clean.
fn default_data() -> PathBuf {
    let of_user = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let of_home = || env::home_dir().map(|home| home.join(".local/share"));
    of_user.or_else(of_home).unwrap_or_else(env::temp_dir).join("tool-console")
}
