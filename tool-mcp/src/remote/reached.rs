//! How a server is reached: by starting it, behind a URL, or over two streams.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::transport::Connect;

/// How a server is reached.
#[derive(Clone)]
pub(crate) enum Reached {
    Command(Command),
    Http(Http),
    /// Over any two streams, which a function opens.
    Streams(Arc<dyn Connect>),
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Command(this), Self::Command(other)) => this == other,
            (Self::Http(this), Self::Http(other)) => this == other,
            (Self::Streams(this), Self::Streams(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
    }
}

/// A program that is started.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Command {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub folder: Option<PathBuf>,
    /// When the program was written last, where a change of it is to be noticed.
    pub written: Option<SystemTime>,
}

/// A server behind a URL.
#[derive(Clone, Default)]
pub(crate) struct Http {
    pub url: String,
    pub headers: BTreeMap<String, String>,
    #[cfg(feature = "auth")]
    pub access: Option<Arc<super::oauth::Access>>,
}

impl Http {
    #[cfg(feature = "auth")]
    fn same_access(&self, other: &Self) -> bool {
        match (&self.access, &other.access) {
            (Some(this), Some(other)) => this.oauth().is_same(other.oauth()),
            (this, other) => this.is_none() && other.is_none(),
        }
    }

    #[cfg(not(feature = "auth"))]
    fn same_access(&self, _other: &Self) -> bool {
        true
    }
}

impl PartialEq for Http {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url && self.headers == other.headers && self.same_access(other)
    }
}
