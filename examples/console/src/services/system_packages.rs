//! The tools `system_packages.*`: installed packages.

use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::{Listing, contains};
use crate::machine::Machine;
use crate::machine::packages::{Package, PackageChange};

/// Installed packages.
pub struct SystemPackagesService {
    machine: Machine,
}

#[tool_class(prefix = "system_packages", category = "packages")]
impl SystemPackagesService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns installed packages whose name or summary contains a word, sorted by name. An empty word matches all.
    #[tool(read_only, blocking)]
    pub fn search(
        &self,
        /// The word, ignoring case, such as `openssl`.
        #[arg(default = "", max_length = 100)]
        word: &str,
        /// Maximum number of items.
        #[arg(default = 25, min = 1, max = 200)]
        limit: usize,
    ) -> Result<Listing<Package>, HandlerError> {
        let mut found = self.machine.packages()?;
        found.retain(|package| contains(&package.name, word) || contains(&package.summary, word));
        found.iter_mut().for_each(|package| package.depends = None);
        Ok(Listing::first(found, limit))
    }

    /// Returns one installed package, with its dependencies.
    #[tool(read_only, blocking)]
    pub fn show(
        &self,
        /// The exact name, such as `libc6`.
        #[arg(min_length = 1, max_length = 200)]
        name: &str,
    ) -> Result<Package, HandlerError> {
        let found = self.machine.packages()?.into_iter().find(|package| package.name == name);
        found.ok_or_else(|| {
            HandlerError::retry(format!("No package `{name}` is installed. `system_packages.search` finds names."))
        })
    }

    /// Returns the installed packages that take the most disk space, the largest first.
    #[tool(read_only, blocking)]
    pub fn largest(
        &self,
        /// Maximum number of items.
        #[arg(default = 10, min = 1, max = 100)]
        limit: usize,
    ) -> Result<Listing<Package>, HandlerError> {
        let mut packages = self.machine.packages()?;
        packages.iter_mut().for_each(|package| package.depends = None);
        packages.sort_by(|a, b| b.size_mb.total_cmp(&a.size_mb));
        Ok(Listing::first(packages, limit))
    }

    /// Returns the installed, upgraded and removed packages, the newest change first.
    #[tool(read_only, blocking)]
    pub fn history(
        &self,
        /// Only changes of packages whose name contains this.
        package: Option<&str>,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 200)]
        limit: usize,
    ) -> Result<Listing<PackageChange>, HandlerError> {
        let mut changes = self.machine.package_changes()?;
        changes.retain(|change| package.is_none_or(|name| contains(&change.package, name)));
        Ok(Listing::first(changes, limit))
    }
}
