//! Packages as `Cargo.toml` describes them: names, features and dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// The package of a root file.
#[derive(Debug, Default)]
pub(crate) struct CargoPackage {
    /// Its directory, if it has a `Cargo.toml`.
    pub(crate) directory: Option<PathBuf>,
    /// The name of its library, as in `module_path!()`.
    library: Option<String>,
    manifest: Table,
    workspace: Table,
    workspace_directory: Option<PathBuf>,
}

/// A dependency of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package's own name.
    pub(crate) package: String,
    /// The directory of its sources, for a path dependency.
    pub(crate) path: Option<PathBuf>,
    /// The requested features, with `default` unless it is disabled.
    pub(crate) features: Vec<String>,
}

impl CargoPackage {
    /// Returns the package that contains a root file. Without a `Cargo.toml` the package is empty.
    ///
    /// # Errors
    /// Returns an error if a `Cargo.toml` exists and cannot be read.
    pub(crate) fn containing(root: &Path) -> Result<Self, String> {
        let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        for directory in absolute.ancestors().skip(1) {
            if directory.join("Cargo.toml").is_file() {
                return Self::read(directory);
            }
        }
        Ok(Self::default())
    }

    fn read(directory: &Path) -> Result<Self, String> {
        let manifest = read(&directory.join("Cargo.toml"))?;
        let mut package = Self { directory: Some(directory.to_owned()), ..Self::default() };
        for above in directory.ancestors() {
            let path = above.join("Cargo.toml");
            let found = if above == directory {
                Some(manifest.clone())
            } else {
                path.is_file().then(|| read(&path)).and_then(Result::ok)
            };
            if let Some(Value::Table(workspace)) = found.and_then(|mut found| found.remove("workspace")) {
                package.workspace = workspace;
                package.workspace_directory = Some(above.to_owned());
                break;
            }
        }
        package.manifest = manifest;
        package.library = package
            .text(&["lib", "name"])
            .map(str::to_owned)
            .or_else(|| package.text(&["package", "name"]).map(|name| name.replace('-', "_")));
        Ok(package)
    }

    fn text(&self, path: &[&str]) -> Option<&str> {
        let (last, tables) = path.split_last()?;
        let table = tables.iter().try_fold(&self.manifest, |table, key| table.get(*key)?.as_table())?;
        table.get(*last)?.as_str()
    }

    /// Returns the name of the crate with this root file, with which `module_path!()` begins.
    pub(crate) fn crate_name(&self, root: &Path) -> Option<String> {
        let directory = self.directory.as_deref()?;
        let absolute = std::path::absolute(root).ok()?;
        let inside = absolute.strip_prefix(directory).ok()?;
        if self.text(&["lib", "path"]).map_or(inside == Path::new("src/lib.rs"), |path| inside == plain(path)) {
            return self.library.clone();
        }
        for kind in ["bin", "example", "test", "bench"] {
            let targets = self.manifest.get(kind).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let target = targets
                .iter()
                .find(|target| target.get("path").and_then(Value::as_str).is_some_and(|path| inside == plain(path)));
            if let Some(name) = target.and_then(|target| target.get("name")?.as_str()) {
                return Some(name.replace('-', "_"));
            }
        }
        if inside == Path::new("src/main.rs") {
            return Some(self.text(&["package", "name"])?.replace('-', "_"));
        }
        let stem = inside.file_stem()?.to_str()?;
        // `src/bin/name/main.rs`
        let name = if stem == "main" { inside.parent()?.file_name()?.to_str()? } else { stem };
        Some(name.replace('-', "_"))
    }

    /// Returns the root file of its library.
    pub(crate) fn library_root(&self) -> Option<PathBuf> {
        Some(self.directory.as_deref()?.join(self.text(&["lib", "path"]).unwrap_or("src/lib.rs")))
    }

    /// Returns the name of its library.
    pub(crate) fn library_name(&self) -> Option<&str> {
        self.library.as_deref()
    }

