//! The acceptance report of `tool-gen adopt` over published crates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io};

use tool_gen::adopt::{AdoptReason, AdoptReport, ClassCandidate, DependencySources, Fit, TypeRole};

/// A published crate.
#[derive(Clone, Copy, Debug)]
pub struct PublishedCrate {
    /// Its name in the registry.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// `true` if it is the client of a remote service.
    pub is_sdk: bool,
}

const fn published(name: &'static str, version: &'static str, is_sdk: bool) -> PublishedCrate {
    PublishedCrate { name, version, is_sdk }
}

/// Service-like crates of different domains.
pub const CRATES: [PublishedCrate; 11] = [
    published("taskchampion", "3.1.0", false),
    published("pueue-lib", "0.31.1", false),
    published("atuin-client", "18.23.0", false),
    published("rustic_core", "0.13.0", false),
    published("git-cliff-core", "2.14.2", false),
    published("octocrab", "0.54.9", true),
    published("meilisearch-sdk", "0.33.0", true),
    published("vaultrs", "0.8.0", true),
    published("rspotify", "0.16.1", true),
    published("bollard", "0.21.1", true),
    published("kanidm_client", "1.9.1", true),
];

/// The sources of published crates, downloaded by Cargo.
pub struct Registry {
    directory: PathBuf,
    dependencies: DependencySources,
}

impl Registry {
    /// Downloads the crates and their dependencies. `directory` gets a package that depends on them.
    ///
    /// # Errors
    /// Returns an error if Cargo cannot download them.
    pub fn download(directory: &Path, crates: &[PublishedCrate]) -> io::Result<Self> {
        let lines: String = crates.iter().map(|krate| format!("{} = \"={}\"\n", krate.name, krate.version)).collect();
        let package = "[package]\nname = \"downloads\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::create_dir_all(directory.join("src"))?;
        fs::write(directory.join("src/lib.rs"), "")?;
        let cargo_toml = directory.join("Cargo.toml");
        fs::write(&cargo_toml, format!("{package}\n[dependencies]\n{lines}"))?;
        let fetched = Command::new("cargo").arg("fetch").arg("--manifest-path").arg(&cargo_toml).status()?;
        if !fetched.success() {
            return Err(io::Error::other("cargo could not download the crates"));
        }
        let dependencies = DependencySources::resolve(&cargo_toml).map_err(io::Error::other)?;
        Ok(Self { directory: directory.to_owned(), dependencies })
    }

    /// Returns the directory of a crate's sources.
    #[must_use]
    pub fn sources(&self, krate: &PublishedCrate) -> Option<PathBuf> {
        self.dependencies.directory(&self.directory, &krate.name.replace('-', "_"))
    }

    /// Reads the candidates of a crate.
    ///
    /// # Errors
    /// Returns an error if the crate was not downloaded or cannot be read.
    pub fn adopt(&self, krate: &PublishedCrate) -> io::Result<AdoptReport> {
        let missing = || io::Error::other(format!("{} was not downloaded", krate.name));
        let root = crate::registry::root(&self.sources(krate).ok_or_else(missing)?).ok_or_else(missing)?;
        tool_gen::scan(root).features(["default"]).adopt(&self.dependencies, &[]).map_err(io::Error::other)
    }
}

/// The number of methods with each verdict, and the reasons.
#[derive(Clone, Debug, Default)]
pub struct AdoptCounts {
    verdicts: BTreeMap<Fit, usize>,
    reasons: BTreeMap<AdoptReason, usize>,
}

impl AdoptCounts {
    /// Counts the public methods of public types with a role.
    #[must_use]
    pub fn new(report: &AdoptReport, is_counted: impl Fn(&ClassCandidate) -> bool) -> Self {
        let mut counts = Self::default();
        for class in report.classes.iter().filter(|class| class.is_public && is_counted(class)) {
            for method in &class.methods {
                *counts.verdicts.entry(method.fit).or_default() += 1;
                let mut reasons: Vec<AdoptReason> = method.findings.iter().map(|finding| finding.reason).collect();
                reasons.sort_unstable();
                reasons.dedup();
                // A method that does not fit is counted once for each reason that attributes do not remove.
                reasons.retain(|reason| method.fit.is_fit() || !reason.is_attribute());
                reasons.into_iter().for_each(|reason| *counts.reasons.entry(reason).or_default() += 1);
            }
        }
        counts
    }

    /// Adds the counts of another crate.
    pub fn add(&mut self, other: &Self) {
        other.verdicts.iter().for_each(|(fit, count)| *self.verdicts.entry(*fit).or_default() += count);
        other.reasons.iter().for_each(|(reason, count)| *self.reasons.entry(*reason).or_default() += count);
    }

    /// Returns the number of methods with a verdict.
    #[must_use]
    pub fn of(&self, fit: Fit) -> usize {
        self.verdicts.get(&fit).copied().unwrap_or_default()
    }

    /// Returns the number of operations: all methods but constructors and setters.
    #[must_use]
    pub fn operations(&self) -> usize {
        [Fit::Unchanged, Fit::Attributes, Fit::Conversion, Fit::Unknown, Fit::Unfit]
            .into_iter()
            .map(|fit| self.of(fit))
            .sum()
    }

    /// Returns the share of operations that fit, in percent. Unknown ones count as unfit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub fn percent(&self) -> f64 {
        let fitting = self.of(Fit::Unchanged) + self.of(Fit::Attributes);
        100.0 * fitting as f64 / self.operations().max(1) as f64
    }

    /// Returns the reasons, most frequent first.
    #[must_use]
    pub fn reasons(&self) -> Vec<(AdoptReason, usize)> {
        let mut reasons: Vec<_> = self.reasons.iter().map(|(reason, count)| (*reason, *count)).collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
        reasons
    }
}

impl fmt::Display for AdoptCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:5} {:9} {:10} {:6.1} % {:10} {:7} {:5} {:12} {:7}",
            self.operations(),
            self.of(Fit::Unchanged),
            self.of(Fit::Attributes),
            self.percent(),
            self.of(Fit::Conversion),
            self.of(Fit::Unknown),
            self.of(Fit::Unfit),
            self.of(Fit::Constructor),
            self.of(Fit::Setter),
        )
    }
}

/// Returns `true` for services, and `false` for data and builders.
#[must_use]
pub fn is_service(class: &ClassCandidate) -> bool {
    class.role == TypeRole::Service
}
