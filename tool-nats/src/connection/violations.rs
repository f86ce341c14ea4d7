//! Permission violations. The server reports them to the connection, not to the request that was denied.

use std::fmt;

use async_nats::ServerError;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// The capacity of a subscription to permission violations.
const CAPACITY: usize = 64;

/// A permission violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PermissionViolation {
    Publish(String),
    Subscribe(String),
}

impl PermissionViolation {
    /// Parses messages such as `Permissions Violation for Publish to "tools.call.math.add"`.
    fn parse(error: &ServerError) -> Option<Self> {
        let ServerError::Other(text) = error else { return None };
        let (what, rest) = text.split_once(" to \"")?;
        let subject = rest.split('"').next()?.to_owned();
        match what.to_ascii_lowercase().strip_prefix("permissions violation for ")? {
            "publish" => Some(Self::Publish(subject)),
            "subscription" => Some(Self::Subscribe(subject)),
            _ => None,
        }
    }

    pub(crate) fn subject(&self) -> &str {
        match self {
            Self::Publish(subject) | Self::Subscribe(subject) => subject,
        }
    }

    /// Returns `true` if the subject contains these consecutive tokens.
    pub(super) fn has_tokens(&self, tokens: &str) -> bool {
        format!(".{}.", self.subject()).contains(&format!(".{tokens}."))
    }
}

impl fmt::Display for PermissionViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, subject) = match self {
            Self::Publish(subject) => ("publish to", subject),
            Self::Subscribe(subject) => ("subscribe to", subject),
        };
        write!(f, "the server does not allow this user to {verb} `{subject}`")
    }
}

/// A broadcast channel of permission violations.
#[derive(Clone, Debug)]
pub(crate) struct ViolationChannel(broadcast::Sender<PermissionViolation>);

impl Default for ViolationChannel {
    fn default() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }
}

impl ViolationChannel {
    pub(super) fn report(&self, error: &ServerError) {
        if let Some(denied) = PermissionViolation::parse(error) {
            tracing::warn!("{denied}");
            // Fails without subscribers, which is fine.
            let _ = self.0.send(denied);
        }
    }

    /// Subscribes to future violations.
    pub(crate) fn subscribe(&self) -> ViolationSubscription {
        ViolationSubscription(self.0.subscribe())
    }
}

/// A subscription to permission violations.
pub(crate) struct ViolationSubscription(broadcast::Receiver<PermissionViolation>);

impl ViolationSubscription {
    /// Waits for the next violation. Cancel safe.
    pub(crate) async fn next(&mut self) -> PermissionViolation {
        loop {
            match self.0.recv().await {
                Ok(denied) => return denied,
                // A denied request that misses its violation times out, like one on a foreign client.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_subject_tokens() {
        let denied = PermissionViolation::Publish("$KV.tools-job-states.math.add.0af3".to_owned());
        for tokens in ["math.add.0af3", "math.add", "tools-job-states", "$KV"] {
            assert!(denied.has_tokens(tokens), "{tokens}");
        }
        for others in ["math.ad", "th.add", "tools-job", "add.math", "math.add.0af3.1"] {
            assert!(!denied.has_tokens(others), "{others}");
        }
    }

    #[test]
    fn parses_permission_violations() {
        let read = |text: &str| PermissionViolation::parse(&ServerError::Other(text.to_owned()));
        let publish = "Permissions Violation for Publish to \"tools.call.Math.add\"";
        assert_eq!(read(publish), Some(PermissionViolation::Publish("tools.call.Math.add".to_owned())));
        let subscribe = "Permissions Violation for Subscription to \"tools.call.x\" using queue \"tools\"";
        assert_eq!(read(subscribe), Some(PermissionViolation::Subscribe("tools.call.x".to_owned())));
        for other in ["Stale Connection", "Maximum Payload Violation", "Permissions Violation for x to \"y\""] {
            assert_eq!(read(other), None);
        }
    }
}
