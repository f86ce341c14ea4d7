//! The decision that a journal records for a call.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason why a call ran or did not run.
///
/// Journals store its text, which is stable. A text that this version does not know is kept as
/// [`Other`](Self::Other).
///
/// ```
/// use tool_runtime::journal::JournalDecision;
///
/// assert_eq!(JournalDecision::RefusedByPolicy.as_str(), "refused by policy");
/// assert_eq!(JournalDecision::from("refused by policy"), JournalDecision::RefusedByPolicy);
/// assert_eq!(JournalDecision::from("postponed").as_str(), "postponed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JournalDecision {
    /// The policy let the call run.
    Policy,
    /// The user approved the call.
    Confirmed,
    /// The user approved the call with other arguments.
    Edited,
    /// The user refused the call.
    Refused,
    /// The policy refused the call.
    RefusedByPolicy,
    /// The call needs approval and the dispatcher has no confirmer.
    NobodyToAsk,
    /// The user refused the call and ended the turn.
    Aborted,
    /// The call waits for an approval.
    Pending,
    /// The call was a dry run.
    DryRun,
    /// The edited arguments are invalid.
    WrongEdit,
    /// The tool or the call changed between the question and the approval.
    ChangedSinceAsked,
    /// A rate limit rejected the call.
    RateLimited,
    /// Too many calls were running and waiting.
    Busy,
    /// The call was cancelled before its handler started.
    Cancelled,
    /// The call timed out before its handler started.
    TimedOut,
    /// The confirmer or the policy panicked.
    Panicked,
    /// A decision recorded by the application or by a newer version.
    Other(Box<str>),
}

impl JournalDecision {
    /// All decisions but [`Other`](Self::Other).
    const KNOWN: [Self; 16] = [
        Self::Policy,
        Self::Confirmed,
        Self::Edited,
        Self::Refused,
        Self::RefusedByPolicy,
        Self::NobodyToAsk,
        Self::Aborted,
        Self::Pending,
        Self::DryRun,
        Self::WrongEdit,
        Self::ChangedSinceAsked,
        Self::RateLimited,
        Self::Busy,
        Self::Cancelled,
        Self::TimedOut,
        Self::Panicked,
    ];

    /// Returns the text that is stored and serialized.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Policy => "policy",
            Self::Confirmed => "confirmed",
            Self::Edited => "edited",
            Self::Refused => "refused",
            Self::RefusedByPolicy => "refused by policy",
            Self::NobodyToAsk => "nobody to ask",
            Self::Aborted => "aborted",
            Self::Pending => "pending",
            Self::DryRun => "dry run",
            Self::WrongEdit => "wrong edit",
            Self::ChangedSinceAsked => "changed since asked",
            Self::RateLimited => "rate limited",
            Self::Busy => "busy",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed out",
            Self::Panicked => "panicked",
            Self::Other(text) => text,
        }
    }
}

impl From<&str> for JournalDecision {
    fn from(text: &str) -> Self {
        Self::KNOWN.into_iter().find(|known| known.as_str() == text).unwrap_or_else(|| Self::Other(text.into()))
    }
}

impl From<String> for JournalDecision {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl FromStr for JournalDecision {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl fmt::Display for JournalDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for JournalDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for JournalDecision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_decision_from_its_text() {
        for known in JournalDecision::KNOWN {
            assert_eq!(JournalDecision::from(known.as_str()), known);
            let written = serde_json::to_string(&known).unwrap();
            assert_eq!(serde_json::from_str::<JournalDecision>(&written).unwrap(), known, "{written}");
        }
    }

    #[test]
    fn keeps_the_text_of_an_unknown_decision() {
        let decision: JournalDecision = serde_json::from_str("\"postponed\"").unwrap();
        assert_eq!(decision, JournalDecision::Other("postponed".into()));
        assert_eq!(serde_json::to_string(&decision).unwrap(), "\"postponed\"");
    }
}
