//! The crates of a scan and their dependencies.

use std::cell::{Cell, RefCell};
#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
#[cfg(feature = "cli")]
use std::path::PathBuf;
use std::rc::Rc;

use super::module_tree::{ModuleDirectories, canonical};
use super::names::ItemVisibility;
use super::{Crate, CrateId, SourceFile, SourceTree};
use crate::cfg::is_build_script;
use crate::package::{CargoPackage, Dependency};
use crate::ty::ScopeId;
use crate::{Cfg, Diagnostic, Severity};

/// The root file of a crate to read.
pub(crate) struct CrateRoot<'a> {
    pub(crate) path: &'a Path,
    pub(crate) features: Option<Vec<String>>,
    pub(crate) cfg: &'a Cfg,
    /// `true` to read its tools, not only its types.
    pub(crate) scanned: bool,
}

/// A package as Cargo resolved it.
#[cfg(feature = "cli")]
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolvedPackage {
    /// Its enabled features.
    pub(crate) features: Vec<String>,
    /// The directories of its dependencies, by the names that it uses.
    pub(crate) dependencies: BTreeMap<String, PathBuf>,
}

/// Packages whose types the generator knows without their sources.
#[cfg(feature = "cli")]
pub(crate) const KNOWN_PACKAGES: [&str; 17] = [
    "bigdecimal",
    "bytes",
    "chrono",
    "either",
    "indexmap",
    "ipnet",
    "jiff",
    "rust_decimal",
    "schemars",
    "semver",
    "serde",
    "serde_json",
    "smol_str",
    "time",
    "ulid",
    "url",
    "uuid",
];

impl SourceTree {
    /// Reads all modules of a crate. Only files with annotations are parsed.
    ///
    /// # Errors
    /// Returns an error if the root file or its `Cargo.toml` cannot be read.
    pub(crate) fn add_crate(&self, root: &CrateRoot<'_>) -> Result<ScopeId, Box<Diagnostic>> {
        let general = |message| {
            Box::new(Diagnostic { severity: Severity::Error, message, help: None, place: None, compile_error: false })
        };
        if let Some(known) = self.crate_at(root.path) {
            return Ok(known);
        }
        let package = CargoPackage::containing(root.path).map_err(general)?;
        let name = package.crate_name(root.path).or_else(|| name_of_root(root.path));
        let name = name.ok_or_else(|| {
            general(format!("{}: a crate's root is a file such as `src/lib.rs`", root.path.display()))
        })?;
        let asked: BTreeSet<String> = match (&root.features, self.requested_features(&package)) {
            (Some(features), _) => features.iter().cloned().collect(),
            (None, _) if is_build_script() && is_being_built(&package) => package.features_of_build_script(),
            (None, Some(asked)) => asked.into_iter().collect(),
            (None, None) => BTreeSet::from(["default".to_owned()]),
        };
        let features = package.features(asked);
        let dependencies = package.dependencies(&features);
        let cfg = features.on.into_iter().fold(root.cfg.clone(), |cfg, feature| cfg.value("feature", feature));
        package.files().iter().for_each(|file| self.note_file(file));
        self.note_file(root.path);
        let file = SourceFile::read(root.path)?;
        let id = CrateId(self.crates.borrow().len());
        self.crates.borrow_mut().push(Rc::new(Crate {
            cfg,
            dependencies,
            package,
            scanned: root.scanned,
            root_file: canonical(root.path),
            root: Cell::new(None),
            libraries: RefCell::default(),
        }));
        let directories = ModuleDirectories::beside(root.path);
        let scope = self.add_file(id, None, name, file, directories, ItemVisibility::Everywhere);
        self.krate(id).root.set(Some(scope));
        self.read_modules(scope);
        Ok(scope)
    }

    /// Returns the features that the first crate of the scan requests of a package, if it depends on it.
    fn requested_features(&self, package: &CargoPackage) -> Option<Vec<String>> {
        let first = self.crates.borrow().first().cloned()?;
        let directory = canonical(package.directory.as_deref()?);
        let is_it =
            |dependency: &&Dependency| dependency.path.as_deref().is_some_and(|path| canonical(path) == directory);
        first.dependencies.values().find(is_it).map(|dependency| dependency.features.clone())
    }

    fn crate_at(&self, root: &Path) -> Option<ScopeId> {
        let path = canonical(root);
        self.crates.borrow().iter().find(|krate| krate.root_file == path).and_then(|krate| krate.root.get())
    }

    /// Returns the root of a dependency, if its sources are available.
    pub(super) fn library(&self, krate: CrateId, name: &str) -> Option<ScopeId> {
        let user = self.krate(krate);
        if let Some(known) = user.libraries.borrow().get(name) {
            return *known;
        }
        // Crates cannot depend on each other in a cycle, but directories can.
        user.libraries.borrow_mut().insert(name.to_owned(), None);
        let found = self.find_library(&user, name);
        user.libraries.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn find_library(&self, user: &Crate, name: &str) -> Option<ScopeId> {
        let own = Dependency { package: String::new(), path: user.package.directory.clone(), features: Vec::new() };
        let is_own = user.package.library_name() == Some(name);
        let dependency = user.dependencies.get(name).or(is_own.then_some(&own))?;
        // The runtime has no types of the user.
        if dependency.package == "tool-runtime" {
            return None;
        }
        #[cfg(feature = "cli")]
        if dependency.path.is_none() {
            return self.find_resolved(user, name, dependency);
        }
        let manifest = dependency.path.as_ref()?.join("Cargo.toml");
        self.note_file(&manifest);
        let package = CargoPackage::containing(&manifest).ok()?;
        let root = package.library_root()?;
        let features = if is_own { None } else { Some(dependency.features.clone()) };
        let cfg = if is_own { user.cfg.clone() } else { user.cfg.without("feature") };
        self.add_crate(&CrateRoot { path: &root, features, cfg: &cfg, scanned: false }).ok()
    }
}

#[cfg(feature = "cli")]
impl SourceTree {
    /// Returns the root of a registry package, if Cargo has its sources.
    fn find_resolved(&self, user: &Crate, name: &str, dependency: &Dependency) -> Option<ScopeId> {
        if KNOWN_PACKAGES.contains(&dependency.package.as_str()) {
            return None;
        }
        let directory = self.resolved.get(&canonical(user.package.directory.as_deref()?))?.dependencies.get(name)?;
        let root = CargoPackage::containing(&directory.join("Cargo.toml")).ok()?.library_root()?;
        let features = self.resolved.get(directory).map(|package| package.features.clone());
        self.add_crate(&CrateRoot { path: &root, features, cfg: &user.cfg.without("feature"), scanned: false }).ok()
    }
}

fn name_of_root(root: &Path) -> Option<String> {
    Some(root.file_stem()?.to_str()?.replace('-', "_"))
}

/// Returns `true` if this process is the package's build script.
fn is_being_built(package: &CargoPackage) -> bool {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(|directory| canonical(Path::new(&directory)));
    here.is_some() && here == package.directory.as_deref().map(canonical)
}
