//! From what a call asks for to a command that is ready to start.

use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use tempfile::TempDir;
use tokio::process::{ChildStderr, ChildStdout};
use tool_runtime::HandlerError;
use tool_runtime::display::escape;

use super::command::Command;
use super::confine::{self, Confinement, Writes};
use super::directory::open_below;
use super::program::{SHELL, find};
use super::settings::Settings;
use super::tree::{Identity, MOST, Plan, Start, StartError, Tree, Way, environment};

/// A command that has been started.
pub(super) struct Started {
    pub tree: Tree,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub confinement: Confinement,
}

impl Settings {
    /// A folder as seen from the workspace. One that begins with the workspace's own path is taken as relative to it,
    /// because models repeat what they read.
    pub fn seen_from_inside(&self, folder: &Path) -> PathBuf {
        folder.strip_prefix(&self.path).unwrap_or(folder).to_owned()
    }

    /// Whether a command may be run, and the file of its program. It blocks for a moment.
    pub fn check(&self, command: &Command, folder: &Path) -> Result<PathBuf, HandlerError> {
        let name = c_string(folder).map_err(|error| no_such_folder(folder, &error))?;
        open_below(&*self.workspace, &name).map_err(|error| no_such_folder(folder, &error))?;
        let path = self.environment.path();
        match command {
            Command::Line(line) => {
                self.rules.check_line(line, path).map_err(HandlerError::failed)?;
                Ok(SHELL.into())
            }
            Command::Program { program, .. } => {
                let file = find(program, path, &self.path.join(folder)).ok_or_else(|| no_such_program(program))?;
                self.rules.check(program, &file, path).map_err(HandlerError::failed)
            }
        }
    }

    /// Starts a command. It blocks for a moment.
    pub fn start(&self, command: &Command, folder: &Path) -> Result<Started, HandlerError> {
        let file = self.check(command, folder)?;
        match self.try_ways(|way| {
            let mut process = Process::new(&file);
            match command {
                Command::Line(line) => process.args(["-c", line]),
                Command::Program { program, arguments } => process.arg0(program).args(arguments),
            };
            self.start_in(way, process, folder, false)
        })? {
            Ok(started) => Ok(started),
            Err(StartError::NoNamespaces) => Err(HandlerError::fatal("This system does not allow PID namespaces.")),
            Err(StartError::Feasible) => Err(HandlerError::fatal("The command was only tried.")),
            Err(StartError::Other(error)) => Err(HandlerError::failed(format!("`{command}` cannot be run: {error}."))),
        }
    }

    /// What would be enforced. It blocks for a moment: whether namespaces are allowed can only be tried.
    pub fn confinement(&self) -> Result<Confinement, HandlerError> {
        let mut tried = None;
        let outcome = self.try_ways(|way| {
            tried = Some(way);
            self.start_in(way, Process::new(SHELL), Path::new(""), true)
        })?;
        match (outcome, tried) {
            (Err(StartError::Feasible), Some(way)) => Ok(self.confined(way)),
            (Err(StartError::Other(error)), _) => Err(error.into()),
            _ => Err(HandlerError::fatal("This system does not allow PID namespaces.")),
        }
    }

    /// The better way, or else the other, or the one that was chosen.
    fn try_ways(
        &self,
        mut start: impl FnMut(Way) -> Result<Result<Started, StartError>, HandlerError>,
    ) -> Result<Result<Started, StartError>, HandlerError> {
        match start(self.way.unwrap_or(Way::PidNamespace))? {
            Err(StartError::NoNamespaces) if self.way.is_none() => start(Way::Subreaper),
            outcome => Ok(outcome),
        }
    }

    fn start_in(
        &self,
        way: Way,
        mut command: Process,
        folder: &Path,
        only_tried: bool,
    ) -> Result<Result<Started, StartError>, HandlerError> {
        let confinement = self.confined(way);
        if confinement.writes != Writes::Confined && !self.unconfined {
            return Err(HandlerError::fatal("This system cannot confine what a command writes, so none is run."));
        }
        let scratch = TempDir::with_prefix("tool-exec-")?;
        let (control, other_side) = UnixStream::pair()?;
        let writable: Vec<PathBuf> =
            [scratch.path().to_owned()].into_iter().chain(self.writable.iter().cloned()).collect();
        command.env_clear().envs(self.environment.with_scratch(scratch.path()));
        let plan = Plan {
            way,
            workspace: self.workspace.clone(),
            folder: c_string(folder)?,
            writable: self.left_writable(&writable)?,
            rules: confine::rules(self.workspace.as_fd(), &writable, self.network)?,
            no_network: if self.network { None } else { Some(confine::filter()?) },
            control: other_side,
            environment: environment(),
            identity: Identity::of_this_process(),
            only_tried,
        };
        let start = Start { command, plan, control, scratch };
        Ok(Tree::start(start).map(|(tree, stdout, stderr)| Started { tree, stdout, stderr, confinement }))
    }

    /// What stays writable where the rest is made read-only; nothing if the rest must stay as it is.
    ///
    /// Paths that hold the workspace would be put on top of it.
    fn left_writable(&self, writable: &[PathBuf]) -> io::Result<Option<Vec<CString>>> {
        let mut real: Vec<PathBuf> = writable.iter().map(|path| path.canonicalize()).collect::<Result<_, _>>()?;
        real.sort();
        if real.len() > MOST || real.iter().any(|path| self.path.starts_with(path)) {
            return Ok(None);
        }
        real.iter().map(|path| c_string(path)).collect::<Result<_, _>>().map(Some)
    }

    fn confined(&self, way: Way) -> Confinement {
        Confinement { tree: way, writes: Writes::of_this_kernel(), network: self.network }
    }
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn no_such_folder(folder: &Path, error: &io::Error) -> HandlerError {
    let shown = folder.to_string_lossy();
    let shown = escape(&shown);
    HandlerError::retry(match error.kind() {
        io::ErrorKind::CrossesDevices => format!("`{shown}` is outside the workspace, or leads there."),
        io::ErrorKind::NotFound => format!("There is no folder `{shown}` in the workspace."),
        io::ErrorKind::NotADirectory => format!("`{shown}` is no folder."),
        _ => format!("`{shown}` is no folder of the workspace: {error}."),
    })
}

fn no_such_program(program: &str) -> HandlerError {
    let place = if program.contains('/') { "in the workspace" } else { "on the path" };
    HandlerError::retry(format!("There is no program `{program}` {place} that may be executed."))
}
