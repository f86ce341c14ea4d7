//! The name under which the user's crate depends on `tool-runtime`.
//!
//! An expansion refers to the runtime by an absolute path, so renamed dependencies must be resolved from `Cargo.toml`.
//! The few relevant lines are parsed here, because a TOML parser would add ten crates to the build of every user.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

const PACKAGE: &str = "tool-runtime";

/// Returns the absolute path of the runtime: `crate = ..` of the attribute, else the name in `Cargo.toml`.
pub(crate) fn runtime_path(explicit: Option<&syn::Path>) -> TokenStream {
    if let Some(path) = explicit {
        return quote!(#path);
    }
    // Falls back to the default if the parsed name is not an identifier.
    let name = syn::parse_str(&current_name()).unwrap_or_else(|_| Ident::new(&default_name(), Span::call_site()));
    quote!(::#name)
}

/// Returns the name in the crate that is being compiled. One process may expand several crates, as rust-analyzer does.
fn current_name() -> String {
    static KNOWN: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());
    let Some(directory) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else { return default_name() };
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, name)) = known.iter().find(|(path, _)| *path == directory) {
        return name.clone();
    }
    let name = read_name(&directory);
    known.push((directory, name.clone()));
    name
}

fn default_name() -> String {
    PACKAGE.replace('-', "_")
}

fn read_name(directory: &Path) -> String {
    let own = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
    let inherited = || workspace_manifest(directory).and_then(|root| renamed_in(&root, &inherited_names(&own)));
    match renamed(&own).or_else(inherited) {
        Some(name) if !depends_by_own_name(&own) => name.replace('-', "_"),
        _ => default_name(),
    }
}

fn workspace_manifest(directory: &Path) -> Option<String> {
    let manifests = directory.ancestors().map(|directory| directory.join("Cargo.toml"));
    manifests
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .find(|text| text.lines().any(|line| line.trim().starts_with("[workspace")))
}

/// One entry of a dependency table.
struct DependencyEntry<'a> {
    key: &'a str,
    value: &'a str,
}

/// Returns all entries of the tables whose name ends with `table`. `[dependencies.key]` yields an entry for each line.
fn dependencies<'a>(manifest: &'a str, table: &'static str) -> impl Iterator<Item = DependencyEntry<'a>> {
    let mut section = "";
    manifest.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or_default().trim();
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let key = key.trim().trim_matches('"');
        if section.ends_with(table) {
            return Some(DependencyEntry { key: key.split('.').next().unwrap_or(key), value: line });
        }
        let (parent, dependency) = section.rsplit_once('.')?;
        let dependency = dependency.trim_matches('"');
        parent
            .ends_with(table)
            .then_some(DependencyEntry { key: dependency, value: if key == "package" { line } else { value } })
    })
}

fn names_package(value: &str) -> bool {
    value.split_once("package").is_some_and(|(_, rest)| {
        let named = rest.trim_start().strip_prefix('=').and_then(|rest| rest.trim_start().strip_prefix(['"', '\'']));
        named.is_some_and(|named| named.split(['"', '\'']).next() == Some(PACKAGE))
    })
}

/// Returns the key under which the package is a renamed dependency.
fn renamed(manifest: &str) -> Option<String> {
    dependencies(manifest, "dependencies").find(|entry| names_package(entry.value)).map(|entry| entry.key.to_owned())
}

fn depends_by_own_name(manifest: &str) -> bool {
    dependencies(manifest, "dependencies").any(|entry| entry.key == PACKAGE && !names_other_package(entry.value))
}

fn names_other_package(value: &str) -> bool {
    value.contains("package") && !names_package(value)
}

/// Returns the keys that are inherited from the workspace.
fn inherited_names(manifest: &str) -> Vec<String> {
    let inherited = dependencies(manifest, "dependencies").filter(|entry| entry.value.contains("workspace"));
    inherited.map(|entry| entry.key.to_owned()).collect()
}

/// Returns the key among `keys` that the workspace assigns to the package.
fn renamed_in(workspace: &str, keys: &[String]) -> Option<String> {
    let entries = dependencies(workspace, "workspace.dependencies");
    let mut ours = entries.filter(|entry| names_package(entry.value) && keys.iter().any(|key| key == entry.key));
    ours.next().map(|entry| entry.key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_renamed_dependency_in_every_form() {
        for manifest in [
            "[dependencies]\nrt = { version = \"1\", package = \"tool-runtime\" }",
            "[dependencies.rt]\nversion = \"1\"\npackage = \"tool-runtime\"",
            "[target.'cfg(unix)'.dependencies]\nrt = {package=\"tool-runtime\", path = \"..\"}",
            "[dev-dependencies]\nserde = \"1\"\n\"rt\" = { package = \"tool-runtime\" } # ours",
        ] {
            assert_eq!(renamed(manifest).as_deref(), Some("rt"), "{manifest}");
            assert!(!depends_by_own_name(manifest));
        }
    }

    #[test]
    fn the_own_name_is_not_a_rename() {
        for manifest in [
            "[dependencies]\ntool-runtime = \"1\"",
            "[dependencies]\ntool-runtime.workspace = true",
            "[dependencies.tool-runtime]\npath = \"x\"",
        ] {
            assert_eq!(renamed(manifest), None, "{manifest}");
            assert!(depends_by_own_name(manifest), "{manifest}");
        }
    }

    #[test]
    fn comments_and_other_packages_are_not_renames() {
        let ours = "rt = { package = \"tool-runtime\", path = \"..\" }";
        for before in ["# tools = { package = \"tool-runtime\" }", "x = { package = \"tool-runtime-extras\" }"] {
            assert_eq!(renamed(&format!("[dependencies]\n{before}")), None, "{before}");
            assert_eq!(renamed(&format!("[dependencies]\n{before}\n{ours}")).as_deref(), Some("rt"), "{before}");
        }
    }

    #[test]
    fn finds_a_rename_in_the_workspace() {
        let own = "[dependencies]\nrt = { workspace = true }\nserde.workspace = true";
        let root = "[workspace.dependencies]\nserde = \"1\"\nrt = { package = \"tool-runtime\", version = \"1\" }";
        assert_eq!(renamed_in(root, &inherited_names(own)).as_deref(), Some("rt"));
    }
}
