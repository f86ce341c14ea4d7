//! The endpoints of remote servers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "auth")]
use tokio_util::sync::DropGuard;
use url::{Position, Url};

#[cfg(feature = "auth")]
use super::oauth::{OAuth, TokenAccess};
use super::transport::StreamConnector;

/// A path segment of at least this length may be an API key.
const KEY_LENGTH: usize = 16;

/// Removes the potential secrets of a URL from a text: its query, its user name and password, and the long segments of
/// its path, where some services put API keys.
pub(super) fn redact_url(text: &str, url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let user = &url[Position::BeforeUsername..Position::BeforeHost];
    let keys = url.path_segments().into_iter().flatten().filter(|part| part.len() >= KEY_LENGTH);
    let secrets = [(&*query, ""), (user, "")].into_iter().chain(keys.map(|key| (key, "…")));
    secrets
        .filter(|(secret, _)| !secret.is_empty())
        .fold(text.to_owned(), |text, (secret, replacement)| text.replace(secret, replacement))
}

/// The endpoint of a server.
#[derive(Clone)]
pub(crate) enum Endpoint {
    Command(CommandEndpoint),
    Http(HttpEndpoint),
    /// A pair of streams, opened by a function.
    Streams(Arc<dyn StreamConnector>),
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Command(this), Self::Command(other)) => this == other,
            (Self::Http(this), Self::Http(other)) => this == other,
            (Self::Streams(this), Self::Streams(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
    }
}

/// A program to start.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct CommandEndpoint {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub current_dir: Option<PathBuf>,
    /// The modification time of a plugin's executable, so that a new version restarts the server.
    pub modified: Option<SystemTime>,
}

/// A server at a URL.
#[derive(Clone, Default)]
pub(crate) struct HttpEndpoint {
    pub url: String,
    pub headers: BTreeMap<String, String>,
    #[cfg(feature = "auth")]
    pub access: Option<Arc<TokenAccess>>,
    /// Pending logins are cancelled when the last configuration is dropped. Requests hold `access` for longer.
    #[cfg(feature = "auth")]
    pub login_guard: Option<Arc<DropGuard>>,
    /// The configuration requires a login, which this build does not support.
    #[cfg(not(feature = "auth"))]
    pub needs_login: bool,
}

impl HttpEndpoint {
    /// Returns the URL without potential secrets.
    pub(in crate::remote) fn redacted_url(&self) -> String {
        let redacted = Url::parse(&self.url).map(|url| redact_url(url.as_str(), &url));
        redacted.unwrap_or_else(|_| "invalid URL".to_owned())
    }

    #[cfg(feature = "auth")]
    pub(super) fn set_oauth(&mut self, oauth: OAuth) {
        let access = TokenAccess::new(self.url.clone(), oauth);
        self.login_guard = Some(Arc::new(access.login_guard()));
        self.access = Some(Arc::new(access));
    }

    #[cfg(feature = "auth")]
    fn has_same_access(&self, other: &Self) -> bool {
        match (&self.access, &other.access) {
            (Some(this), Some(other)) => this.oauth().is_same(other.oauth()),
            (this, other) => this.is_none() && other.is_none(),
        }
    }

    #[cfg(not(feature = "auth"))]
    fn has_same_access(&self, other: &Self) -> bool {
        self.needs_login == other.needs_login
    }
}

impl PartialEq for HttpEndpoint {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url && self.headers == other.headers && self.has_same_access(other)
    }
}
