//! What can go wrong on the way to a page.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use crate::count::counted;

/// Why there is no page. The model reads it, so it says what to do where there is something to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// Only `http` and `https` are spoken.
    Scheme(String),
    /// A URL with a user or password in it.
    UserInfo,
    /// A port that is none of the web.
    Port(u16),
    /// A host that has no public address, and is not allowed by name.
    Refused(Refused),
    /// A redirection that leads nowhere or to something that is no URL.
    BadRedirect(String),
    /// A redirection to a page that was asked before.
    RedirectLoop(Url),
    /// More redirections than are followed.
    TooManyRedirects(usize),
    /// The page was not there in time.
    TimedOut(Duration),
    /// The server answered that there is no page.
    Refusal(Box<Refusal>),
    /// A page that is no text.
    Binary {
        /// What it is.
        kind: String,
        /// How long it is, if that is known.
        length: Option<u64>,
    },
    /// The page ends before the place that was asked for.
    PastEnd {
        /// How many characters it has.
        length: usize,
    },
    /// The connection failed.
    Connection(String),
    /// The client cannot be built, for instance without any root certificate.
    Client(String),
}

/// An answer of a server that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The page that was asked for.
    pub url: Url,
    /// Such as `404 Not Found`.
    pub status: String,
    /// In how many seconds, or when, to try again.
    pub retry_after: Option<String>,
    /// The beginning of what it said.
    pub said: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, status, retry_after, said } = self;
        write!(f, "{url} answered {status}.")?;
        if let Some(when) = retry_after {
            let unit = if when.bytes().all(|byte| byte.is_ascii_digit()) { " seconds" } else { "" };
            write!(f, " It says to try again after {when}{unit}.")?;
        }
        if said.is_empty() { Ok(()) } else { write!(f, " It says:\n{said}") }
    }
}

/// A host whose addresses are not to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The host, as it was asked for.
    pub host: String,
    /// An address of it.
    pub address: IpAddr,
    /// What is special about that address.
    pub why: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address, why } = self;
        write!(f, "{host} is not on the public internet")?;
        // The address of a name inside a network is nothing for a model to learn.
        if host.trim_matches(['[', ']']) == address.to_string() {
            write!(f, ": its address is {why}.")
        } else {
            f.write_str(".")
        }
    }
}

impl Error for Refused {}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "Only http and https can be fetched, not {scheme}."),
            Self::UserInfo => {
                f.write_str("A URL with a user name or password is not fetched: leave out what stands before the @.")
            }
            Self::Port(port) => write!(f, "Port {port} is none of the web."),
            Self::Refused(refused) => refused.fmt(f),
            Self::BadRedirect(why) => write!(f, "The page redirects, but {why}."),
            Self::RedirectLoop(url) => write!(f, "The page redirects in a circle, to {url} again."),
            Self::TooManyRedirects(most) => write!(f, "The page redirects more than {most} times."),
            Self::TimedOut(time) => write!(f, "The page did not come within {} seconds.", time.as_secs_f32()),
            Self::Refusal(refusal) => refusal.fmt(f),
            Self::Binary { kind, length: None } => write!(f, "This is no text but {kind}."),
            Self::Binary { kind, length: Some(length) } => {
                write!(f, "This is no text but {kind}, {}.", counted(*length, "byte"))
            }
            Self::PastEnd { length } => {
                write!(f, "The page ends before that: it has {}.", counted(*length, "character"))
            }
            Self::Connection(why) => write!(f, "The page cannot be fetched: {why}."),
            Self::Client(why) => write!(f, "Pages cannot be fetched here: {why}."),
        }
    }
}

impl Error for FetchError {}

impl From<Refused> for FetchError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        if let Some(refused) = causes(&error).find_map(|cause| cause.downcast_ref::<Refused>()) {
            return Self::Refused(refused.clone());
        }
        Self::Connection(reason(&error))
    }
}

/// An error of the client in words. Its own words name the URL, which may hold a key.
pub(super) fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the connection took too long".to_owned();
    }
    // The innermost cause says what happened; those around it, where.
    let innermost = causes(error).last().map_or_else(String::new, ToString::to_string);
    match error {
        _ if error.is_connect() => format!("no connection ({innermost})"),
        _ if error.is_decode() || error.is_body() => format!("what came is broken ({innermost})"),
        _ => innermost,
    }
}

/// An error's causes, the error itself left out.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// Why a service cannot be set up as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConfigError {}
