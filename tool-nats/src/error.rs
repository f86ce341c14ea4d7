//! What can go wrong outside a call. Whatever happens to a call is its result.

use std::fmt;

/// Why there is no connection, why a worker, a discovery or a queue does not start, or why a queue cannot be asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name of a space cannot be part of a subject.
    Space(String),
    /// The version is not a semantic one.
    Version(String),
    /// The server does not let this worker serve these tools.
    Denied(Vec<String>),
    /// There is no connection.
    Connect {
        /// To which server, without a password.
        server: String,
        /// Why.
        source: async_nats::Error,
    },
    /// The server does not let this user do something.
    Forbidden {
        /// What was to be done.
        doing: &'static str,
        /// What the server does not allow.
        denied: String,
    },
    /// There is no job of this id, or not any more.
    Job(String),
    /// The arguments of a call are longer than a message can be.
    TooLong {
        /// How long they are, in bytes.
        bytes: usize,
        /// How long they can be.
        limit: usize,
    },
    /// NATS failed at something.
    Nats {
        /// What it was to do.
        doing: &'static str,
        /// What it said.
        source: async_nats::Error,
    },
}

impl Error {
    /// Says what NATS was to do when it failed.
    pub(crate) fn nats<E: Into<async_nats::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Nats { doing, source: source.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Space(name) => {
                write!(f, "a space is named by letters, digits, `_` and `-`, not by {name:?}")
            }
            Self::Version(version) => write!(f, "{version:?} is no version such as `1.4.0`"),
            Self::Denied(tools) => write!(
                f,
                "the server does not let this worker serve {}: its user needs `subscribe` and `publish` on their subjects",
                tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
            ),
            Self::Connect { server, source } => write!(f, "no connection to NATS at {server}: {source}"),
            Self::Forbidden { doing, denied } => write!(f, "{doing}: {denied}"),
            Self::Job(id) => write!(f, "there is no job `{id}`"),
            Self::TooLong { bytes, limit } => {
                write!(
                    f,
                    "{bytes} bytes are more than the {limit} for which a message has room (`max_payload` of the server)"
                )
            }
            Self::Nats { doing, source } => write!(f, "{doing}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { source, .. } | Self::Nats { source, .. } => Some(&**source),
            _ => None,
        }
    }
}
