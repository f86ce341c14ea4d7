//! The head of a request that is plainly in order.

use std::sync::Arc;

use axum::extract::Request;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The header that names a session of the 2025 generation.
pub(in crate::server) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// What stands before a name that is written in another way.
const ENCODED: &str = "=?";

/// By which names a server is reached: any, or these, as they are written.
pub(super) struct Hosts(Option<Vec<Authority>>);

impl Hosts {
    pub(super) fn any() -> Self {
        Self(None)
    }

    /// One that is written in another way than requests write it is left to rmcp.
    pub(super) fn named(hosts: &[String]) -> Self {
        Self(Some(hosts.iter().filter_map(|host| host.parse().ok()).collect()))
    }

    /// Whether a request is plainly for one of them. One that has no port stands for every port.
    fn include(&self, headers: &HeaderMap) -> bool {
        let Some(host) = only(headers, &header::HOST) else { return false };
        let Some(known) = &self.0 else { return host.parse::<Authority>().is_ok() };
        known.iter().any(|known| match host.strip_prefix(known.as_str()) {
            Some("") => true,
            Some(rest) => {
                known.port().is_none() && rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
            }
            None => false,
        })
    }
}

/// What the head of a request says of a call that is plainly in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// In a session.
    Of2025,
    /// In none.
    Of2026,
}

impl Head {
    /// Nothing if the request is no call, or something about it has to be looked at.
    pub(super) fn of(request: &Request, hosts: &Hosts, max_body: usize) -> Option<Self> {
        let headers = request.headers();
        let has = |name, what: &str| only(headers, &name).is_some_and(|value| value.contains(what));
        let length: usize = only(headers, &header::CONTENT_LENGTH)?.parse().ok()?;
        // A browser says which page a request is of. Such a page may be anybody's, and has to be looked at.
        let in_order = request.method() == Method::POST
            && hosts.include(headers)
            && !headers.contains_key(header::ORIGIN)
            && has(header::ACCEPT, "application/json")
            && has(header::ACCEPT, "text/event-stream")
            && only(headers, &header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
            && length <= max_body;
        match only(headers, &VERSION)? {
            _ if !in_order => None,
            "2025-06-18" | "2025-11-25" if headers.contains_key(SESSION) => Some(Self::Of2025),
            "2026-07-28" if only(headers, &METHOD) == Some("tools/call") && !headers.contains_key(SESSION) => {
                Some(Self::Of2026)
            }
            _ => None,
        }
    }

    /// Whether the head of a request of 2026-07-28 names this tool.
    pub(super) fn names(headers: &HeaderMap, tool: &str) -> bool {
        only(headers, &NAME) == Some(tool) && !tool.starts_with(ENCODED)
    }

    /// The session that a request belongs to.
    pub(super) fn session(headers: &HeaderMap) -> Option<Arc<str>> {
        only(headers, &SESSION).map(Arc::from)
    }
}

/// A header's value, if it is there once, and is a text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value: &HeaderValue = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}
