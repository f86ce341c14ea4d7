//! The settings of commands, and launching one.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::process::{ChildStderr, ChildStdout};
use tool_runtime::HandlerError;
use tool_runtime::display::excerpt;

use super::command::RequestedCommand;
use super::confine::{self, Confinement, WriteConfinement};
use super::directory::open_beneath;
use super::environment::CommandEnvironment;
use super::program::{ProgramRules, SHELL, find};
use super::tree::{
    LaunchError, LaunchPlan, MAX_WRITABLE, ProcessCleanup, ProcessTree, TreeStart, UserMapping, environment_range,
};

/// The application's settings, shared by all commands.
#[derive(Clone, Debug)]
pub(super) struct ExecSettings {
    /// The workspace directory, opened once.
    pub workspace: Arc<OwnedFd>,
    /// The canonical path of the workspace.
    pub path: PathBuf,
    /// Further paths that commands may write to.
    pub writable: Vec<PathBuf>,
    pub environment: CommandEnvironment,
    pub rules: ProgramRules,
    pub network: bool,
    /// `true` if commands may run on systems that cannot confine their writes.
    pub allow_unconfined: bool,
    /// The number of bytes to keep of each stream.
    pub output_limit: usize,
    /// The only cleanup to use, if one was configured.
    pub cleanup: Option<ProcessCleanup>,
}

/// A command that has been started.
pub(super) struct StartedCommand {
    pub tree: ProcessTree,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub confinement: Confinement,
}

impl ExecSettings {
    /// Makes a directory relative to the workspace. Models repeat paths from results, so an absolute path inside the
    /// workspace is accepted.
    pub fn relative_directory(&self, directory: &Path) -> PathBuf {
        directory.strip_prefix(&self.path).unwrap_or(directory).to_owned()
    }

    /// Checks that a command may run, and returns the path of its program. Blocks briefly.
    pub fn check(&self, command: &RequestedCommand, directory: &Path) -> Result<PathBuf, HandlerError> {
        let name = c_string(directory).map_err(|error| directory_error(directory, &error))?;
        open_beneath(&*self.workspace, &name).map_err(|error| directory_error(directory, &error))?;
        let path = self.environment.path();
        match command {
            RequestedCommand::Line(line) => {
                self.rules.check_line(line, path).map_err(HandlerError::failed)?;
                Ok(SHELL.into())
            }
            RequestedCommand::Program { program, .. } => {
                let file = find(program, path, &self.path.join(directory)).ok_or_else(|| no_such_program(program))?;
                self.rules.check(program, &file, path).map_err(HandlerError::failed)
            }
        }
    }

    /// Starts a command. Blocks briefly.
    pub fn start(&self, command: &RequestedCommand, directory: &Path) -> Result<StartedCommand, HandlerError> {
        let file = self.check(command, directory)?;
        match self.with_fallback(|cleanup| {
            let mut process = Process::new(&file);
            match command {
                RequestedCommand::Line(line) => process.args(["-c", line]),
                RequestedCommand::Program { program, arguments } => process.arg0(program).args(arguments),
            };
            self.start_in(cleanup, process, directory, false)
        })? {
            Ok(started) => Ok(started),
            Err(LaunchError::NoNamespaces) => Err(HandlerError::fatal("This system does not allow PID namespaces.")),
            Err(LaunchError::Feasible) => Err(HandlerError::fatal("The command was only probed, not run.")),
            Err(LaunchError::Other(error)) => {
                let command = command.to_string();
                Err(HandlerError::failed(format!("`{}` cannot be run: {error}.", excerpt(&command))))
            }
        }
    }

    /// Returns the confinement that commands would have. Blocks briefly, since namespace support has to be probed.
    pub fn confinement(&self) -> Result<Confinement, HandlerError> {
        let mut tried = None;
        let outcome = self.with_fallback(|cleanup| {
            tried = Some(cleanup);
            self.start_in(cleanup, Process::new(SHELL), Path::new(""), true)
        })?;
        match (outcome, tried) {
            (Err(LaunchError::Feasible), Some(cleanup)) => Ok(self.confinement_with(cleanup)),
            (Err(LaunchError::Other(error)), _) => Err(error.into()),
            _ => Err(HandlerError::fatal("This system does not allow PID namespaces.")),
        }
    }