    /// Returns the requested features and all features that they enable.
    pub(crate) fn features(&self, requested: impl IntoIterator<Item = String>) -> FeatureSet {
        let table = self.manifest.get("features").and_then(Value::as_table);
        let list = |value: &Value| {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let mut declared: BTreeMap<String, Vec<String>> =
            table.into_iter().flatten().map(|(name, value)| (name.clone(), list(value))).collect();
        let optional: BTreeSet<String> = self.optional_dependencies().collect();
        // An optional dependency is a feature unless some feature names it with `dep:`.
        for name in &optional {
            let own = format!("dep:{name}");
            if !declared.values().flatten().any(|feature| *feature == own) {
                declared.entry(name.clone()).or_insert_with(|| vec![own]);
            }
        }
        FeatureSet::closure(&declared, &optional, requested)
    }

    fn optional_dependencies(&self) -> impl Iterator<Item = String> {
        let entries = self.dependency_tables().flat_map(|table| table.iter());
        let optional = entries.filter(|(_, entry)| entry.get("optional").and_then(Value::as_bool) == Some(true));
        optional.map(|(name, _)| name.clone())
    }

    /// Returns its `Cargo.toml`, and the workspace's if something is inherited from it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let workspace = self.workspace_directory.as_ref().filter(|_| inherits(&self.manifest));
        self.directory.iter().chain(workspace).map(|directory| directory.join("Cargo.toml")).collect()
    }

    /// Returns the features that Cargo passes to a build script, by their own names.
    pub(crate) fn features_of_build_script(&self) -> BTreeSet<String> {
        let is_on = |feature: &str| {
            let variable = format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"));
            std::env::var_os(variable).is_some()
        };
        let declared =
            self.manifest.get("features").and_then(Value::as_table).into_iter().flat_map(|table| table.keys().cloned());
        declared
            .chain(self.optional_dependencies())
            .chain(["default".to_owned()])
            .filter(|feature| is_on(feature))
            .collect()
    }

    /// Returns the dependencies by the names that the package uses, with the features that its own features request of
    /// them.
    pub(crate) fn dependencies(&self, features: &FeatureSet) -> BTreeMap<String, Dependency> {
        let entries = self.dependency_tables().flat_map(|table| table.iter());
        let dependency = |(key, entry): (&String, &Value)| {
            let mut dependency = self.dependency(key, entry);
            dependency.features.extend(features.of_dependencies.get(key).into_iter().flatten().cloned());
            (key.replace('-', "_"), dependency)
        };
        entries.map(dependency).collect()
    }

    fn dependency_tables(&self) -> impl Iterator<Item = &Table> {
        let targets =
            self.manifest.get("target").and_then(Value::as_table).into_iter().flat_map(|targets| targets.values());
        let places = std::iter::once(&self.manifest).chain(targets.filter_map(Value::as_table));
        places.filter_map(|place| place.get("dependencies")?.as_table())
    }

    fn dependency(&self, key: &str, entry: &Value) -> Dependency {
        let inherited = entry.get("workspace").and_then(Value::as_bool) == Some(true);
        let workspace = if inherited { self.workspace.get("dependencies").and_then(|all| all.get(key)) } else { None };
        let (base, directory) = match workspace {
            Some(base) => (base, self.workspace_directory.as_deref()),
            None => (entry, self.directory.as_deref()),
        };
        let text = |name: &str| base.get(name).and_then(Value::as_str);
        let mut features: Vec<String> = [base, entry]
            .iter()
            .filter_map(|entry| entry.get("features")?.as_array())
            .flatten()
            .filter_map(|feature| feature.as_str().map(str::to_owned))
            .collect();
        if base.get("default-features").and_then(Value::as_bool) != Some(false) {
            features.push("default".to_owned());
        }
        Dependency {
            package: text("package").unwrap_or(key).to_owned(),
            path: text("path").and_then(|path| Some(directory?.join(path))),
            features,
        }
    }
}

/// The enabled features of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FeatureSet {
    /// The package's own features.
    pub(crate) on: BTreeSet<String>,
    /// The features of its dependencies, by the names in `Cargo.toml`.
    pub(crate) of_dependencies: BTreeMap<String, BTreeSet<String>>,
}

impl FeatureSet {
    /// Returns everything that the requested features enable.
    ///
    /// `declared` is the table `[features]` with the implicit features of optional dependencies, as in `cargo
    /// metadata`. `optional` are the names of those dependencies.
    pub(crate) fn closure(
        declared: &BTreeMap<String, Vec<String>>,
        optional: &BTreeSet<String>,
        requested: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut features = Self::default();
        let mut open: Vec<String> = requested.into_iter().collect();
        while let Some(feature) = open.pop() {
            if let Some((dependency, feature)) = feature.split_once('/') {
                // `a?/b` takes effect only if something else enables `a`.
                let name = dependency.trim_end_matches('?');
                if name == dependency && optional.contains(name) && declared.contains_key(name) {
                    open.push(name.to_owned());
                }
                features.of_dependencies.entry(name.to_owned()).or_default().insert(feature.to_owned());
            } else if !feature.starts_with("dep:") && features.on.insert(feature.clone()) {
                open.extend(declared.get(&feature).into_iter().flatten().cloned());
            }
        }
        features
    }
}

