//! A package in a temporary directory. It is never compiled, so it needs no dependencies.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Two tools.
pub(crate) const TOOLS: &str = r#"
use tool_runtime::tool;

/// The newest points of one host.
///
/// # Arguments
/// * `host` - Host name.
/// * `limit` - How many at most.
#[tool(name = "metrics.newest", read_only)]
pub fn newest(host: String, #[arg(default = 10, max = 100)] limit: u32) -> String {
    format!("{host} {limit}")
}

/// Forget a host.
#[tool(name = "metrics.purge", sensitive, destructive)]
pub fn purge(
    /// Host name.
    host: String,
) {
}
"#;

/// A package in a temporary directory.
pub(crate) struct Project {
    directory: TempDir,
}

/// The exit code and output of a run.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// Creates the package `shop` with these tools.
    pub(crate) fn with(source: &str) -> Self {
        let project = Self { directory: tempfile::tempdir().unwrap() };
        project.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        project.write("src/lib.rs", source);
        project
    }

    pub(crate) fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Replaces a part of a file.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) -> &Self {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from}");
        self.write(file, &text.replace(from, to))
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from_output(command(self.directory.path()).args(arguments).output().unwrap())
    }

    /// Returns a command for the binary in this directory.
    pub(crate) fn command(&self) -> Command {
        command(self.directory.path())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, serde_json::Value) {
        let ran = self.run(&[arguments, &["--format", "json"]].concat());
        let value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
        (ran.code, value)
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"];
        let output =
            Command::new("git").current_dir(self.directory.path()).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "A step"]);
    }
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tool-gen"));
    command.current_dir(directory).env("COLUMNS", "80").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

impl Ran {
    fn from_output(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
