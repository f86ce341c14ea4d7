//! Errors outside of calls. A failed call returns a result.

use std::fmt;

/// An error of a connection, a worker, a discovery or a queue.
#[derive(Debug)]
#[non_exhaustive]
pub enum NatsError {
    /// The name of a space is not a valid subject token.
    Space(String),
    /// The version is not a semantic version.
    Version(String),
    /// The server denies this worker the subjects of these tools.
    Denied(Vec<String>),
    /// The connection failed.
    Connect {
        /// The servers, without passwords.
        server: String,
        /// The cause.
        source: async_nats::Error,
    },
    /// The server denies this user an operation.
    Forbidden {
        /// The operation.
        doing: &'static str,
        /// The server's reason.
        denied: String,
    },
    /// There is no job with this id, or it has expired.
    Job(String),
    /// The arguments of a call exceed the maximum message size.
    TooLong {
        /// The length, in bytes.
        bytes: usize,
        /// The maximum length, in bytes.
        limit: usize,
    },
    /// An operation of NATS failed.
    Nats {
        /// The operation.
        doing: &'static str,
        /// The cause.
        source: async_nats::Error,
    },
}

impl NatsError {
    /// Returns a function that wraps an error of NATS with the operation that failed.
    pub(crate) fn nats<E: Into<async_nats::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Nats { doing, source: source.into() }
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Space(name) => {
                write!(f, "invalid space name {name:?}: use letters, digits, `_` and `-`")
            }
            Self::Version(version) => write!(f, "{version:?} is not a semantic version such as `1.4.0`"),
            Self::Denied(tools) => write!(
                f,
                "the server denies this worker access to {}: its user needs `subscribe` and `publish` permissions on their subjects",
                tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
            ),
            Self::Connect { server, source } => write!(f, "cannot connect to NATS at {server}: {source}"),
            Self::Forbidden { doing, denied } => write!(f, "{doing}: {denied}"),
            Self::Job(id) => write!(f, "there is no job `{id}`"),
            Self::TooLong { bytes, limit } => {
                write!(f, "{bytes} bytes exceed the limit of {limit} bytes (`max_payload` of the server)")
            }
            Self::Nats { doing, source } => write!(f, "{doing}: {source}"),
        }
    }
}

impl std::error::Error for NatsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { source, .. } | Self::Nats { source, .. } => Some(&**source),
            _ => None,
        }
    }
}
