use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::run;

/// Packages of Node.
pub struct Npm {
    packages: &'static [&'static str],
    folder: Folder,
}

impl Npm {
    /// `packages` are each a `name@version`, with a `node` among them: what the system has may be too old. `variable` is
    /// the one that says whether they are required, `target` is `env!("CARGO_TARGET_TMPDIR")`, which only tests have.
    pub const fn new(packages: &'static [&'static str], variable: &'static str, target: &'static str) -> Self {
        Self { packages, folder: Folder::new(variable, target) }
    }

    /// A Node with the packages; nothing, with a word about it, where it cannot be had and need not.
    pub fn installed(&self) -> Option<Node> {
        let folder = self.folder.installed("npm", self.packages, |folder| {
            let arguments = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
            run(Command::new("npm").args(arguments).arg(folder).args(self.packages)).map(drop)
        })?;
        Some(Node { modules: folder.join("node_modules") })
    }
}

/// The Node that came with the packages it was asked for.
pub struct Node {
    modules: PathBuf,
}

impl Node {
    /// Node itself.
    pub fn program(&self) -> PathBuf {
        self.modules.join(".bin/node")
    }

    /// The folder of a package, by its name.
    pub fn package(&self, name: &str) -> PathBuf {
        self.modules.join(name)
    }

    /// A program of one of the packages, which is run by this Node.
    pub fn command(&self, program: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bin = self.modules.join(".bin");
        let path = [bin.clone()].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(bin.join(program));
        command.env("PATH", std::env::join_paths(path).expect("paths without colons"));
        command
    }
}
