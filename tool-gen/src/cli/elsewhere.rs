//! Where the tools are, if the packages that are read have none: most often in a crate that an application uses.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};
use tool_gen::{Diagnostic, Scan, Severity};

use super::arguments::PackageChoice;
use super::packages::Selection;
use super::terminal::shown;

/// The packages around those that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere {
    /// The names of the packages that are read.
    read: Vec<String>,
    /// The other members of the workspace, those that are used first.
    members: Vec<(String, Scan)>,
    /// The `Cargo.toml`s of packages that are used and are outside of the workspace.
    outside: Vec<(String, PathBuf)>,
}

impl Elsewhere {
    pub(super) fn around(packages: &[&Package], metadata: &Metadata, scan: impl Fn(&Package) -> Option<Scan>) -> Self {
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

    /// A warning that names the packages that have tools, if there are some.
    pub(super) fn hint(&self) -> Option<Diagnostic> {
        let members = self.members.iter().filter(|(_, scan)| has_tools(scan));
        let members: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
        let outside: Vec<_> = self.outside.iter().filter(|(_, file)| has_tools_outside(file)).collect();
        let names: Vec<String> =
            members.iter().copied().chain(outside.iter().map(|(name, _)| name.as_str())).map(quoted).collect();
        let verb = if names.len() == 1 { "has" } else { "have" };
        let message = format!("{} no tools, but {} {verb} some", self.subject(), names.split_last().map(joined)?);
        let mut ways: Vec<String> = Vec::new();
        if !members.is_empty() {
            let flags: Vec<_> = members.iter().map(|name| format!("-p {name}")).collect();
            ways.push(format!("`{}`, or all packages with `--workspace`", flags.join(" ")));
        }
        ways.extend(outside.iter().map(|(_, file)| format!("`--manifest-path {}`", shown(file))));
        let help = format!("read them with {}; `-o` says where their manifest goes", ways.join(", "));
        Some(Diagnostic { severity: Severity::Warning, message, help: Some(help), place: None, compile_error: false })
    }

    fn subject(&self) -> String {
        match self.read.as_slice() {
            [only] => format!("`{only}` has"),
            _ => "the packages that are read have".to_owned(),
        }
    }
}

fn has_tools(scan: &Scan) -> bool {
    scan.run().is_ok_and(|scanned| !scanned.manifest.is_empty())
}

fn has_tools_outside(cargo_toml: &Path) -> bool {
    let choice = PackageChoice { manifest_path: Some(cargo_toml.to_owned()), ..PackageChoice::default() };
    Selection::of(&choice).is_ok_and(|selection| has_tools(&selection.scan))
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// `a, b and c`
fn joined((last, others): (&String, &[String])) -> String {
    if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) }
}
