//! The command line.

use std::env;
use std::path::PathBuf;

use clap::Parser;

/// A monitor of this machine that a language model can use, and a page to talk with it.
#[derive(Clone, Debug, Parser)]
#[command(name = "console", version)]
pub struct Options {
    /// The port on the loopback address; 0 takes one that is free.
    #[arg(long, default_value_t = 8484)]
    pub port: u16,

    /// The folder whose files the model can read and, if a person agrees, change. Without it, a sample in the data
    /// folder.
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

/// A folder of the user's own, so that nothing is left where the program was started.
fn default_data() -> PathBuf {
    let of_user = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let of_home = || env::home_dir().map(|home| home.join(".local/share"));
    of_user.or_else(of_home).unwrap_or_else(env::temp_dir).join("tool-console")
}
