//! The service.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use tokio::task::spawn_blocking;
use tool_runtime::{CancellationToken, Deadline, Effect, HandlerError, Notes, Progress, tool, tool_class};

use super::command::{Command, quoted};
use super::confine::Confinement;
use super::environment::Environment;
use super::report;
use super::rules::Rules;
use super::run::run;
use super::settings::Settings;
use super::tree::Way;

/// Runs commands in a workspace: the tool `run_command`. See the [module](super) for what holds for them.
#[derive(Clone, Debug)]
pub struct Exec {
    settings: Settings,
}

/// How many bytes are kept of each stream, unless said otherwise.
const OUTPUT_LIMIT: usize = 32 * 1024;

impl Exec {
    /// Commands in this workspace, any program, with the network.
    ///
    /// # Errors
    /// When the workspace is no folder that can be opened.
    pub fn new(workspace: impl AsRef<Path>) -> io::Result<Self> {
        let path = workspace.as_ref().canonicalize()?;
        let folder = open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let settings = Settings {
            workspace: Arc::new(folder),
            path,
            writable: Vec::new(),
            environment: Environment::of_this_process(),
            rules: Rules::default(),
            network: true,
            unconfined: true,
            output_limit: OUTPUT_LIMIT,
            way: None,
        };
        Ok(Self { settings })
    }

    /// Only these programs, and those of earlier calls: names on the path, or absolute paths. A name stands for one
    /// file, and no other of that name will do. With it the shell is off, unless `sh` is among them.
    #[must_use]
    pub fn allow<P: Into<String>>(mut self, programs: impl IntoIterator<Item = P>) -> Self {
        programs.into_iter().for_each(|program| self.settings.rules.allow(program.into()));
        self
    }

    /// Not these programs, whatever else is allowed. It keeps a model from mistakes, not from malice: a program under
    /// another name, or run by another program, is not recognised.
    #[must_use]
    pub fn deny<P: Into<String>>(mut self, programs: impl IntoIterator<Item = P>) -> Self {
        programs.into_iter().for_each(|program| self.settings.rules.deny(program.into()));
        self
    }

    /// No network but local sockets.
    #[must_use]
    pub fn without_network(mut self) -> Self {
        self.settings.network = false;
        self
    }

    /// Runs nothing where the system cannot confine what a command writes.
    #[must_use]
    pub fn require_confinement(mut self) -> Self {
        self.settings.unconfined = false;
        self
    }

    /// Commands may write to this file or folder as well, such as a package manager's cache. It has to exist when a
    /// command starts.
    #[must_use]
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.writable.push(path.into());
        self
    }

    /// A variable of every command's environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.settings.environment.set(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Hands on a variable of this process's own environment, if it has it.
    #[must_use]
    pub fn pass_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.settings.environment.pass(name.as_ref());
        self
    }

    /// How many bytes are kept of each stream; half of them from its beginning, half from its end.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.settings.output_limit = bytes;
        self
    }

    /// The only way in which trees of processes are ended, in place of the best that the system allows.
    #[must_use]
    pub fn way(mut self, way: Way) -> Self {
        self.settings.way = Some(way);
        self
    }

    /// What is enforced here.
    ///
    /// # Errors
    /// When no command could be run.
    pub async fn confinement(&self) -> Result<Confinement, HandlerError> {
        let settings = self.settings.clone();
        spawn_blocking(move || settings.confinement()).await?
    }
}

#[tool_class(manual, category = "exec")]
impl Exec {
    /// Run a command in the workspace and get what it prints, stdout and stderr together. Its input is empty. When it
    /// ends or is out of time, everything that it has started ends too: nothing can be left running in the background.
    /// A command that fails is answered with its exit code and its output.
    #[tool(name = "run_command", sensitive, destructive, preview = "show_command")]
    #[allow(clippy::too_many_arguments, reason = "they are the tool's")]
    pub async fn run_command(
        &self,
        /// A line for `/bin/sh`, such as `cargo test 2>&1 | tail`. Give either this or `program`.
        command: Option<&str>,
        /// A program, such as `git`, or a path like `./build.sh`. No shell reads it.
        program: Option<&str>,
        /// The arguments of `program`, each exactly as it is to arrive.
        #[arg(default)]
        arguments: &[String],
        /// The folder to run in, relative to the workspace; the workspace itself unless given.
        #[arg(default)]
        directory: &Path,
        /// After how many seconds the command is killed.
        #[arg(default = 30, min = 1, max = 3600)]
        timeout: u32,
        #[inject] deadline: &Deadline,
        #[inject] cancellation: &CancellationToken,
        #[inject] progress: &Progress,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let command = Command::new(command, program, arguments)?;
        let limit = until(Duration::from_secs(timeout.into()), deadline);
        let folder = self.settings.seen_from_inside(directory);
        let (settings, started) = (self.settings.clone(), command.clone());
        let started = spawn_blocking(move || settings.start(&started, &folder)).await??;
        let finished = run(started, limit, self.settings.output_limit, cancellation, progress).await;
        notes.insert("command", report::facts(&finished));
        report::answer(&command, finished)
    }

    /// The command as it would run; one that may not be run is shown to be so.
    async fn show_command(
        &self,
        command: Option<&str>,
        program: Option<&str>,
        arguments: &[String],
        directory: &Path,
        _timeout: u32,
    ) -> Result<Effect, HandlerError> {
        let command = Command::new(command, program, arguments)?;
        let folder = self.settings.seen_from_inside(directory);
        let (settings, checked, asked) = (self.settings.clone(), command.clone(), folder.clone());
        spawn_blocking(move || settings.check(&checked, &asked)).await??;
        Ok(Effect::Command(match folder.to_string_lossy() {
            folder if folder.is_empty() => command.to_string(),
            folder => format!("cd {} && {command}", quoted(&folder)),
        }))
    }
}

/// How long a command may run. Where the call's deadline comes first, a little is left of it to answer what was
/// printed until then.
fn until(timeout: Duration, deadline: &Deadline) -> Duration {
    match deadline.remaining() {
        Some(remaining) => timeout.min(remaining.saturating_sub((remaining / 10).min(MARGIN))),
        None => timeout,
    }
}

const MARGIN: Duration = Duration::from_millis(500);
