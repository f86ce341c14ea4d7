//! The tools that a scan includes: those of its crates, and those that it names, such as `tool-builtins::Files`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tool_model::nearest;
use tool_syntax::ParsedClass;

use crate::package::CargoPackage;
use crate::source::{Crate, CrateRoot, SourceTree};
use crate::{Error, Result};

/// Decides which of the tools in the sources go into the manifest.
#[derive(Debug, Default)]
pub(crate) struct ToolFilter {
    /// The crates whose tools are included, except those of `manual` classes.
    crates: BTreeSet<String>,
    /// The tools that are included by name.
    named: Vec<NamedTools>,
    /// The crate and the name of each class that was read.
    classes: RefCell<BTreeSet<(String, String)>>,
}

/// All tools of a crate, or those of one class.
#[derive(Debug)]
struct NamedTools {
    /// The name as it was passed.
    text: String,
    krate: String,
    class: Option<String>,
    /// Set once a tool of them was read.
    found: Cell<bool>,
}

impl ToolFilter {
    /// Includes the tools of a crate, except those of `manual` classes.
    pub(crate) fn add_crate(&mut self, name: &str) {
        self.crates.insert(name.to_owned());
    }

    /// Includes what `text` names: `tool-builtins` or `tool-builtins::Files`. Reads the sources of the crate.
    ///
    /// # Errors
    /// Returns an error if no scanned crate has this name or depends on one that has it, or if its sources cannot be found.
    pub(crate) fn add_named(&mut self, text: &str, sources: &SourceTree) -> Result {
        let (name, class) = match text.split_once("::") {
            Some((name, class)) => (name, Some(class.to_owned())),
            None => (text, None),
        };
        let krate = read_crate(&name.replace('-', "_"), sources)?;
        self.named.push(NamedTools { text: text.to_owned(), krate, class, found: Cell::new(false) });
        Ok(())
    }

    /// Returns `true` if the tools of a class are included, or a function if there is none. `module` is its path.
    pub(crate) fn includes(&self, module: &str, class: Option<&ParsedClass>) -> bool {
        let krate = module.split("::").next().unwrap_or(module);
        let name = class.map(|class| class.type_name.as_str());
        if let Some(name) = name {
            self.classes.borrow_mut().insert((krate.to_owned(), name.to_owned()));
        }
        let is_meant = |tools: &&NamedTools| {
            tools.krate == krate && tools.class.as_deref().is_none_or(|class| name == Some(class))
        };
        let named = self.named.iter().filter(is_meant).inspect(|tools| tools.found.set(true)).count() > 0;
        named || (self.crates.contains(krate) && class.is_none_or(|class| !class.manual))
    }

    /// Returns an error for a name that no tool was found for.
    pub(crate) fn check(&self) -> Result {
        let Some(missing) = self.named.iter().find(|tools| !tools.found.get()) else { return Ok(()) };
        let Some(class) = &missing.class else {
            return Err(Error::new(format!("`{}` has no tools; features may disable them", missing.text)));
        };
        let classes = self.classes.borrow();
        let known: Vec<&str> =
            classes.iter().filter(|(krate, _)| *krate == missing.krate).map(|(_, class)| class.as_str()).collect();
        let help = match nearest(class, known.iter().copied()).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "it has none; features may disable them".to_owned(),
            None => format!("it has {}; features may disable others", quoted(&known)),
        };
        Err(Error::new(format!("`{}`: `{}` has no tool class `{class}`; {help}", missing.text, missing.krate)))
    }
}

