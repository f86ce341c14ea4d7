//! Compiles and runs a random crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::render::Sources;

/// A random crate written to disk.
pub struct Build {
    folder: PathBuf,
    target: PathBuf,
}

/// The name of every random crate.
pub const CRATE: &str = "random_services";

const MAIN: &str = "fn main() {
    // Random types can be large, and without optimizations a value is copied many times.
    let write = || print!(\"{}\", tool_runtime::Manifest::linked().to_json());
    std::thread::Builder::new().stack_size(512 << 20).spawn(write).unwrap().join().unwrap();
    // A crate that is never named is dropped by the linker.
    let _ = random_services::LINKED;
}
";

impl Build {
    /// Writes the crate to a directory. `target` is cargo's target directory, so that dependencies are built once.
    ///
    /// # Errors
    /// Returns an error if the files cannot be written.
    pub fn write(folder: &Path, target: &Path, sources: &Sources) -> io::Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let src = folder.join("src");
        if src.exists() {
            fs::remove_dir_all(&src)?;
        }
        for (path, text) in &sources.files {
            let path = src.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&src))?;
            fs::write(path, text)?;
        }
        let root = src.join("lib.rs");
        let text = fs::read_to_string(&root)? + "\n/// Names the crate.\npub const LINKED: () = ();\n";
        fs::write(root, text)?;
        fs::write(src.join("main.rs"), MAIN)?;
        fs::write(folder.join("Cargo.toml"), manifest(&workspace.canonicalize()?))?;
        fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Self { folder: folder.to_owned(), target: target.to_owned() })
    }

    /// Returns the root file of the library.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.join("src/lib.rs")
    }

    /// Returns the output of the program: the manifest of everything linked into it.
    ///
    /// # Errors
    /// Returns the messages of rustc if the crate does not compile.
    pub fn linked(&self) -> Result<String, String> {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["run", "--quiet", "--offline", "--manifest-path"])
            .arg(self.folder.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", &self.target)
            .output()
            .map_err(|error| format!("cargo does not run: {error}"))?;
        if !output.status.success() {
            return Err(format!("{}: {}", self.folder.display(), String::from_utf8_lossy(&output.stderr)));
        }
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    }
}

fn manifest(workspace: &Path) -> String {
    format!(
        r#"[package]
name = "random-services"
version = "0.0.0"
edition = "2024"
publish = false

[features]
default = ["on"]
on = []
off = []

[dependencies]
chrono = {{ version = "0.4", default-features = false, features = ["clock", "serde"] }}
schemars = {{ version = "1", default-features = false, features = ["derive", "std"] }}
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tool-runtime = {{ path = {:?}, features = ["url"] }}
url = "2"
uuid = {{ version = "1", default-features = false }}

# As the tests of the workspace are built, so that they share their dependencies.
[profile.dev]
debug = false
incremental = false

[workspace]
"#,
        workspace.join("tool-runtime")
    )
}
