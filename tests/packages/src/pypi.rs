use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::run;

/// Packages of Python.
pub struct PyPi {
    requirements: &'static str,
    folder: Folder,
}

impl PyPi {
    /// `requirements` is the text of a `requirements.txt` with a `name==version` in each line, `variable` the one that
    /// says whether they are required, `target` is `env!("CARGO_TARGET_TMPDIR")`, which only tests have.
    pub const fn new(requirements: &'static str, variable: &'static str, target: &'static str) -> Self {
        Self { requirements, folder: Folder::new(variable, target) }
    }

    /// A Python with the packages; nothing, with a word about it, where it cannot be had and need not.
    pub fn installed(&self) -> Option<Python> {
        let packages: Vec<&str> = self.requirements.split_whitespace().collect();
        let python = |folder: PathBuf| Python { program: folder.join(PROGRAM) };
        let folder = self.folder.installed("python", &packages, |folder| {
            run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            run(python(folder.to_owned()).command().args(pip).args(&packages)).map(drop)
        })?;
        Some(python(folder))
    }
}

const PROGRAM: &str = if cfg!(windows) { "Scripts/python" } else { "bin/python" };

/// A Python that has the packages it was asked for.
pub struct Python {
    program: PathBuf,
}

impl Python {
    /// This Python, to be given a script, or a module with `-m`. It writes nothing beside the sources that it reads.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-B");
        command
    }
}
