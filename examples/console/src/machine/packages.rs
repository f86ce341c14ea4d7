//! Packages of a Debian system, from the files of its package manager.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::Serialize;

use super::Machine;
use crate::listing::{clip, megabytes};

/// Number of bytes read from the end of the log.
const HISTORY: u64 = 4_000_000;

/// An installed package.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The architecture.
    pub architecture: String,
    /// A short description.
    pub summary: String,
    /// The installed size.
    pub size_mb: f64,
    /// Its section, such as `admin`.
    pub section: String,
    /// The dependencies in the package manager's syntax. Omitted from lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends: Option<String>,
}

/// A change by the package manager.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackageChange {
    /// The local time.
    pub at: String,
    /// The action: `install`, `upgrade` or `remove`.
    pub action: String,
    /// The package.
    pub package: String,
    /// The previous version, if any.
    pub from: Option<String>,
    /// The new version, if any.
    pub to: Option<String>,
}

impl Machine {
    /// Returns the installed packages, sorted by name.
    ///
    /// # Errors
    /// If the package database does not exist, as on other distributions.
    pub fn packages(&self) -> io::Result<Vec<Package>> {
        let path = self.places().dpkg.join("status");
        let file = File::open(&path).map_err(|error| missing(&path, error))?;
        let mut packages = read(BufReader::new(file))?;
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(packages)
    }

    /// Returns installations, upgrades and removals, newest first.
    ///
    /// # Errors
    /// If the log does not exist.
    pub fn package_changes(&self) -> io::Result<Vec<PackageChange>> {
        let path = &self.places().dpkg_log;
        let text = super::logs::end_of_file(path, HISTORY).map_err(|error| missing(path, error))?;
        Ok(text.lines().rev().filter_map(change).collect())
    }

    /// Returns the package of a file.
    #[must_use]
    pub fn package_of(&self, file: &Path) -> Option<String> {
        let wanted = file.to_str()?;
        for entry in fs::read_dir(self.places().dpkg.join("info")).ok()?.filter_map(Result::ok) {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "list")
                && fs::read_to_string(&path).is_ok_and(|files| files.lines().any(|line| line == wanted))
            {
                let name = path.file_stem()?.to_str()?;
                return Some(name.split(':').next().unwrap_or(name).to_owned());
            }
        }
        None
    }
}

fn missing(path: &Path, error: io::Error) -> io::Error {
    let hint = "packages are known on Debian and its relatives only";
    io::Error::new(error.kind(), format!("{} cannot be read: {error}; {hint}", path.display()))
}

/// Parses paragraphs of `Key: value`, separated by empty lines. Continuation lines begin with a blank and are skipped.
fn read(source: impl BufRead) -> io::Result<Vec<Package>> {
    let mut packages = Vec::new();
    let mut package = Package::default();
    let mut installed = false;
    for line in source.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let done = std::mem::take(&mut package);
            if std::mem::take(&mut installed) && !done.name.is_empty() {
                packages.push(done);
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t'])) else { continue };
        let value = value.trim();
        match key {
            "Package" => package.name = value.to_owned(),
            "Version" => package.version = value.to_owned(),
            "Architecture" => package.architecture = value.to_owned(),
            "Section" => package.section = value.to_owned(),
            "Description" => package.summary = clip(value, 200),
            "Depends" => package.depends = Some(clip(value, 1000)),
            "Installed-Size" => {
                package.size_mb = value.parse().map_or(0.0, |kilobytes: u64| megabytes(kilobytes * 1024))
            }
            "Status" => installed = value.ends_with(" installed"),
            _ => {}
        }
    }
    if installed && !package.name.is_empty() {
        packages.push(package);
    }
    Ok(packages)
}

/// Parses a line such as `2026-01-01 12:00:00 upgrade vim:amd64 2:9.0 2:9.1`.
fn change(line: &str) -> Option<PackageChange> {
    let [date, time, action, package, from, to] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let version = |version: &str| (version != "<none>").then(|| version.to_owned());
    matches!(action, "install" | "upgrade" | "remove" | "purge").then(|| PackageChange {
        at: format!("{date} {time}"),
        action: action.to_owned(),
        package: package.split(':').next().unwrap_or(package).to_owned(),
        from: version(from),
        to: version(to),
    })
}

#[cfg(test)]
mod tests {
    use super::{change, read};

    #[test]
    fn only_what_is_installed_is_a_package() {
        let text = "Package: vim\nStatus: install ok installed\nVersion: 2:9.0\nInstalled-Size: 3000\n\
                    Description: an editor\n Package: not-a-package\n .\n\nPackage: gone\nStatus: deinstall ok config-files\n\
                    Version: 1\n\nPackage: last\nStatus: install ok installed\nVersion: 1\n";
        let packages = read(text.as_bytes()).expect("it can be read");
        assert_eq!(packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>(), ["vim", "last"]);
        assert_eq!((packages[0].summary.as_str(), packages[0].size_mb), ("an editor", 3.1));
    }

    #[test]
    fn bytes_that_are_no_text_are_read_all_the_same() {
        let packages = read(&b"Package: x\nStatus: install ok installed\nDescription: \xff\xfe\n"[..]).expect("read");
        assert_eq!(packages[0].summary, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_change_has_both_versions() {
        let upgrade = change("2026-01-01 12:00:00 upgrade vim:amd64 2:9.0 2:9.1").expect("a change");
        assert_eq!((upgrade.package.as_str(), upgrade.to.as_deref()), ("vim", Some("2:9.1")));
        assert_eq!(change("2026-01-01 12:00:00 install vim:amd64 <none> 2:9.0").expect("a change").from, None);
        assert!(change("2026-01-01 12:00:00 status half-installed vim:amd64 2:9.0").is_none());
    }
}
