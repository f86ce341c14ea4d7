//! How much of a page is fetched, and how long it may take.

use std::time::Duration;

/// Limits of what is fetched. Whatever a page does, it is bounded by them.
///
/// ```
/// use std::time::Duration;
///
/// use tool_builtins::web::{Limits, Web};
///
/// let web = Web::new().limits(Limits { time: Duration::from_secs(10), ..Limits::default() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a page may take, with all redirections: 30 seconds.
    pub time: Duration,
    /// How long a connection may take: 10 seconds.
    pub connect: Duration,
    /// How many bytes of a page are read, after decompression: 5 million. The rest is cut off.
    pub bytes: usize,
    /// How many redirections are followed: 10.
    pub redirects: usize,
    /// How many characters a result has if the model does not say: 20,000.
    pub length: usize,
    /// How many characters a result has at most, whatever the model says: 100,000.
    pub longest: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            bytes: 5_000_000,
            redirects: 10,
            length: 20_000,
            longest: 100_000,
        }
    }
}
