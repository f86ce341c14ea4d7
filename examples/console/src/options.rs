//! The command line.

use std::env;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Parser;

/// A monitor of this machine that a language model can use, and a page to talk with it.
#[derive(Clone, Debug, Parser)]
#[command(name = "console", version)]
pub struct Options {
    /// The port; 0 takes one that is free.
    #[arg(long, default_value_t = 8484)]
    pub port: u16,

    /// The address to listen at. Any but a loopback address lets other machines in, and then a token is needed.
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,

    /// What browsers and programs must show, 16 characters or more; without a value, one is made and printed. The
    /// variable `CONSOLE_TOKEN` does the same, and no other user of the machine sees it.
    #[arg(long, value_name = "TOKEN", num_args = 0..=1, default_missing_value = "")]
    pub token: Option<String>,

    /// A name by which browsers ask for the console, if not by an address, such as `box.example.org`. Can be repeated.
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,

    /// The folder whose files the model can read and, if a person agrees, change; it must be there. Without it, a
    /// sample is made in the data folder.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Where the console keeps its settings, points, conversations and calls.
    #[arg(long, value_name = "DIR", default_value_os_t = default_data())]
    pub data: PathBuf,

    /// A NATS server whose workers offer more tools, such as `nats://127.0.0.1:4222`. They are called like those of the
    /// console, which go first where names are the same. `NATS_USER` and `NATS_PASSWORD`, or `NATS_CREDS` with a
    /// credentials file, say who it is, `NATS_CA` whom it trusts.
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
}

impl Options {
    /// The token of the command line, or else of the environment; empty if one is to be made.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        self.token.clone().or_else(|| env::var("CONSOLE_TOKEN").ok())
    }
}

/// A folder of the user's own, so that nothing is left where the program was started.
fn default_data() -> PathBuf {
    let of_user = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let of_home = || env::home_dir().map(|home| home.join(".local/share"));
    of_user.or_else(of_home).unwrap_or_else(env::temp_dir).join("tool-console")
}
