//! An instance of SearXNG.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use serde::Deserialize;

use super::http::Endpoint;
use super::{Found, Query, SearchError, SearchProvider, Searching};
use crate::web::error::ConfigError;

/// Searches with an instance of SearXNG, which needs no key. Its settings must list `json` under `search.formats`.
///
/// ```
/// use tool_builtins::web::{Web, search::SearxNg};
///
/// let web = Web::new().search(SearxNg::new("http://localhost:8888")?);
/// # Ok::<(), tool_builtins::web::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct SearxNg {
    endpoint: Endpoint,
}

impl SearxNg {
    /// The instance at an address, such as `https://search.example`. It may stand in the own network.
    ///
    /// # Errors
    /// The text is no URL.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        let mut endpoint = Endpoint::parse(url)?;
        let folder = endpoint.url.path().trim_end_matches('/').trim_end_matches("/search").to_owned();
        endpoint.url.set_path(&format!("{folder}/search"));
        Ok(Self { endpoint })
    }

    async fn ask(&self, query: &Query) -> Result<Vec<Found>, SearchError> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let answer = self.endpoint.get(&[("q", &query.text), ("format", "json")], headers).await?;
        match answer.status.as_u16() {
            200..=299 => {}
            401 => return Err(SearchError::Unauthorized("the instance of SearXNG wants a login".to_owned())),
            403 => {
                let why = "the instance of SearXNG gives no JSON: its settings must list `json` under `search.formats`";
                return Err(SearchError::Unauthorized(why.to_owned()));
            }
            _ => {
                let refused = || SearchError::Refused(format!("SearXNG answered {}", answer.status));
                return Err(answer.too_many().unwrap_or_else(refused));
            }
        }
        let answered: Answered = answer.json()?;
        if answered.results.is_empty() && !answered.unresponsive_engines.is_empty() {
            return Err(SearchError::Refused("none of the engines that SearXNG asks has answered".to_owned()));
        }
        let found = answered.results.iter();
        Ok(found
            .map(|page| Found::new(page.title(), &page.url, page.content()).age(page.published_date.as_deref()))
            .collect())
    }
}

impl SearchProvider for SearxNg {
    fn name(&self) -> &str {
        "SearXNG"
    }

    fn search<'a>(&'a self, query: &'a Query) -> Searching<'a> {
        Box::pin(self.ask(query))
    }
}

#[derive(Deserialize)]
struct Answered {
    results: Vec<Page>,
    #[serde(default)]
    unresponsive_engines: Vec<serde_json::Value>,
}

/// Engines leave out what they do not know, or say `null`.
#[derive(Deserialize)]
struct Page {
    url: String,
    title: Option<String>,
    content: Option<String>,
    #[serde(rename = "publishedDate")]
    published_date: Option<String>,
}

impl Page {
    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or_default()
    }

    fn content(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }
}
