//! Published crates that `tool-gen adopt` annotates, compiled and called.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use tool_gen::adopt::{AnnotationStyle, DependencySources};

use crate::adopt::PublishedCrate;

/// A published crate, what is adopted of it, and a program that calls its tools.
pub struct AdoptedCrate {
    /// The crate.
    pub krate: PublishedCrate,
    /// Its features, without the default ones.
    pub features: &'static [&'static str],
    /// The classes to annotate.
    pub classes: &'static [&'static str],
    /// The instances of generic classes.
    pub instances: &'static [&'static str],
    /// The source of the program, which prints the results of its calls.
    pub program: &'static str,
    /// Dependencies of the program, as lines of `Cargo.toml`.
    pub dependencies: &'static str,
}

impl AdoptedCrate {
    /// Copies the crate from `sources`, annotates the copy in `directory`, compiles it and runs the program. Returns what
    /// the program prints.
    ///
    /// # Errors
    /// Returns an error if the crate cannot be annotated, or the messages of rustc if it does not compile.
    pub fn run(&self, sources: &Path, directory: &Path, target: &Path) -> io::Result<String> {
        let library = directory.join("library");
        if library.exists() {
            fs::remove_dir_all(&library)?;
        }
        copy(sources, &library)?;
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-runtime").canonicalize()?;
        let cargo_toml = library.join("Cargo.toml");
        let text = fs::read_to_string(&cargo_toml)?;
        fs::write(&cargo_toml, format!("{text}\n[dependencies.tool-runtime]\npath = {runtime:?}\n"))?;
        let program = self.write_program(directory, &runtime)?;
        cargo(&["fetch"], &program, target)?;
        self.annotate(&library, &program)?;
        cargo(&["run", "--quiet", "--offline"], &program, target)
    }

    fn write_program(&self, directory: &Path, runtime: &Path) -> io::Result<PathBuf> {
        let program = directory.join("program");
        fs::create_dir_all(program.join("src"))?;
        fs::write(program.join("src/main.rs"), self.program)?;
        let (name, features, dependencies) = (self.krate.name, self.features, self.dependencies);
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [profile.dev]\ndebug = false\nincremental = false\n\n[dependencies]\n\
             {name} = {{ path = \"../library\", default-features = false, features = {features:?} }}\n\
             tool-runtime = {{ path = {runtime:?} }}\nserde_json = \"1\"\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"net\", \"io-util\", \"rt-multi-thread\"] }}\n{dependencies}"
        );
        fs::write(program.join("Cargo.toml"), manifest)?;
        Ok(program)
    }

    fn annotate(&self, library: &Path, program: &Path) -> io::Result<()> {
        let dependencies = DependencySources::resolve(&program.join("Cargo.toml")).map_err(io::Error::other)?;
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let missing = || io::Error::other(format!("{} has no library", library.display()));
        let root = crate::registry::root(library).ok_or_else(missing)?;
        let scan = tool_gen::scan(root).features(owned(self.features));
        let report = scan.adopt(&dependencies, &owned(self.instances)).map_err(io::Error::other)?;
        let edits = report.edits(&owned(self.classes), AnnotationStyle::OptIn).map_err(io::Error::other)?;
        edits.into_iter().try_for_each(|edit| fs::write(edit.file, edit.text))
    }
}

fn cargo(arguments: &[&str], program: &Path, target: &Path) -> io::Result<String> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .current_dir(program)
        .env("CARGO_TARGET_DIR", target)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Copies a directory, without the files that configure Cargo on the author's machine.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            if entry.file_name() != ".cargo" {
                copy(&from, &to)?;
            }
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
