use std::path::PathBuf;
use std::process::Command;

use crate::directory::PackageDirectory;
use crate::run;

/// A set of Python packages.
pub struct PyPi {
    requirements: &'static str,
    directory: PackageDirectory,
}

impl PyPi {
    /// `requirements` is the text of a `requirements.txt` with a `name==version` per line, `variable` the environment
    /// variable that makes them required, `target` is `env!("CARGO_TARGET_TMPDIR")`, which only tests have.
    pub const fn new(requirements: &'static str, variable: &'static str, target: &'static str) -> Self {
        Self { requirements, directory: PackageDirectory::new(variable, target) }
    }

    /// Returns Python with the packages. Returns `None` and prints a notice if they are neither available nor required.
    pub fn installed(&self) -> Option<Python> {
        let packages: Vec<&str> = self.requirements.split_whitespace().collect();
        let python = |directory: PathBuf| Python { program: directory.join(PROGRAM) };
        let directory = self.directory.installed("python", &packages, |directory| {
            run(Command::new("python3").args(["-m", "venv"]).arg(directory))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            run(python(directory.to_owned()).command().args(pip).args(&packages)).map(drop)
        })?;
        Some(python(directory))
    }
}

const PROGRAM: &str = if cfg!(windows) { "Scripts/python" } else { "bin/python" };

/// Python with its installed packages.
pub struct Python {
    program: PathBuf,
}

impl Python {
    /// Returns a command that runs Python, for a script or `-m MODULE`. Writes no bytecode beside the sources.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-B");
        command
    }

    /// Returns a command that runs a program of the packages.
    pub fn program(&self, name: &str) -> Command {
        Command::new(self.program.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
    }
}