    /// Tries the configured cleanup, or else PID namespaces with subreapers as the fallback.
    fn with_fallback(
        &self,
        mut start: impl FnMut(ProcessCleanup) -> Result<Result<StartedCommand, LaunchError>, HandlerError>,
    ) -> Result<Result<StartedCommand, LaunchError>, HandlerError> {
        match start(self.cleanup.unwrap_or(ProcessCleanup::PidNamespace))? {
            Err(LaunchError::NoNamespaces) if self.cleanup.is_none() => start(ProcessCleanup::Subreaper),
            outcome => Ok(outcome),
        }
    }

    fn start_in(
        &self,
        cleanup: ProcessCleanup,
        mut command: Process,
        directory: &Path,
        probe: bool,
    ) -> Result<Result<StartedCommand, LaunchError>, HandlerError> {
        let confinement = self.confinement_with(cleanup);
        if confinement.writes != WriteConfinement::Confined && !self.allow_unconfined {
            return Err(HandlerError::fatal("Commands cannot run here: this system cannot confine their writes."));
        }
        let scratch = TempDir::with_prefix("tool-exec-")?;
        let (control, supervisor_control) = UnixStream::pair()?;
        let writable: Vec<PathBuf> =
            [scratch.path().to_owned()].into_iter().chain(self.writable.iter().cloned()).collect();
        command.env_clear().envs(self.environment.with_scratch(scratch.path()));
        let plan = LaunchPlan {
            cleanup,
            workspace: self.workspace.clone(),
            directory: c_string(directory)?,
            writable: self.writable_mounts(&writable)?,
            rules: confine::landlock_rules(self.workspace.as_fd(), &writable, self.network)?,
            no_network: if self.network { None } else { Some(confine::network_filter()?) },
            control: supervisor_control,
            environment: environment_range(),
            identity: UserMapping::for_current_user(),
            probe,
        };
        let start = TreeStart { command, plan, control, scratch };
        Ok(ProcessTree::start(start).map(|(tree, stdout, stderr)| StartedCommand { tree, stdout, stderr, confinement }))
    }

    /// Returns the paths to keep writable while everything else is mounted read-only, or `None` if the mounts must stay as they are.
    ///
    /// A writable path that contains the workspace would be mounted on top of it.
    fn writable_mounts(&self, writable: &[PathBuf]) -> io::Result<Option<Vec<CString>>> {
        let mut real: Vec<PathBuf> = writable.iter().map(|path| path.canonicalize()).collect::<Result<_, _>>()?;
        real.sort();
        if real.len() > MAX_WRITABLE || real.iter().any(|path| self.path.starts_with(path)) {
            return Ok(None);
        }
        real.iter().map(|path| c_string(path)).collect::<Result<_, _>>().map(Some)
    }

    fn confinement_with(&self, cleanup: ProcessCleanup) -> Confinement {
        Confinement { tree: cleanup, writes: WriteConfinement::detect(), network: self.network }
    }
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn directory_error(directory: &Path, error: &io::Error) -> HandlerError {
    let shown = directory.to_string_lossy();
    let shown = excerpt(&shown);
    HandlerError::retry(match error.kind() {
        io::ErrorKind::CrossesDevices => format!("`{shown}` is outside the workspace, or leads there."),
        io::ErrorKind::NotFound => format!("The directory `{shown}` does not exist in the workspace."),
        io::ErrorKind::NotADirectory => format!("`{shown}` is not a directory."),
        _ => format!("The directory `{shown}` cannot be opened: {error}."),
    })
}

fn no_such_program(program: &str) -> HandlerError {
    let place = if program.contains('/') { "in the workspace" } else { "on the `PATH`" };
    HandlerError::retry(format!("There is no executable program `{}` {place}.", excerpt(program)))
}
