//! Programs and packages that others have published, at fixed versions, installed below the target folder.
//!
//! Where there is no npm or Python, or nowhere to install from, the tests that need them say so and pass; with
//! `MCP_NODE=required` and `MCP_PYTHON=required`, as in CI, they fail instead.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What the tests need of npm, with the Node that it has as a package: what the system has may be too old.
const NPM: [&str; 5] = [
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "node@22.23.3",
];

/// An environment with programs from npm.
pub struct Npm {
    /// The packages.
    modules: PathBuf,
}

impl Npm {
    /// Installs the packages; nothing, with a word about it, where that cannot be done and need not.
    pub fn installed() -> Option<Self> {
        static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| {
            installed("npm", &NPM, |folder| {
                let arguments = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
                run(Command::new("npm").args(arguments).arg(folder).args(NPM)).map(drop)
            })
        });
        let folder = or_skipped(installed.clone(), "MCP_NODE")?;
        Some(Self { modules: folder.join("node_modules") })
    }

    /// The Node that came with the packages.
    pub fn node(&self) -> PathBuf {
        self.modules.join(".bin/node")
    }

    /// The script of a package of MCP.
    pub fn script(&self, package: &str) -> PathBuf {
        self.modules.join("@modelcontextprotocol").join(package).join("dist/index.js")
    }

    /// A program of one of the packages.
    pub fn command(&self, program: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bin = self.modules.join(".bin");
        let path = [bin.clone()].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(bin.join(program));
        command.env("PATH", std::env::join_paths(path).expect("paths without colons"));
        command
    }
}

/// A Python with packages, `name==version`.
pub fn python(packages: &[&str]) -> Option<PathBuf> {
    let bin = |folder: &Path| folder.join(if cfg!(windows) { "Scripts" } else { "bin" }).join("python");
    let installed = installed("python", packages, |folder| {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(bin(folder)).args(pip).args(packages)).map(drop)
    });
    or_skipped(installed, "MCP_PYTHON").map(|folder| bin(&folder))
}

/// The folder in which these packages are installed. It is made under another name and renamed, so that nobody finds
/// it half made, however many want it at once.
fn installed(
    kind: &str,
    packages: &[&str],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    packages.hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{kind}-{:016x}", hasher.finish()));
    if folder.exists() {
        return Ok(folder);
    }
    let own = folder.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    install(&own).inspect_err(|_| drop(fs::remove_dir_all(&own)))?;
    if let Err(error) = fs::rename(&own, &folder) {
        drop(fs::remove_dir_all(&own));
        if !folder.exists() {
            return Err(error.to_string());
        }
    }
    Ok(folder)
}

fn or_skipped(installed: Result<PathBuf, String>, variable: &str) -> Option<PathBuf> {
    match installed {
        Ok(folder) => Some(folder),
        Err(reason) if std::env::var_os(variable).is_none_or(|wanted| wanted != "required") => {
            println!("skipped, what the test needs is not at hand: {reason}");
            None
        }
        Err(reason) => panic!("what the test needs is not at hand: {reason}"),
    }
}

/// What a command prints, if it succeeds.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    Err(format!("{command:?} failed:\n{printed}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// An example of this package, which `cargo test` has built.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let built = test.parent().and_then(Path::parent).expect("it is in `deps`").join("examples").join(name);
    assert!(built.exists(), "{built:?} is missing: `cargo build -p tool-mcp --examples`");
    built
}
