//! Errors of the web tools.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use tool_runtime::display::excerpt;
use url::Url;

use crate::count::format_count;

/// The reason why a page was not fetched. The model reads the message, which says what to do where possible.
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL's scheme is neither `http` nor `https`.
    Scheme(String),
    /// The URL contains a user name or password.
    UserInfo,
    /// The port is not used by web servers.
    Port(u16),
    /// The host has no public address and is not allowed by name.
    PrivateHost(PrivateHost),
    /// A redirect without a valid URL.
    BadRedirect(String),
    /// A redirect to a page that was requested before.
    RedirectLoop(Url),
    /// More redirects than the limit.
    TooManyRedirects(usize),
    /// The time limit was exceeded.
    TimedOut(Duration),
    /// The server responded with an error status.
    ErrorResponse(Box<ErrorResponse>),
    /// The body is not text.
    Binary {
        /// The media type.
        kind: String,
        /// The length in bytes, if known.
        length: Option<u64>,
    },
    /// `start` is beyond the end of the page.
    PastEnd {
        /// The length of the page in characters.
        length: usize,
    },
    /// The connection failed.
    Connection(String),
    /// The client cannot be built, for instance because no root certificates are installed.
    Client(String),
}

/// A response with an error status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The requested page.
    pub url: Url,
    /// The status, such as `404 Not SearchResult`.
    pub status: String,
    /// The `Retry-After` header: a number of seconds, or a date.
    pub retry_after: Option<String>,
    /// The beginning of the body, as text.
    pub body: String,
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, status, retry_after, body } = self;
        write!(f, "{} responded with {status}.", excerpt(url.as_str()))?;
        if let Some(delay) = retry_after {
            let unit = if delay.bytes().all(|byte| byte.is_ascii_digit()) { " seconds" } else { "" };
            write!(f, " Try again after {delay}{unit}.")?;
        }
        if body.is_empty() { Ok(()) } else { write!(f, " The response:\n{body}") }
    }
}

/// A host without a public address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrivateHost {
    /// The host, as requested.
    pub host: String,
    /// One of its addresses.
    pub address: IpAddr,
    /// The special purpose of that address.
    pub purpose: &'static str,
}

impl fmt::Display for PrivateHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address, purpose } = self;
        write!(f, "{} is not on the public internet", excerpt(host))?;
        // The address behind an internal name must not be disclosed to the model.
        if host.trim_matches(['[', ']']) == address.to_string() {
            write!(f, ": its address is {purpose}.")
        } else {
            f.write_str(".")
        }
    }
}

impl Error for PrivateHost {}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "Only http and https can be fetched, not {}.", excerpt(scheme)),
            Self::UserInfo => {
                f.write_str("URLs with a user name or password are not fetched; leave out the part before the @.")
            }
            Self::Port(port) => write!(f, "Port {port} is not used by web servers and is blocked."),
            Self::PrivateHost(refused) => refused.fmt(f),
            Self::BadRedirect(reason) => write!(f, "The page redirects, but {reason}."),
            Self::RedirectLoop(url) => write!(f, "The page redirects in a loop, back to {}.", excerpt(url.as_str())),
            Self::TooManyRedirects(limit) => write!(f, "The page redirects more than {limit} times."),
            Self::TimedOut(time) => write!(f, "The page was not received within {} seconds.", time.as_secs_f32()),
            Self::ErrorResponse(refusal) => refusal.fmt(f),
            Self::Binary { kind, length: None } => write!(f, "The content is not text but {kind}."),
            Self::Binary { kind, length: Some(length) } => {
                write!(f, "The content is not text but {kind}, {}.", format_count(*length, "byte"))
            }
            Self::PastEnd { length } => {
                write!(f, "`start` is beyond the end of the page, which has {}.", format_count(*length, "character"))
            }
            Self::Connection(reason) => write!(f, "The page cannot be fetched: {reason}."),
            Self::Client(reason) => write!(f, "Pages cannot be fetched here: {reason}."),
        }
    }
}

impl Error for FetchError {}

impl From<PrivateHost> for FetchError {
    fn from(refused: PrivateHost) -> Self {
        Self::PrivateHost(refused)
    }
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        if let Some(refused) = causes(&error).find_map(|cause| cause.downcast_ref::<PrivateHost>()) {
            return Self::PrivateHost(refused.clone());
        }
        Self::Connection(describe(&error))
    }
}

/// Describes a client error without its URL, which may contain a key.
pub(super) fn describe(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the connection timed out".to_owned();
    }
    // The innermost cause is the most specific.
    let innermost = causes(error).last().map_or_else(String::new, ToString::to_string);
    match error {
        _ if error.is_connect() => format!("no connection ({innermost})"),
        _ if error.is_decode() || error.is_body() => format!("the response is broken ({innermost})"),
        _ => innermost,
    }
}

/// Iterates over the causes of an error, excluding the error itself.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// An invalid setting of the [`Web`](super::Web) service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebConfigError(String);

impl WebConfigError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for WebConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for WebConfigError {}
