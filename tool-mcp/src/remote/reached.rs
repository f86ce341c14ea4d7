//! How a server is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "auth")]
use tokio_util::sync::DropGuard;
use url::{Position, Url};

#[cfg(feature = "auth")]
use super::oauth::{Access, OAuth};
use super::transport::Connect;

/// A part of a path that is this long is rather a key than a name.
const KEY_LENGTH: usize = 16;

/// Words without what may be secret of a URL in them: its query, the name and password before its host, and the long
/// parts of its path, which is where some services have keys.
pub(super) fn without_secrets(words: &str, url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let user = &url[Position::BeforeUsername..Position::BeforeHost];
    let keys = url.path_segments().into_iter().flatten().filter(|part| part.len() >= KEY_LENGTH);
    let secrets = [(&*query, ""), (user, "")].into_iter().chain(keys.map(|key| (key, "…")));
    secrets
        .filter(|(secret, _)| !secret.is_empty())
        .fold(words.to_owned(), |words, (secret, instead)| words.replace(secret, instead))
}

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
    pub access: Option<Arc<Access>>,
    /// Requests have the access, too; only as long as it is configured is anybody waited for.
    #[cfg(feature = "auth")]
    pub wanted: Option<Arc<DropGuard>>,
    /// Whether somebody is to log in, which nobody can.
    #[cfg(not(feature = "auth"))]
    pub wants_login: bool,
}

impl Http {
    /// The URL without what may be secret in it.
    pub(in crate::remote) fn bare_url(&self) -> String {
        let bare = Url::parse(&self.url).map(|url| without_secrets(url.as_str(), &url));
        bare.unwrap_or_else(|_| "no URL".to_owned())
    }

    #[cfg(feature = "auth")]
    pub(super) fn log_in(&mut self, oauth: OAuth) {
        let access = Access::new(self.url.clone(), oauth);
        self.wanted = Some(Arc::new(access.wanted()));
        self.access = Some(Arc::new(access));
    }

    #[cfg(feature = "auth")]
    fn same_access(&self, other: &Self) -> bool {
        match (&self.access, &other.access) {
            (Some(this), Some(other)) => this.oauth().is_same(other.oauth()),
            (this, other) => this.is_none() && other.is_none(),
        }
    }

    #[cfg(not(feature = "auth"))]
    fn same_access(&self, other: &Self) -> bool {
        self.wants_login == other.wants_login
    }
}

impl PartialEq for Http {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url && self.headers == other.headers && self.same_access(other)
    }
}
