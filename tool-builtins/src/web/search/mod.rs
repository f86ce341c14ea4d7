//! Who finds pages.

mod brave;
mod error;
mod http;
mod results;
mod searxng;

use std::pin::Pin;

pub use self::brave::Brave;
pub use self::error::SearchError;
pub use self::results::Found;
pub(super) use self::results::Results;
pub use self::searxng::SearxNg;
use super::error::ConfigError;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Query {
    /// The words.
    pub text: String,
    /// How many results are wanted. More than that are left out.
    pub max_results: usize,
}

/// Finds pages for `web_search`. Dropping the future withdraws the question.
pub trait SearchProvider: Send + Sync + 'static {
    /// What it is called, such as `Brave`.
    fn name(&self) -> &str;

    /// The pages that fit a query, the best first.
    fn search<'a>(&'a self, query: &'a Query) -> Searching<'a>;
}

/// A search that is under way.
pub type Searching<'a> = Pin<Box<dyn Future<Output = Result<Vec<Found>, SearchError>> + Send + 'a>>;

/// What the environment names; see [`Web::search_from_env`](super::Web::search_from_env).
pub(super) fn from_env() -> Result<Option<Box<dyn SearchProvider>>, ConfigError> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    if let Some(key) = variable("BRAVE_API_KEY") {
        return Ok(Some(Box::new(Brave::new(&key)?)));
    }
    match variable("SEARXNG_URL") {
        Some(url) => Ok(Some(Box::new(SearxNg::new(&url)?))),
        None => Ok(None),
    }
}
