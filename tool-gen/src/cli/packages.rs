//! The selection of packages, their features and configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package, Target, TargetKind};
use tool_gen::{Cfg, Diagnostic, FILE_NAME, Scan, Severity};

use super::arguments::{BuildChoice, PackageChoice};
use super::exit::{CommandFailure, FailureContext, Result};
use super::terminal::display_path;

/// The crates to read.
pub(super) struct PackageSelection {
    /// The scan of all of them.
    pub(super) scan: Scan,
    /// The path of their manifest: beside the package's Cargo.toml, or beside the workspace's for several packages.
    pub(super) manifest: PathBuf,
    /// The directories of the packages.
    pub(super) directories: Vec<PathBuf>,
    /// Other packages that may have the tools, if these have none.
    pub(super) elsewhere: OtherPackages,
}

impl PackageSelection {
    /// Selects packages with `cargo metadata`. Nothing is compiled or downloaded.
    pub(super) fn resolve(choice: &PackageChoice) -> Result<Self> {
        let cargo_toml = cargo_toml(choice.manifest_path.as_deref())?;
        let metadata = MetadataCommand::new().manifest_path(&cargo_toml).no_deps().exec().map_err(metadata_failure)?;
        let packages = chosen(choice, &metadata, &cargo_toml)?;
        check_features(&packages, &choice.build)?;
        let cfg = configuration(&choice.build)?;
        let directory =
            |package: &Package| package.manifest_path.parent().map(|directory| directory.as_std_path().to_owned());
        let beside = match packages.as_slice() {
            [only] if !choice.workspace => directory(only),
            _ => Some(metadata.workspace_root.clone().into_std_path_buf()),
        };
        let scanned =
            scan(&packages, choice, &cfg).ok_or_else(|| CommandFailure::new("no library or binary to read"))?;
        Ok(Self {
            scan: choice.with.iter().fold(scanned, Scan::with),
            manifest: beside.unwrap_or_default().join(FILE_NAME),
            directories: packages.iter().filter_map(|package| directory(package)).collect(),
            elsewhere: OtherPackages::new(&packages, &metadata, |package| scan(&[package], choice, &cfg)),
        })
    }
}

/// The packages besides the selected ones.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherPackages {
    /// The names of the selected packages.
    read: Vec<String>,
    /// The other members of the workspace, dependencies first.
    members: Vec<(String, Scan)>,
    /// The `Cargo.toml`s of path dependencies outside of the workspace.
    outside: Vec<(String, PathBuf)>,
}

impl OtherPackages {
    pub(super) fn new(packages: &[&Package], metadata: &Metadata, scan: impl Fn(&Package) -> Option<Scan>) -> Self {
        let used: Vec<(String, PathBuf)> = packages
            .iter()
            .flat_map(|package| &package.dependencies)
            .filter_map(|used| Some((used.name.clone(), used.path.as_ref()?.as_std_path().join("Cargo.toml"))))
            .collect();
        let is_used = |package: &Package| used.iter().any(|(_, file)| file == package.manifest_path.as_std_path());
        let all = metadata.workspace_packages();
        let mut others: Vec<_> =
            all.iter().filter(|other| packages.iter().all(|package| package.id != other.id)).collect();
        others.sort_by_key(|package| (!is_used(package), package.name.clone()));
        let is_member = |file: &PathBuf| all.iter().any(|package| package.manifest_path.as_std_path() == file);
        Self {
            read: packages.iter().map(|package| package.name.to_string()).collect(),
            members: others.into_iter().filter_map(|other| Some((other.name.to_string(), scan(other)?))).collect(),
            outside: used.iter().filter(|(_, file)| !is_member(file)).cloned().collect(),
        }
    }

    /// Returns the warning that there are no tools, which names the packages that have some.
    pub(super) fn suggestion(&self) -> Diagnostic {
        let members = self.members.iter().filter(|(_, scan)| has_tools(scan));
        let members: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
        let outside: Vec<_> = self.outside.iter().filter(|(_, file)| has_tools_outside(file)).collect();
        let names: Vec<String> =
            members.iter().copied().chain(outside.iter().map(|(name, _)| name.as_str())).map(quoted).collect();
        let verb = if names.len() == 1 { "has" } else { "have" };
        let Some(names) = names.split_last().map(joined) else {
            let help = "mark functions with `#[tool]`, or an `impl` block with `#[tool_class]`; name `manual` \
                        classes with `--with`";
            return warning(format!("{} no tools", self.subject()), help.to_owned());
        };
        let message = format!("{} no tools, but {names} {verb} some", self.subject());
        let mut ways: Vec<String> = Vec::new();
        if !members.is_empty() {
            let flags: Vec<_> = members.iter().map(|name| format!("-p {name}")).collect();
            ways.push(format!("`{}`, or all packages with `--workspace`", flags.join(" ")));
        }
        ways.extend(outside.iter().map(|(_, file)| format!("`--manifest-path {}`", display_path(file))));
        let help = format!("select them with {}; set the manifest's path with `-o`", ways.join(", "));
        warning(message, help)
    }

    fn subject(&self) -> String {
        match self.read.as_slice() {
            [only] => format!("`{only}` has"),
            _ => "the selected packages have".to_owned(),
        }
    }
}

fn warning(message: String, help: String) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, message, help: Some(help), place: None, compile_error: false }
}

