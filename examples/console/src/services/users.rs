//! The tools `users.*`: who has an account on this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::{Listing, rounded};
use crate::machine::Machine;
use crate::machine::passwd::User;

/// Who has an account.
pub struct UsersService {
    machine: Machine,
}

/// Which users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// People, the administrator among them.
    People,
    /// Accounts of services.
    Services,
    /// All of them.
    All,
}

/// A user with what runs for them.
#[derive(Clone, Debug, Serialize)]
pub struct UserDetails {
    /// The account.
    #[serde(flatten)]
    pub user: User,
    /// The groups.
    pub groups: Vec<String>,
    /// How many processes run for them.
    pub processes: usize,
    /// What these hold in memory.
    pub memory_mb: f64,
}

#[tool_class(prefix = "users", category = "users")]
impl UsersService {
    /// Made for each call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// The accounts of this machine, sorted by number. Passwords are never read.
    #[tool(read_only, blocking)]
    pub fn list(
        &self,
        /// Which users.
        #[arg(default = "people")]
        who: Who,
        /// How many at most.
        #[arg(default = 50, min = 1, max = 500)]
        limit: usize,
    ) -> Result<Listing<User>, HandlerError> {
        let mut users = self.machine.users()?;
        users.retain(|user| match who {
            Who::People => user.is_person,
            Who::Services => !user.is_person,
            Who::All => true,
        });
        Ok(Listing::first(users, limit))
    }

    /// One account, with its groups and what runs for it.
    #[tool(read_only, blocking)]
    pub fn show(
        &self,
        /// The user's name, such as `root`.
        #[arg(min_length = 1, max_length = 100)]
        name: &str,
    ) -> Result<UserDetails, HandlerError> {
        let user = self.machine.users()?.into_iter().find(|user| user.name == name).ok_or_else(|| {
            HandlerError::retry(format!("There is no user `{name}`. `users.list` with `all` says who there is."))
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
