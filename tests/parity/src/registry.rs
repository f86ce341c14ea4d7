//! Scans of the crates in cargo's registry on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

use tool_gen::Severity;

/// Returns the root file of each library in the registry, sorted by directory.
#[must_use]
pub fn roots() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default();
    let crates = folders(&home.join("registry/src")).into_iter().flat_map(|registry| folders(&registry));
    crates.filter_map(|folder| root(&folder)).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Returns the root file of a library: from `Cargo.toml`, or else cargo's default.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()?;
    let said = manifest.get("lib").and_then(|lib| lib.get("path")).and_then(toml::Value::as_str);
    Some(folder.join(said.unwrap_or("src/lib.rs"))).filter(|root| root.is_file())
}

/// Statistics of several scans.
#[derive(Clone, Debug, Default)]
pub struct ScanCounts {
    /// Number of crates that were scanned.
    pub crates: usize,
    /// Number of crates whose scan gave an error instead of a manifest.
    pub failed: usize,
    /// Number of files that were read.
    pub files: usize,
    /// Total size of the files.
    pub bytes: u64,
    /// Number of tools that were found.
    pub tools: usize,
    /// Diagnostics without names and numbers, and how often each occurred.
    pub diagnostics: BTreeMap<(Severity, String), usize>,
}

/// Copies a crate, making every public function a tool and every `impl` a class. Returns the root file of the copy.
///
/// Few of these tools would compile, but the whole crate is parsed and the types of its functions are resolved.
///
/// # Errors
/// Returns an error if the copy cannot be written.
pub fn annotate(root: &Path, into: &Path) -> io::Result<PathBuf> {
    let Some(folder) = root.ancestors().find(|folder| folder.join("Cargo.toml").is_file()) else {
        return Err(io::Error::other(format!("{} belongs to no crate", root.display())));
    };
    copy(folder, into)?;
    Ok(into.join(root.strip_prefix(folder).unwrap_or(root)))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to)?;
        } else if from.extension().is_some_and(|extension| extension == "rs") {
            let text = String::from_utf8_lossy(&fs::read(&from)?).into_owned();
            let text = text.replace("\npub fn ", "\n#[tool]\npub fn ").replace("\nimpl ", "\n#[tool_class]\nimpl ");
            fs::write(&to, text.replace("\npub async fn ", "\n#[tool]\npub async fn "))?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

impl ScanCounts {
    /// Scans one crate. Panics are not caught: they must not happen.
    pub fn scan(&mut self, root: &Path) {
        self.crates += 1;
        let Ok(scanned) = tool_gen::scan(root).run() else {
            self.failed += 1;
            return;
        };
        self.files += scanned.files.len();
        self.bytes +=
            scanned.files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum::<u64>();
        self.tools += scanned.manifest.len();
        for diagnostic in scanned.diagnostics {
            *self.diagnostics.entry((diagnostic.severity, kind(&diagnostic.message))).or_default() += 1;
        }
    }
}

/// Normalizes a message: removes quoted names, paths and numbers.
fn kind(message: &str) -> String {
    let quoted = message.split('`').enumerate();
    let words: String = quoted.map(|(index, part)| if index % 2 == 0 { part } else { ".." }).collect();
    let differs =
        |word: &str| word.contains(['/', ':']) && !word.ends_with(':') || word.contains(|c: char| c.is_ascii_digit());
    words.split(' ').map(|word| if differs(word) { ".." } else { word }).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for ScanCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { crates, failed, files, bytes, tools, diagnostics } = self;
        writeln!(f, "{crates} crates ({failed} failed), {files} files, {bytes} bytes, {tools} tools")?;
        for ((severity, kind), count) in diagnostics {
            writeln!(f, "{count:6} {severity:?}: {kind}")?;
        }
        Ok(())
    }
}
