//! SearXNG.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use serde::Deserialize;

use super::endpoint::SearchEndpoint;
use super::{SearchError, SearchFuture, SearchProvider, SearchQuery, SearchResult};
use crate::web::error::WebConfigError;

/// Searches with a SearXNG instance; no key is needed. Its settings must list `json` under `search.formats`.
///
/// ```
/// use tool_builtins::web::{Web, search::SearxNg};
///
/// let web = Web::new().search(SearxNg::new("http://localhost:8888")?);
/// # Ok::<(), tool_builtins::web::WebConfigError>(())
/// ```
#[derive(Debug)]
pub struct SearxNg {
    endpoint: SearchEndpoint,
}

impl SearxNg {
    /// Creates a provider for the instance at a URL, such as `https://search.example`. It may be in a private network.
    ///
    /// # Errors
    /// Fails if the text is not a URL.
    pub fn new(url: &str) -> Result<Self, WebConfigError> {
        let mut endpoint = SearchEndpoint::parse(url)?;
        let base = endpoint.url.path().trim_end_matches('/').trim_end_matches("/search").to_owned();
        endpoint.url.set_path(&format!("{base}/search"));
        Ok(Self { endpoint })
    }

    async fn request(&self, query: &SearchQuery) -> Result<Vec<SearchResult>, SearchError> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let response = self.endpoint.get(&[("q", &query.text), ("format", "json")], headers).await?;
        match response.status.as_u16() {
            200..=299 => {}
            401 => return Err(SearchError::Unauthorized("the SearXNG instance requires a login".to_owned())),
            403 => {
                let reason =
                    "the SearXNG instance does not serve JSON; its settings must list `json` under `search.formats`";
                return Err(SearchError::Unauthorized(reason.to_owned()));
            }
            _ => {
                let failed = || SearchError::Rejected(format!("SearXNG responded with {}", response.status));
                return Err(response.rate_limit_error().unwrap_or_else(failed));
            }
        }
        let parsed: SearxngResponse = response.json()?;
        if parsed.results.is_empty() && !parsed.unresponsive_engines.is_empty() {
            return Err(SearchError::Rejected("none of SearXNG's engines responded".to_owned()));
        }
        let found = parsed.results.iter();
        Ok(found
            .map(|page| SearchResult::new(page.title(), &page.url, page.content()).age(page.published_date.as_deref()))
            .collect())
    }
}

impl SearchProvider for SearxNg {
    fn name(&self) -> &str {
        "SearXNG"
    }

    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a> {
        Box::pin(self.request(query))
    }
}

#[derive(Deserialize)]
struct SearxngResponse {
    results: Vec<SearxngResult>,
    #[serde(default)]
    unresponsive_engines: Vec<serde_json::Value>,
}

/// A result. Engines omit unknown fields or set them to `null`.
#[derive(Deserialize)]
struct SearxngResult {
    url: String,
    title: Option<String>,
    content: Option<String>,
    #[serde(rename = "publishedDate")]
    published_date: Option<String>,
}

impl SearxngResult {
    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or_default()
    }

    fn content(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}
