//! The tools `users.*`: user accounts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::{Listing, rounded};
use crate::machine::Machine;
use crate::machine::passwd::User;

/// User accounts.
pub struct UsersService {
    machine: Machine,
}

/// The accounts to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccountFilter {
    /// Regular users and root.
    People,
    /// Service accounts.
    Services,
    /// All users.
    All,
}

/// A user with the number of their processes.
#[derive(Clone, Debug, Serialize)]
pub struct UserDetails {
    /// The account.
    #[serde(flatten)]
    pub user: User,
    /// The groups.
    pub groups: Vec<String>,
    /// The number of their processes.
    pub processes: usize,
    /// The memory of their processes.
    pub memory_mb: f64,
}

#[tool_class(prefix = "users", category = "users")]
impl UsersService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns the accounts of this machine, sorted by id. Passwords are never read.
    #[tool(read_only, blocking)]
    pub fn list(
        &self,
        /// The accounts to list.
        #[arg(default = "people")]
        who: AccountFilter,
        /// Maximum number of items.
        #[arg(default = 50, min = 1, max = 500)]
        limit: usize,
    ) -> Result<Listing<User>, HandlerError> {
        let mut users = self.machine.users()?;
        users.retain(|user| match who {
            AccountFilter::People => user.is_person,
            AccountFilter::Services => !user.is_person,
            AccountFilter::All => true,
        });
        Ok(Listing::first(users, limit))
    }

    /// Returns one account, with its groups and the number of its processes.
    #[tool(read_only, blocking)]
    pub fn show(
        &self,
        /// The user's name, such as `root`.
        #[arg(min_length = 1, max_length = 100)]
        name: &str,
    ) -> Result<UserDetails, HandlerError> {
        let user = self.machine.users()?.into_iter().find(|user| user.name == name).ok_or_else(|| {
            HandlerError::retry(format!("There is no user `{name}`. `users.list` with `all` lists the accounts."))
        })?;
        let mut processes = self.machine.processes();
        processes.retain(|process| process.user.as_deref() == Some(name));
        Ok(UserDetails {
            groups: self.machine.groups_of(name),
            processes: processes.len(),
            memory_mb: rounded(processes.iter().map(|process| process.memory_mb).sum()),
            user,
        })
    }
}
