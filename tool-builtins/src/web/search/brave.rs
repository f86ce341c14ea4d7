//! Brave Search.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use serde::Deserialize;

use super::endpoint::{SearchEndpoint, SearchResponse};
use super::{SearchError, SearchFuture, SearchProvider, SearchQuery, SearchResult};
use crate::web::error::WebConfigError;

/// Searches with the Brave Search API. Requires a key, which is sent to Brave only and never shown.
///
/// ```
/// use tool_builtins::web::search::Brave;
///
/// let brave = Brave::new("BSA-secret")?;
/// assert!(!format!("{brave:?}").contains("secret"));
/// # Ok::<(), tool_builtins::web::WebConfigError>(())
/// ```
#[derive(Debug)]
pub struct Brave {
    /// Marked as sensitive to keep it out of logs.
    key: HeaderValue,
    endpoint: SearchEndpoint,
}

/// The maximum number of results per request.
const MAX_RESULTS: usize = 20;

impl Brave {
    /// Creates a provider with an API key.
    ///
    /// # Errors
    /// Fails if the key is empty or contains invalid characters.
    pub fn new(key: &str) -> Result<Self, WebConfigError> {
        let wrong = || WebConfigError::new("the Brave Search key is empty or contains invalid characters");
        let mut key = HeaderValue::from_str(key.trim()).ok().filter(|key| !key.is_empty()).ok_or_else(wrong)?;
        key.set_sensitive(true);
        Ok(Self { key, endpoint: SearchEndpoint::parse("https://api.search.brave.com/res/v1/web/search")? })
    }

    /// Sends requests, including the key, to another URL, such as a compatible proxy.
    ///
    /// # Errors
    /// Fails if the text is not a URL.
    pub fn endpoint(mut self, url: &str) -> Result<Self, WebConfigError> {
        self.endpoint = SearchEndpoint::parse(url)?;
        Ok(self)
    }

    async fn request(&self, query: &SearchQuery) -> Result<Vec<SearchResult>, SearchError> {
        let count = query.max_results.clamp(1, MAX_RESULTS).to_string();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert("X-Subscription-Token", self.key.clone());
        // Without decorations, snippets are plain text.
        let parameters = [("q", query.text.as_str()), ("count", &count), ("text_decorations", "false")];
        let response = self.endpoint.get(&parameters, headers).await?;
        if !response.status.is_success() {
            return Err(response.rate_limit_error().unwrap_or_else(|| self.error_for(&response)));
        }
        let pages = response.json::<BraveResponse>()?.web.map(|web| web.results).unwrap_or_default();
        Ok(pages
            .iter()
            .map(|page| SearchResult::new(&page.title, &page.url, &page.description).age(page.age.as_deref()))
            .collect())
    }

    /// Converts an error response. Brave reports an invalid key as an invalid request.
    fn error_for(&self, response: &SearchResponse) -> SearchError {
        let BraveError { code, detail } =
            response.json::<BraveFailure>().map(|failed| failed.error).unwrap_or_default();
        if matches!(response.status.as_u16(), 401 | 403) || code.starts_with("SUBSCRIPTION_TOKEN") {
            return SearchError::Unauthorized("Brave rejects the key".to_owned());
        }
        let key = self.key.to_str().unwrap_or_default();
        let detail = if detail.is_empty() { String::new() } else { format!(": {}", detail.replace(key, "(key)")) };
        SearchError::Rejected(format!("Brave responded with {}{detail}", response.status))
    }
}

impl SearchProvider for Brave {
    fn name(&self) -> &str {
        "Brave"
    }

    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a> {
        Box::pin(self.request(query))
    }
}

#[derive(Deserialize)]
struct BraveResponse {
    web: Option<BraveResults>,
}

#[derive(Deserialize)]
struct BraveResults {
    #[serde(default)]
    results: Vec<BraveResult>,
}

#[derive(Deserialize)]
struct BraveResult {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
    age: Option<String>,
}

#[derive(Deserialize)]
struct BraveFailure {
    error: BraveError,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BraveError {
    code: String,
    detail: String,
}
