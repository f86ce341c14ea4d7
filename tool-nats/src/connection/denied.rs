//! What the server does not let a connection do. It says so to the connection and not to whoever waits for an answer.

use std::fmt;

use async_nats::ServerError;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many denials wait for one who listens slowly.
const WAITING: usize = 64;

/// A subject that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Publish(String),
    Subscribe(String),
}

impl Denied {
    /// Reads `Permissions Violation for Publish to "tools.call.math.add"` and the like.
    fn read(error: &ServerError) -> Option<Self> {
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

    /// Whether its subject has these tokens, one behind the other and each as a whole.
    pub(super) fn has(&self, tokens: &str) -> bool {
        format!(".{}.", self.subject()).contains(&format!(".{tokens}."))
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, subject) = match self {
            Self::Publish(subject) => ("publish to", subject),
            Self::Subscribe(subject) => ("subscribe to", subject),
        };
        write!(f, "the server does not let this user {verb} `{subject}`")
    }
}

/// Tells whoever listens what was denied.
#[derive(Clone, Debug)]
pub(crate) struct Denials(broadcast::Sender<Denied>);

impl Default for Denials {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Denials {
    pub(super) fn hear(&self, error: &ServerError) {
        if let Some(denied) = Denied::read(error) {
            tracing::warn!("{denied}");
            // Whether somebody listens does not matter.
            let _ = self.0.send(denied);
        }
    }

    /// Listens from now on.
    pub(crate) fn follow(&self) -> Following {
        Following(self.0.subscribe())
    }
}

/// What is denied from now on.
pub(crate) struct Following(broadcast::Receiver<Denied>);

impl Following {
    /// The next one. Can be cancelled without loss.
    pub(crate) async fn next(&mut self) -> Denied {
        loop {
            match self.0.recv().await {
                Ok(denied) => return denied,
                // Whoever has missed some waits as long as one that nobody tells anything.
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
    fn a_subject_has_tokens_as_a_whole() {
        let denied = Denied::Publish("$KV.tools-job-states.math.add.0af3".to_owned());
        for tokens in ["math.add.0af3", "math.add", "tools-job-states", "$KV"] {
            assert!(denied.has(tokens), "{tokens}");
        }
        for others in ["math.ad", "th.add", "tools-job", "add.math", "math.add.0af3.1"] {
            assert!(!denied.has(others), "{others}");
        }
    }

    #[test]
    fn the_servers_words_are_read() {
        let read = |text: &str| Denied::read(&ServerError::Other(text.to_owned()));
        let publish = "Permissions Violation for Publish to \"tools.call.Math.add\"";
        assert_eq!(read(publish), Some(Denied::Publish("tools.call.Math.add".to_owned())));
        let subscribe = "Permissions Violation for Subscription to \"tools.call.x\" using queue \"tools\"";
        assert_eq!(read(subscribe), Some(Denied::Subscribe("tools.call.x".to_owned())));
        for other in ["Stale Connection", "Maximum Payload Violation", "Permissions Violation for x to \"y\""] {
            assert_eq!(read(other), None);
        }
    }
}