/// Returns the given Cargo.toml, or the nearest one.
pub(super) fn cargo_toml(named: Option<&Path>) -> Result<PathBuf> {
    let current = std::env::current_dir().context(|| "determine the current directory".to_owned())?;
    let found = match named {
        Some(directory) if directory.is_dir() => Some(current.join(directory).join("Cargo.toml")),
        Some(file) => Some(current.join(file)),
        None => current.ancestors().map(|directory| directory.join("Cargo.toml")).find(|file| file.is_file()),
    };
    let found = found.ok_or_else(|| {
        CommandFailure::new(format!("no Cargo.toml in {} or a parent directory", current.display()))
            .help("pass `--manifest-path`")
    })?;
    found.canonicalize().context(|| format!("read {}", found.display()))
}

pub(super) fn metadata_failure(error: cargo_metadata::Error) -> CommandFailure {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            CommandFailure::new(stderr.trim().trim_start_matches("error: "))
        }
        other => CommandFailure::new(format!("cannot run `cargo metadata`: {other}")),
    }
}

/// Returns the selected packages. For a workspace without a root package these are the default members, as in Cargo.
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
        let failure = CommandFailure::new(format!("no package `{name}` in the workspace"));
        match near.first() {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure,
        }
    })
}

/// Returns `true` if a library has this crate name. Handlers in a manifest start with it, and it may differ from the
/// package's name.
fn is_crate(package: &Package, name: &str) -> bool {
    package.targets.iter().any(|target| is_library(target) && target.name.replace('-', "_") == name)
}

fn scan(packages: &[&Package], choice: &PackageChoice, cfg: &Cfg) -> Option<Scan> {
    let mut scan: Option<Scan> = None;
    for package in packages {
        let features = requested_features(package, &choice.build);
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

/// Returns `true` for libraries and binaries whose features are enabled. Tests, examples and macros have no tools.
fn is_read(target: &Target, features: &[String]) -> bool {
    (is_library(target) || target.kind.contains(&TargetKind::Bin))
        && target.required_features.iter().all(|feature| features.contains(feature))
}

fn is_library(target: &Target) -> bool {
    let kinds = [TargetKind::Lib, TargetKind::RLib, TargetKind::DyLib, TargetKind::CDyLib, TargetKind::StaticLib];
    target.kind.iter().any(|kind| kinds.contains(kind))
}

/// Returns the configuration that rustc prints for the target, and the user's additions. It has `debug_assertions` but
/// not `test`.
fn configuration(choice: &BuildChoice) -> Result<Cfg> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(&rustc);
    command.args(["--print", "cfg"]).args(choice.target.iter().flat_map(|target| ["--target", target]));
    let output = command.output().context(|| format!("run {}", rustc.to_string_lossy()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(CommandFailure::new(message.trim().trim_start_matches("error: ")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // A line that does not parse cannot be in a `#[cfg]` either.
    let of_target = text.lines().filter_map(|line| line.parse::<Cfg>().ok()).fold(Cfg::new(), Cfg::and);
    choice.cfgs.iter().try_fold(of_target, |cfg, said| {
        let said: Cfg = said.parse().map_err(|wrong: String| CommandFailure::new(wrong))?;
        Ok(cfg.and(said))
    })
}

/// Returns the requested features of one package. The scan adds the features that these enable.
fn requested_features(package: &Package, choice: &BuildChoice) -> Vec<String> {
    let asked = asked_for(choice).filter_map(|feature| match feature.split_once('/') {
        Some((name, feature)) => (name == package.name.as_str()).then_some(feature),
        None => Some(feature),
    });
    let default = (!choice.no_default_features).then_some("default");
    let all = package.features.keys().map(String::as_str).filter(|_| choice.all_features);
    asked.chain(default).chain(all).map(str::to_owned).collect()
}

/// Returns an error for a feature that no package has, as Cargo does.
fn check_features(packages: &[&Package], choice: &BuildChoice) -> Result {
    for asked in asked_for(choice) {
        let (owner, feature) = asked.split_once('/').map_or((None, asked), |(owner, feature)| (Some(owner), feature));
        let is_meant = |package: &&&Package| owner.is_none_or(|owner| package.name.as_str() == owner);
        let meant: Vec<_> = packages.iter().filter(is_meant).collect();
        if meant.iter().any(|package| package.features.contains_key(feature)) {
            continue;
        }
        let Some(owner) = owner.filter(|_| meant.is_empty()) else {
            let known = meant.iter().flat_map(|package| package.features.keys()).map(String::as_str);
            let failure = CommandFailure::new(format!("no selected package has a feature `{asked}`"));
            return Err(suggested(failure, feature, known));
        };
        // A feature of a dependency has no effect on the scan.
        let dependencies = || packages.iter().flat_map(|package| &package.dependencies);
        let is_used = dependencies().any(|used| used.name == owner || used.rename.as_deref() == Some(owner));
        if !is_used {
            let failure = CommandFailure::new(format!("no selected package is named `{owner}` or depends on it"));
            return Err(suggested(failure, owner, packages.iter().map(|package| package.name.as_str())));
        }
    }
    Ok(())
}

fn suggested<'n>(failure: CommandFailure, name: &str, known: impl IntoIterator<Item = &'n str>) -> CommandFailure {
    match tool_model::nearest(name, known).first() {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    }
}

fn asked_for(choice: &BuildChoice) -> impl Iterator<Item = &str> {
    let parts = choice.features.iter().flat_map(|list| list.split([',', ' ']));
    parts.filter(|feature| !feature.is_empty())
}

fn has_tools(scan: &Scan) -> bool {
    scan.run().is_ok_and(|scanned| !scanned.manifest.is_empty())
}

fn has_tools_outside(cargo_toml: &Path) -> bool {
    let choice = PackageChoice { manifest_path: Some(cargo_toml.to_owned()), ..PackageChoice::default() };
    PackageSelection::resolve(&choice).is_ok_and(|selection| has_tools(&selection.scan))
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Joins names: `a, b and c`.
fn joined((last, others): (&String, &[String])) -> String {
    if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) }
}