/// Adds the crate of this name to the sources, and returns the name of its library.
fn read_crate(name: &str, sources: &SourceTree) -> Result<String> {
    let scanned = sources.crates();
    if scanned.iter().any(|krate| krate.name(sources) == name) {
        return Ok(name.to_owned());
    }
    let users: Vec<(&Crate, &String)> =
        scanned.iter().filter_map(|krate| Some((&**krate, used_as(krate, name)?))).collect();
    let Some((first, key)) = users.first() else {
        let known = scanned.iter().flat_map(|krate| krate.dependencies.keys());
        let help = match nearest(name, known.map(String::as_str)).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `[dependencies]`".to_owned(),
        };
        return Err(Error::new(format!("no scanned crate is named `{name}` or depends on it; {help}")));
    };
    let directory = match &first.dependencies[*key].path {
        Some(path) => path.clone(),
        None => resolved_directory(first, key)?,
    };
    let package = CargoPackage::containing(&directory.join("Cargo.toml")).map_err(Error::new)?;
    let no_library = || Error::new(format!("`{name}` has no library in {}", directory.display()));
    let root = package.library_root().ok_or_else(no_library)?;
    let library = package.library_name().ok_or_else(no_library)?.to_owned();
    let features = users.iter().flat_map(|(user, key)| user.dependencies[*key].features.iter().cloned()).collect();
    let cfg = first.cfg.without("feature");
    let root = CrateRoot { path: &root, features: Some(features), cfg: &cfg, scanned: true };
    sources.add_crate(&root).map_err(|diagnostic| Error::new(diagnostic.to_string()))?;
    Ok(library)
}

/// Returns the name by which a crate uses a dependency.
fn used_as<'c>(krate: &'c Crate, name: &str) -> Option<&'c String> {
    let mut dependencies = krate.dependencies.iter();
    dependencies
        .find(|(key, dependency)| *key == name || dependency.package.replace('-', "_") == name)
        .map(|(key, _)| key)
}

/// Returns the directory of a dependency that comes from a registry or a repository, as Cargo resolved it. Nothing is
/// downloaded.
fn resolved_directory(user: &Crate, dependency: &str) -> Result<PathBuf> {
    let manifest = user.directory().unwrap_or(Path::new(".")).join("Cargo.toml");
    let failed = |reason: &str| Error::new(format!("cannot find the sources of `{dependency}`: {reason}"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--offline", "--manifest-path"]).arg(&manifest);
    let output = command.output().map_err(|error| failed(&format!("cargo does not run: {error}")))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| failed(&error.to_string()))?;
    directory_in(&metadata, &manifest, dependency).ok_or_else(|| failed("`cargo metadata` does not list it"))
}

/// Finds the directory in the output of `cargo metadata`.
fn directory_in(metadata: &Value, manifest: &Path, dependency: &str) -> Option<PathBuf> {
    let packages = metadata["packages"].as_array()?;
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_user = |package: &&Value| {
        package["manifest_path"].as_str().is_some_and(|path| canonical(Path::new(path)) == canonical(manifest))
    };
    let user = &packages.iter().find(is_user)?["id"];
    let node = metadata["resolve"]["nodes"].as_array()?.iter().find(|node| node["id"] == *user)?;
    let id = &node["deps"].as_array()?.iter().find(|used| used["name"] == *dependency)?["pkg"];
    let package = packages.iter().find(|package| package["id"] == *id)?;
    Some(Path::new(package["manifest_path"].as_str()?).parent()?.to_owned())
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_version_of_a_dependency_that_cargo_has_resolved() {
        let package = |id: &str, directory: &str| json!({"id": id, "manifest_path": format!("{directory}/Cargo.toml")});
        let metadata = json!({
            "packages": [package("app", "/app"), package("kit 1", "/registry/kit-1"), package("kit 2", "/registry/kit-2")],
            "resolve": {"nodes": [
                {"id": "other", "deps": [{"name": "kit", "pkg": "kit 1"}]},
                {"id": "app", "deps": [{"name": "kit", "pkg": "kit 2"}]},
            ]},
        });
        let found = |dependency: &str| directory_in(&metadata, Path::new("/app/Cargo.toml"), dependency);
        assert_eq!(found("kit").as_deref(), Some(Path::new("/registry/kit-2")));
        assert_eq!(found("missing"), None);
    }
}
