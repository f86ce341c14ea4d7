//! Annotated services.

use tool_runtime::{tool, tool_class};

/// The machine. Its prefix is derived from its name.
pub struct SystemService;

#[tool_class]
impl SystemService {
    /// Return a snapshot of the system.
    pub fn build_system_snapshot(&self) -> &'static str {
        "all is well"
    }

    /// Restart the machine.
    #[tool(name = "system.restart", description = "Restart the machine now.", sensitive)]
    pub fn reboot(&self) -> &'static str {
        helper()
    }

    #[expect(dead_code, reason = "a private method is no tool")]
    fn private(&self) {}
}

fn helper() -> &'static str {
    "restarted"
}

/// A service that exports some of its methods.
pub struct DiskService;

#[tool_class(prefix = "disks", include = ["usage"])]
impl DiskService {
    /// Return the used share of the disk.
    pub fn usage(&self) -> f64 {
        0.5
    }

    /// Not exported, because it is not in the list.
    pub fn format(&self) {}
}

/// A service that exports all but some of its methods.
pub struct AccountService;

#[tool_class(prefix = "accounts", exclude = ["reset"], category = "people", tags = ["accounts"])]
impl AccountService {
    /// Count the accounts.
    #[tool(read_only, instructions = "Count before you list.")]
    pub fn count(&self) -> usize {
        2
    }

    /// List the accounts.
    #[tool(read_only, tags = ["list"], instructions = "List at most once.")]
    pub async fn list(&self) -> Vec<&'static str> {
        vec!["ada", "ben"]
    }

    /// Excluded.
    pub fn reset(&self) {}
}
