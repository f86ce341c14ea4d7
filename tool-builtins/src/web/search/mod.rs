//! Search providers.

mod brave;
mod endpoint;
mod searxng;

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use tool_runtime::HandlerError;
use tool_runtime::display::fold;
use url::Url;

pub use self::brave::Brave;
pub use self::searxng::SearxNg;
use super::error::WebConfigError;

/// A search query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SearchQuery {
    /// The words to search for.
    pub text: String,
    /// The maximum number of results. Further ones are dropped.
    pub max_results: usize,
}

/// A provider for `web_search`. Dropping the future cancels the search.
pub trait SearchProvider: Send + Sync + 'static {
    /// Returns the name of the provider, such as `Brave`.
    fn name(&self) -> &str;

    /// Searches for pages, best match first.
    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a>;
}

/// A running search.
pub type SearchFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<SearchResult>, SearchError>> + Send + 'a>>;

/// Configures a provider from the environment; see [`Web::search_from_env`](super::Web::search_from_env).
pub(super) fn from_env() -> Result<Option<Box<dyn SearchProvider>>, WebConfigError> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if let Some(key) = variable("BRAVE_API_KEY") {
        return Ok(Some(Box::new(Brave::new(&key)?)));
    }
    match variable("SEARXNG_URL") {
        Some(url) => Ok(Some(Box::new(SearxNg::new(&url)?))),
        None => Ok(None),
    }
}

/// A page found by a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The title.
    pub title: String,
    /// The URL.
    pub url: String,
    /// An excerpt that matches the query.
    pub snippet: String,
    /// The age or date of the page, in the provider's format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
}

impl SearchResult {
    /// Creates a result of unknown age.
    #[must_use]
    pub fn new(title: &str, url: &str, snippet: &str) -> Self {
        Self { title: one_line(title), url: url.to_owned(), snippet: one_line(snippet), age: None }
    }

    /// Sets the age or date.
    #[must_use]
    pub fn age(mut self, age: Option<&str>) -> Self {
        self.age = age.map(one_line).filter(|age| !age.is_empty());
        self
    }

    /// Returns `true` if the URL can be fetched.
    fn is_fetchable(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    }
}

/// Joins text into one line, so that a result cannot imitate several.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The results of a query, formatted for the model by `Display` and for user interfaces by `Serialize`.
#[derive(Debug, Serialize)]
pub(super) struct SearchResults {
    provider: String,
    query: String,
    results: Vec<SearchResult>,
}

impl SearchResults {
    pub(super) fn new(provider: &str, query: SearchQuery, mut found: Vec<SearchResult>) -> Self {
        found.retain(SearchResult::is_fetchable);
        found.truncate(query.max_results);
        Self { provider: provider.to_owned(), query: query.text, results: found }
    }
}

/// The number of characters of a query that its results repeat.
const MAX_REPEATED: usize = 200;

impl fmt::Display for SearchResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, query, results } = self;
        let (query, _) = fold(query, MAX_REPEATED);
        match results.len() {
            0 => return write!(f, "{provider} found nothing for {query:?}. Try fewer or other words."),
            1 => writeln!(f, "1 result from {provider} for {query:?}:")?,
            count => writeln!(f, "{count} results from {provider} for {query:?}:")?,
        }
        for (index, SearchResult { title, url, snippet, age }) in results.iter().enumerate() {
            let title = if title.is_empty() { "(untitled)" } else { title };
            write!(f, "\n{}. {title}\n   {url}", index + 1)?;
            if let Some(age) = age {
                write!(f, "\n   {age}")?;
            }
            if !snippet.is_empty() {
                write!(f, "\n   {snippet}")?;
            }
        }
        Ok(())
    }
}

/// The reason why a search failed. Never contains a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    /// No search provider is configured.
    NotConfigured,
    /// The provider rejects the key, or requires a login.
    Unauthorized(String),
    /// The provider's rate limit is exceeded.
    RateLimited {
        /// The number of seconds until the next search.
        retry_after: Option<u64>,
    },
    /// The provider responded with an error.
    Rejected(String),
    /// The response could not be parsed.
    Malformed(String),
    /// The provider could not be reached.
    Connection(String),
    /// The provider did not respond in time.
    TimedOut,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => f.write_str(
                "Web search is not configured here; no call of this tool can succeed. If you know where to look, fetch the page itself.",
            ),
            Self::Unauthorized(reason) => write!(f, "Web search is not configured correctly: {reason}."),
            Self::RateLimited { retry_after: Some(seconds) } => {
                write!(f, "Too many searches: try again in {seconds} seconds.")
            }
            Self::RateLimited { retry_after: None } => f.write_str("Too many searches: wait before the next one."),
            Self::Rejected(reason) => write!(f, "The search failed: {reason}."),
            Self::Malformed(reason) => write!(f, "The search returned an invalid response: {reason}."),
            Self::Connection(reason) => write!(f, "The search provider cannot be reached: {reason}."),
            Self::TimedOut => f.write_str("The search provider did not respond in time."),
        }
    }
}

/// A configuration error is fatal: the model cannot fix it by searching for something else.
impl From<SearchError> for HandlerError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::NotConfigured | SearchError::Unauthorized(_) => Self::fatal(error.to_string()),
            SearchError::RateLimited { retry_after } => {
                Self::failed(error.to_string()).with_retry_after(retry_after.map(Duration::from_secs))
            }
            error => Self::failed(error.to_string()),
        }
    }
}