/// Returns `true` if the table contains `workspace = true` at any depth.
fn inherits(table: &Table) -> bool {
    table.iter().any(|(key, value)| match value {
        Value::Boolean(inherited) => key == "workspace" && *inherited,
        Value::Table(inner) => inherits(inner),
        _ => false,
    })
}

/// Returns a path without `.` components, which `Cargo.toml` may have.
fn plain(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| *part != Component::CurDir).collect()
}

fn read(path: &Path) -> Result<Table, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.parse().map_err(|error: toml::de::Error| format!("{}: {}", path.display(), error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(manifest: &str) -> CargoPackage {
        let manifest: Table = manifest.parse().unwrap();
        let library = manifest["package"]["name"].as_str().map(|name| name.replace('-', "_"));
        let mut package = CargoPackage { directory: Some("/p".into()), manifest, library, ..CargoPackage::default() };
        if let Some(name) = package.text(&["lib", "name"]) {
            package.library = Some(name.to_owned());
        }
        package
    }

    #[test]
    fn names_a_crate_as_rustc_does() {
        let plain = package("[package]\nname = 'my-app'");
        for (root, name) in [
            ("/p/src/lib.rs", "my_app"),
            ("/p/src/main.rs", "my_app"),
            ("/p/src/bin/a-b.rs", "a_b"),
            ("/p/src/bin/other/main.rs", "other"),
            ("/p/examples/x.rs", "x"),
        ] {
            assert_eq!(plain.crate_name(Path::new(root)).as_deref(), Some(name), "{root}");
        }
        let own = package(
            "[package]\nname = 'app'\n[lib]\nname = 'core_of'\npath = './lib/all.rs'\n[[bin]]\nname = 'a-tool'\npath = './src/t.rs'",
        );
        assert_eq!(own.crate_name(Path::new("/p/lib/all.rs")).as_deref(), Some("core_of"));
        assert_eq!(own.crate_name(Path::new("/p/src/t.rs")).as_deref(), Some("a_tool"));
    }

    #[test]
    fn enables_implied_features() {
        let package = package("[package]\nname = 'a'\n[features]\ndefault = ['x']\nx = ['y', 'dep:z', 'w/v']\ny = []");
        let on: Vec<String> = package.features(["default".to_owned()]).on.into_iter().collect();
        assert_eq!(on, ["default", "x", "y"]);
    }

    #[test]
    fn reads_every_form_of_a_dependency() {
        let mut package = package(
            "[package]\nname = 'a'\n[dependencies]\nserde-x = '1'\nrt = { package = 'tool-runtime', path = '../rt' }\n\
             w = { workspace = true, features = ['f'] }\n[target.'cfg(unix)'.dependencies]\nu = { path = 'u', default-features = false }",
        );
        package.workspace = "[dependencies]\nw = { path = 'crates/w' }".parse().unwrap();
        package.workspace_directory = Some("/".into());
        let all = package.dependencies(&FeatureSet::default());
        assert_eq!(all["serde_x"].path, None);
        assert_eq!(
            (all["rt"].package.as_str(), all["rt"].path.as_deref()),
            ("tool-runtime", Some(Path::new("/p/../rt")))
        );
        assert_eq!(
            (all["w"].path.as_deref(), all["w"].features.join(" ")),
            (Some(Path::new("/crates/w")), "f default".into())
        );
        assert_eq!(all["u"].features, Vec::<String>::new());
    }

    #[test]
    fn enables_a_dependency_with_its_feature() {
        let list = |features: &[&str]| features.iter().map(|&feature| feature.to_owned()).collect::<Vec<_>>();
        let declared = BTreeMap::from([
            ("default".to_owned(), list(&["x", "always/fast", "maybe?/weak"])),
            ("x".to_owned(), list(&["one/deep", "dep:two"])),
            ("one".to_owned(), list(&["dep:one"])),
            ("maybe".to_owned(), list(&["dep:maybe"])),
        ]);
        let optional = list(&["one", "two", "maybe"]).into_iter().collect();
        let features = FeatureSet::closure(&declared, &optional, list(&["default"]));
        assert_eq!(features.on.into_iter().collect::<Vec<_>>(), ["default", "one", "x"]);
        let of_dependencies: Vec<_> = features
            .of_dependencies
            .iter()
            .map(|(name, on)| format!("{name}/{}", Vec::from_iter(on.clone()).join("+")))
            .collect();
        assert_eq!(of_dependencies, ["always/fast", "maybe/weak", "one/deep"]);
    }
}
