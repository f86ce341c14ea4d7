//! What can go wrong with a search.

use std::fmt;
use std::time::Duration;

use tool_runtime::HandlerError;

/// Why there are no results. It never holds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// The application has set up no search.
    NotConfigured,
    /// The provider does not take the key, or wants one.
    Unauthorized(String),
    /// Too many searches.
    RateLimited {
        /// In how many seconds there may be another.
        retry_after: Option<u64>,
    },
    /// The provider answered something else than results.
    Refused(String),
    /// What it answered cannot be read.
    Malformed(String),
    /// It cannot be reached.
    Connection(String),
    /// It did not answer in time.
    TimedOut,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => f.write_str(
                "No web search is set up here, and no call of this tool will find anything. If you know where to look, fetch the page itself.",
            ),
            Self::Unauthorized(why) => write!(f, "The search is not set up rightly: {why}."),
            Self::RateLimited { retry_after: Some(seconds) } => {
                write!(f, "Too many searches: the next can be made in {seconds} seconds.")
            }
            Self::RateLimited { retry_after: None } => f.write_str("Too many searches: wait before the next."),
            Self::Refused(why) => write!(f, "The search was refused: {why}."),
            Self::Malformed(why) => write!(f, "The search gave an answer that cannot be read: {why}."),
            Self::Connection(why) => write!(f, "The search cannot be reached: {why}."),
            Self::TimedOut => f.write_str("The search did not answer in time."),
        }
    }
}

/// No other words will help where the application has to be set up.
impl From<SearchError> for HandlerError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::NotConfigured | SearchError::Unauthorized(_) => Self::fatal(error.to_string()),
            SearchError::RateLimited { retry_after } => {
                Self::failed(error).with_retry_after(retry_after.map(Duration::from_secs))
            }
            error => Self::failed(error),
        }
    }
}
