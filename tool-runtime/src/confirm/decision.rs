//! What a person said.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The call runs with the arguments that were shown.
    Run,
    /// The call does not run. The model is told the reason, if there is one.
    Refuse(Option<String>),
    /// Nothing more runs: the call is refused, and whoever made it is to stop.
    Abort,
    /// The call runs with these arguments, which are checked as any others are.
    Edit(Value),
    /// Nobody has answered yet. Someone will, with this token.
    Pending(PendingApproval),
}

impl Decision {
    /// A refusal with a reason that the model reads.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self::Refuse(Some(reason.into()))
    }
}

/// A call that waits for an answer. Its `Debug` form hides the token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// Whoever has it can have the call run: show it to the person who decides, and not to the model.
    pub token: String,
    /// When it is too late to answer.
    pub expires: SystemTime,
}

impl PendingApproval {
    /// A call that waits for an answer with this token, until then.
    pub fn new(token: impl Into<String>, expires: SystemTime) -> Self {
        Self { token: token.into(), expires }
    }
}

impl fmt::Debug for PendingApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingApproval").field("token", &format_args!("***")).field("expires", &self.expires).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_logged_by_chance() {
        let pending = Decision::Pending(PendingApproval::new("a token", SystemTime::UNIX_EPOCH));
        assert!(!format!("{pending:?}").contains("a token"), "{pending:?}");
    }
}
