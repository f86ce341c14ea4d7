#![doc = include_str!("docs.md")]

mod command;
mod confine;
mod directory;
mod environment;
mod launch;
mod output;
mod program;
mod run;
mod tree;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use tokio::task::spawn_blocking;
use tool_runtime::inject::{Deadline, Notes};
use tool_runtime::{CancellationToken, Effect, HandlerError, Progress, tool, tool_class};

use self::command::{RequestedCommand, quote};
pub use self::confine::{Confinement, WriteConfinement};
use self::environment::CommandEnvironment;
use self::launch::ExecSettings;
use self::program::ProgramRules;
pub use self::tree::ProcessCleanup;

/// Service for the tool `run_command`, which runs commands in a workspace. See the [module](self) for its guarantees.
#[derive(Clone, Debug)]
pub struct Exec {
    settings: ExecSettings,
}

/// The default limit of bytes kept per stream.
const OUTPUT_LIMIT: usize = 32 * 1024;

impl Exec {
    /// Creates a service that runs any program in this workspace, with network access.
    ///
    /// # Errors
    /// Fails if the workspace is not a directory that can be opened.
    pub fn new(workspace: impl AsRef<Path>) -> io::Result<Self> {
        let path = workspace.as_ref().canonicalize()?;
        let directory = open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let settings = ExecSettings {
            workspace: Arc::new(directory),
            path,
            writable: Vec::new(),
            environment: CommandEnvironment::inherited(),
            rules: ProgramRules::default(),
            network: true,
            allow_unconfined: true,
            output_limit: OUTPUT_LIMIT,
            cleanup: None,
        };
        Ok(Self { settings })
    }

    /// Allows only these programs, and those of earlier calls: names on the `PATH`, or absolute paths. A name refers to
    /// one file; another file of the same name is rejected. This disables the shell unless `sh` is listed.
    #[must_use]
    pub fn allow<P: Into<String>>(mut self, programs: impl IntoIterator<Item = P>) -> Self {
        programs.into_iter().for_each(|program| self.settings.rules.allow(program.into()));
        self
    }

    /// Denies these programs, even if they are allowed otherwise. This guards against mistakes, not malice: a program
    /// that is renamed, or run by another program, is not recognized.
    #[must_use]
    pub fn deny<P: Into<String>>(mut self, programs: impl IntoIterator<Item = P>) -> Self {
        programs.into_iter().for_each(|program| self.settings.rules.deny(program.into()));
        self
    }

    /// Blocks the network. Unix sockets stay reachable.
    #[must_use]
    pub fn without_network(mut self) -> Self {
        self.settings.network = false;
        self
    }

    /// Runs no command if the system cannot confine its writes.
    #[must_use]
    pub fn require_confinement(mut self) -> Self {
        self.settings.allow_unconfined = false;
        self
    }

    /// Also lets commands write to this file or directory, such as a package manager's cache. It must exist when a
    /// command starts.
    #[must_use]
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.writable.push(path.into());
        self
    }

    /// Sets an environment variable for every command.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.settings.environment.set(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Passes on a variable of this process's environment, if it is set.
    #[must_use]
    pub fn pass_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.settings.environment.pass(name.as_ref());
        self
    }

    /// Sets how many bytes are kept of each stream: half from its beginning, half from its end. The default is 32 KiB.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.settings.output_limit = bytes;
        self
    }

    /// Requires this cleanup of process trees instead of the best one that the system supports.
    #[must_use]
    pub fn cleanup(mut self, cleanup: ProcessCleanup) -> Self {
        self.settings.cleanup = Some(cleanup);
        self
    }

    /// Returns the confinement that this system enforces.
    ///
    /// # Errors
    /// Fails if no command can be run.
    pub async fn confinement(&self) -> Result<Confinement, HandlerError> {
        let settings = self.settings.clone();
        spawn_blocking(move || settings.confinement()).await?
    }
}

#[tool_class(manual, category = "exec")]
impl Exec {
    /// Run a command in the workspace and get its output, stdout and stderr together. Its input is empty. When it ends
    /// or times out, every process it has started is killed: nothing can be left running in the background. A command
    /// that fails returns its exit code and its output.
    #[tool(name = "run_command", alias = ["exec", "runCommand"], sensitive, destructive, preview = "show_command")]
    #[allow(clippy::too_many_arguments, reason = "they are the tool's arguments")]
    pub async fn run_command(
        &self,
        /// A line for `/bin/sh`, such as `cargo test 2>&1 | tail`. Pass either this or `program`.
        command: Option<&str>,
        /// A program, such as `git`, or a path like `./build.sh`. It runs without a shell.
        program: Option<&str>,
        /// The arguments of `program`, passed exactly as given.
        #[arg(default)]
        arguments: &[String],
        /// The directory to run in, relative to the workspace. Defaults to the workspace itself.
        #[arg(default)]
        directory: &Path,
        /// The number of seconds after which the command is killed.
        #[arg(default = 30, min = 1, max = 3600)]
        timeout: u32,
        #[inject] deadline: &Deadline,
        #[inject] cancellation: &CancellationToken,
        #[inject] progress: &Progress,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let command = RequestedCommand::new(command, program, arguments)?;
        let limit = time_limit(Duration::from_secs(timeout.into()), deadline);
        let directory = self.settings.relative_directory(directory);
        let (settings, started) = (self.settings.clone(), command.clone());
        let started = spawn_blocking(move || settings.start(&started, &directory)).await??;
        let finished = run::run(started, limit, self.settings.output_limit, cancellation, progress).await;
        notes.insert("command", run::metadata(&finished));
        run::to_result(&command, finished)
    }

    /// Previews the command. Fails if it may not run.
    async fn show_command(
        &self,
        command: Option<&str>,
        program: Option<&str>,
        arguments: &[String],
        directory: &Path,
        _timeout: u32,
    ) -> Result<Effect, HandlerError> {
        let command = RequestedCommand::new(command, program, arguments)?;
        let directory = self.settings.relative_directory(directory);
        let (settings, checked, asked) = (self.settings.clone(), command.clone(), directory.clone());
        spawn_blocking(move || settings.check(&checked, &asked)).await??;
        Ok(Effect::Command(match directory.to_string_lossy() {
            directory if directory.is_empty() => command.to_string(),
            directory => format!("cd {} && {command}", quote(&directory)),
        }))
    }
}

/// Returns how long a command may run. If the call's deadline comes first, leaves some time to return the output.
fn time_limit(timeout: Duration, deadline: &Deadline) -> Duration {
    match deadline.remaining() {
        Some(remaining) => timeout.min(remaining.saturating_sub((remaining / 10).min(MARGIN))),
        None => timeout,
    }
}

const MARGIN: Duration = Duration::from_millis(500);
