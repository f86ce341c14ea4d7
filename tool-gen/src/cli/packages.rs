//! Which crates are read, and where their manifest stands.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package, Target, TargetKind};
use tool_gen::{Cfg, FILE_NAME, Scan};

use super::arguments::PackageChoice;
use super::configuration;
use super::elsewhere::Elsewhere;
use super::exit::{Doing, Failure, Result};

/// The crates to be read.
pub(super) struct Selection {
    /// The scan of all of them.
    pub(super) scan: Scan,
    /// Where their manifest stands: beside the package's Cargo.toml, or beside the workspace's if they are several.
    pub(super) manifest: PathBuf,
    /// The folders of the packages.
    pub(super) folders: Vec<PathBuf>,
    /// Where the tools may be, if these packages have none.
    pub(super) elsewhere: Elsewhere,
}

impl Selection {
    /// Asks Cargo; nothing is compiled or downloaded.
    pub(super) fn of(choice: &PackageChoice) -> Result<Self> {
        let cargo_toml = cargo_toml(choice.manifest_path.as_deref())?;
        let metadata = MetadataCommand::new().manifest_path(&cargo_toml).no_deps().exec().map_err(metadata_failure)?;
        let packages = chosen(choice, &metadata, &cargo_toml)?;
        configuration::check_features(&packages, &choice.build)?;
        let cfg = configuration::cfg(&choice.build)?;
        let folder = |package: &Package| package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
        let beside = match packages.as_slice() {
            [only] if !choice.workspace => folder(only),
            _ => Some(metadata.workspace_root.clone().into_std_path_buf()),
        };
        Ok(Self {
            scan: scan(&packages, choice, &cfg)
                .ok_or_else(|| Failure::new("there is no library and no program to read"))?,
            manifest: beside.unwrap_or_default().join(FILE_NAME),
            folders: packages.iter().filter_map(|package| folder(package)).collect(),
            elsewhere: Elsewhere::around(&packages, &metadata, |package| scan(&[package], choice, &cfg)),
        })
    }
}

/// The Cargo.toml that was named, or the nearest one.
pub(super) fn cargo_toml(named: Option<&Path>) -> Result<PathBuf> {
    let current = std::env::current_dir().doing(|| "tell the current folder".to_owned())?;
    let found = match named {
        Some(folder) if folder.is_dir() => Some(current.join(folder).join("Cargo.toml")),
        Some(file) => Some(current.join(file)),
        None => current.ancestors().map(|folder| folder.join("Cargo.toml")).find(|file| file.is_file()),
    };
    let found = found.ok_or_else(|| {
        Failure::new(format!("there is no Cargo.toml in {} or in a folder above", current.display()))
            .help("name one with `--manifest-path`")
    })?;
    found.canonicalize().doing(|| format!("read {}", found.display()))
}

fn metadata_failure(error: cargo_metadata::Error) -> Failure {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => Failure::new(stderr.trim().trim_start_matches("error: ")),
        other => Failure::new(format!("cannot ask Cargo for the packages: {other}")),
    }
}

/// In a workspace without a package at its root: the default members, as Cargo takes them.
fn chosen<'m>(choice: &PackageChoice, metadata: &'m Metadata, cargo_toml: &Path) -> Result<Vec<&'m Package>> {
    let all = metadata.workspace_packages();
    let here = |package: &&&Package| package.manifest_path.as_std_path() == cargo_toml;
    let mut packages = if choice.workspace {
        all
    } else if !choice.packages.is_empty() {
        choice.packages.iter().map(|name| named(name, &all)).collect::<Result<_>>()?
    } else if let Some(package) = all.iter().find(here) {
        vec![*package]
    } else {
        metadata.workspace_default_packages()
    };
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages.dedup_by(|a, b| a.id == b.id);
    Ok(packages)
}

fn named<'m>(name: &str, packages: &[&'m Package]) -> Result<&'m Package> {
    let exactly = |package: &&Package| package.name.as_str() == name;
    let found = packages.iter().copied().find(exactly);
    found.or_else(|| packages.iter().copied().find(|package| is_crate(package, name))).ok_or_else(|| {
        let near = tool_model::nearest(name, packages.iter().map(|package| package.name.as_str()));
        let failure = Failure::new(format!("the workspace has no package `{name}`"));
        match near.first() {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure,
        }
    })
}

/// Handlers in a manifest start with the crate's name, which may differ from the package's.
fn is_crate(package: &Package, name: &str) -> bool {
    package.targets.iter().any(|target| is_library(target) && target.name.replace('-', "_") == name)
}

fn scan(packages: &[&Package], choice: &PackageChoice, cfg: &Cfg) -> Option<Scan> {
    let mut scan: Option<Scan> = None;
    for package in packages {
        let features = configuration::features(package, &choice.build);
        for target in package.targets.iter().filter(|target| is_read(target, &features)) {
            let root = target.src_path.as_std_path();
            let next = match scan {
                None => tool_gen::scan(root),
                Some(scan) => scan.and(root),
            };
            scan = Some(next.features(features.iter().cloned()));
        }
    }
    scan.map(|scan| scan.cfg(cfg.clone()))
}

/// Libraries and programs; tests, examples and macros offer no tools.
fn is_read(target: &Target, features: &[String]) -> bool {
    (is_library(target) || target.kind.contains(&TargetKind::Bin))
        && target.required_features.iter().all(|feature| features.contains(feature))
}

fn is_library(target: &Target) -> bool {
    let kinds = [TargetKind::Lib, TargetKind::RLib, TargetKind::DyLib, TargetKind::CDyLib, TargetKind::StaticLib];
    target.kind.iter().any(|kind| kinds.contains(kind))
}
