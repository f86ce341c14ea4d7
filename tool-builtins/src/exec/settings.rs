//! What an application has said about commands.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use super::environment::Environment;
use super::rules::Rules;
use super::tree::Way;

/// Said once, and the same for every command.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The workspace, as it was when it was opened.
    pub workspace: Arc<OwnedFd>,
    /// Its path, without links.
    pub path: PathBuf,
    /// Where commands may write besides.
    pub writable: Vec<PathBuf>,
    pub environment: Environment,
    pub rules: Rules,
    pub network: bool,
    /// Whether a command may run where its writing cannot be confined.
    pub unconfined: bool,
    /// How many bytes are kept of each stream.
    pub output_limit: usize,
    /// The only way that will do, if one was chosen.
    pub way: Option<Way>,
}
