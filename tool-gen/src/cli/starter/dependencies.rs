//! Adding dependencies to a Cargo.toml, with its formatting and comments.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::cli::exit::{CommandFailure, Result};

/// The origin of the library crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CrateSource {
    /// A checkout.
    Path(PathBuf),
    /// The registry.
    Published,
}

impl CrateSource {
    /// Returns the given checkout, or that of the running program if it was built from one that still exists.
    pub(super) fn choose(path: Option<&Path>, published: bool) -> Result<Self> {
        let is_checkout = |directory: &Path| directory.join("tool-runtime").join("Cargo.toml").is_file();
        if let Some(path) = path {
            let directory = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            if !is_checkout(&directory) {
                let message = format!("{} is no checkout: it has no tool-runtime/Cargo.toml", directory.display());
                return Err(CommandFailure::new(message).help("pass the directory that contains `tool-runtime`"));
            }
            return Ok(Self::Path(directory));
        }
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|directory| is_checkout(directory));
        Ok(match own {
            Some(directory) if !published => Self::Path(directory.to_owned()),
            _ => Self::Published,
        })
    }

    fn library(&self, name: &'static str) -> Dependency {
        let source = match self {
            Self::Path(directory) => ("path", directory.join(name).display().to_string()),
            Self::Published => ("version", env!("CARGO_PKG_VERSION").to_owned()),
        };
        Dependency { name, source, features: &[] }
    }
}

/// A dependency that a package needs.
struct Dependency {
    name: &'static str,
    /// The key `path` or `version`, and its value.
    source: (&'static str, String),
    features: &'static [&'static str],
}

/// Returns the text of a Cargo.toml with the dependencies of the generated files.
///
/// A dependency that exists keeps its version and gets the features that it lacks.
pub(super) fn add(text: &str, source: &CrateSource) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("not valid TOML: {error}"))?;
    let tokio =
        Dependency { name: "tokio", source: ("version", "1".to_owned()), features: &["macros", "rt-multi-thread"] };
    let subscriber = Dependency { name: "tracing-subscriber", source: ("version", "0.3".to_owned()), features: &[] };
    for needed in [source.library("tool-runtime"), source.library("tool-mcp"), tokio, subscriber] {
        add_to(&mut document, "dependencies", &needed)?;
    }
    add_to(&mut document, "build-dependencies", &source.library("tool-gen"))?;
    Ok(document.to_string())
}

/// Returns `true` if the package says `build = false`.
pub(super) fn disables_build_script(text: &str) -> bool {
    let document = text.parse::<DocumentMut>().ok();
    let build = document.as_ref().and_then(|document| document.get("package")?.get("build")?.as_bool());
    build == Some(false)
}

fn add_to(document: &mut DocumentMut, section: &str, needed: &Dependency) -> Result<(), String> {
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = table.as_table_like_mut().ok_or_else(|| format!("`{section}` is not a table"))?;
    match table.get_mut(needed.name) {
        Some(existing) => add_features(existing, needed).map_err(|what| format!("`{section}.{}` {what}", needed.name)),
        None => {
            let mut entry = InlineTable::new();
            let (key, source) = &needed.source;
            entry.insert(*key, source.as_str().into());
            table.insert(
                needed.name,
                match needed.features {
                    [] if *key == "version" => value(source.as_str()),
                    [] => value(entry),
                    features => {
                        entry.insert("features", Value::Array(features.iter().copied().collect()));
                        value(entry)
                    }
                },
            );
            Ok(())
        }
    }
}

/// Adds the features that an existing dependency lacks.
fn add_features(existing: &mut Item, needed: &Dependency) -> Result<(), &'static str> {
    if needed.features.is_empty() {
        return Ok(());
    }
    if let Some(version) = existing.as_str() {
        let mut entry = InlineTable::new();
        entry.insert("version", version.into());
        *existing = value(entry);
    }
    let table: &mut dyn TableLike = existing.as_table_like_mut().ok_or("is neither a version nor a table")?;
    let features = table.entry("features").or_insert_with(|| value(Array::new()));
    let features = features.as_array_mut().ok_or("has `features` that are not an array")?;
    for feature in needed.features {
        let is_enabled = |listed: &Value| listed.as_str().is_some_and(|name| name == *feature || name == "full");
        if !features.iter().any(is_enabled) {
            features.push(*feature);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(text: &str) -> String {
        add(text, &CrateSource::Published).expect("valid TOML")
    }

    #[test]
    fn formatting_and_comments_are_kept() {
        let before = "# The shop.\n[package]\nname   = \"shop\" # keep\n\n[dependencies]\nserde = '1'   # data\n\n[features]\nx = []\n";
        let after = published(before);
        let version = env!("CARGO_PKG_VERSION");
        let expected = before.replace(
            "# data\n",
            &format!(
                "# data\ntool-runtime = \"{version}\"\ntool-mcp = \"{version}\"\n\
                 tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n\
                 tracing-subscriber = \"0.3\"\n"
            ),
        );
        assert_eq!(after, format!("{expected}\n[build-dependencies]\ntool-gen = \"{version}\"\n"));
    }

    #[test]
    fn a_second_run_changes_nothing() {
        for before in [
            "[package]\nname = \"a\"\n",
            "[dependencies]\ntokio = { version = \"1\", features = [\"full\"] }\n",
            "[dependencies.tokio]\nworkspace = true\n",
        ] {
            let once = published(before);
            assert_eq!(published(&once), once);
            assert!(!once.contains("\"full\", "), "`full` includes every feature: {once}");
        }
    }

    #[test]
    fn an_existing_dependency_gets_the_features_that_it_lacks() {
        let after = published("[dependencies]\ntokio = \"1.40\"\n");
        assert!(
            after.contains("tokio = { version = \"1.40\", features = [\"macros\", \"rt-multi-thread\"] }"),
            "{after}"
        );
        let after = published("[dependencies]\ntokio = { workspace = true, features = [\"macros\"] }\n");
        assert!(
            after.contains("tokio = { workspace = true, features = [\"macros\", \"rt-multi-thread\"] }"),
            "{after}"
        );
    }

    #[test]
    fn rejects_what_is_no_dependency() {
        assert_eq!(
            add("[dependencies]\ntokio = 1\n", &CrateSource::Published).unwrap_err(),
            "`dependencies.tokio` is neither a version nor a table"
        );
        assert!(add("[dependencies", &CrateSource::Published).unwrap_err().starts_with("not valid TOML"));
    }

    #[test]
    fn finds_disabled_build_scripts() {
        assert!(disables_build_script("[package]\nbuild = false\n"));
        assert!(!disables_build_script("[package]\nbuild = \"build.rs\"\n"));
    }
}
