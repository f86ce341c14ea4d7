//! The sources of dependencies, as Cargo resolved them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId};

use crate::source::ResolvedPackage;
use crate::{Error, Result};

/// The directories and features of all packages that a workspace depends on.
#[derive(Clone, Debug, Default)]
pub struct DependencySources {
    pub(crate) packages: HashMap<PathBuf, ResolvedPackage>,
    /// The directories of packages that come from a registry or a repository.
    pub(super) foreign: Vec<PathBuf>,
}

impl DependencySources {
    /// Resolves the dependencies of a package with `cargo metadata`. Nothing is compiled or downloaded.
    ///
    /// # Errors
    /// Returns an error if `cargo metadata` fails, for example because a dependency was never downloaded.
    pub fn resolve(cargo_toml: &Path) -> Result<Self> {
        let metadata =
            MetadataCommand::new().manifest_path(cargo_toml).other_options(vec!["--offline".to_owned()]).exec();
        let metadata = metadata.map_err(|error| match error {
            cargo_metadata::Error::CargoMetadata { stderr } => Error::new(stderr.trim().to_owned()),
            other => Error::new(format!("cannot run `cargo metadata`: {other}")),
        })?;
        Ok(Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        let by_id: HashMap<&PackageId, &Package> =
            metadata.packages.iter().map(|package| (&package.id, package)).collect();
        let mut sources = Self::default();
        for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
            let Some(directory) = by_id.get(&node.id).and_then(|package| directory(package)) else { continue };
            let dependencies = node.deps.iter().filter_map(|dependency| {
                let directory = by_id.get(&dependency.pkg).and_then(|package| self::directory(package))?;
                Some((dependency.name.clone(), directory))
            });
            let package = ResolvedPackage {
                features: node.features.iter().map(ToString::to_string).collect(),
                dependencies: dependencies.collect(),
            };
            if by_id.get(&node.id).is_some_and(|package| package.source.is_some()) {
                sources.foreign.push(directory.clone());
            }
            sources.packages.insert(directory, package);
        }
        sources
    }

    /// Returns the directory of a dependency by the name that the package in `directory` uses.
    #[must_use]
    pub fn directory(&self, directory: &Path, dependency: &str) -> Option<PathBuf> {
        let directory = std::fs::canonicalize(directory).ok()?;
        self.packages.get(&directory)?.dependencies.get(dependency).cloned()
    }

    pub(super) fn is_foreign(&self, directory: &Path) -> bool {
        self.foreign.iter().any(|foreign| foreign == directory)
    }
}

fn directory(package: &Package) -> Option<PathBuf> {
    let directory = package.manifest_path.parent()?.as_std_path();
    Some(std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned()))
}
