use std::path::PathBuf;
use std::process::Command;

use crate::directory::PackageDirectory;
use crate::run;

/// A set of Node packages.
pub struct Npm {
    packages: &'static [&'static str],
    directory: PackageDirectory,
}

impl Npm {
    /// Each of `packages` is a `name@version`, including `node`, because the system's may be too old. `variable` is the
    /// environment variable that makes them required, `target` is `env!("CARGO_TARGET_TMPDIR")`, which only tests have.
    pub const fn new(packages: &'static [&'static str], variable: &'static str, target: &'static str) -> Self {
        Self { packages, directory: PackageDirectory::new(variable, target) }
    }

    /// Returns Node with the packages. Returns `None` and prints a notice if they are neither available nor required.
    pub fn installed(&self) -> Option<Node> {
        let directory = self.directory.installed("npm", self.packages, |directory| {
            let arguments = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
            run(Command::new("npm").args(arguments).arg(directory).args(self.packages)).map(drop)
        })?;
        Some(Node { modules: directory.join("node_modules") })
    }
}

/// Node with its installed packages.
pub struct Node {
    modules: PathBuf,
}

impl Node {
    /// Returns a command that runs Node.
    pub fn program(&self) -> PathBuf {
        self.modules.join(".bin/node")
    }

    /// Returns the directory of a package.
    pub fn package(&self, name: &str) -> PathBuf {
        self.modules.join(name)
    }

    /// Returns a command that runs a program of one of the packages with this Node.
    pub fn command(&self, program: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bin = self.modules.join(".bin");
        let path = [bin.clone()].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(bin.join(program));
        command.env("PATH", std::env::join_paths(path).expect("paths without colons"));
        command
    }
}
