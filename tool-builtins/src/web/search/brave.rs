//! Brave's search API.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use serde::Deserialize;

use super::http::{Answer, Endpoint};
use super::{Found, Query, SearchError, SearchProvider, Searching};
use crate::web::error::ConfigError;

/// Searches with Brave. It needs a key, which is sent to Brave and shown to nobody.
///
/// ```
/// use tool_builtins::web::search::Brave;
///
/// let brave = Brave::new("BSA-secret")?;
/// assert!(!format!("{brave:?}").contains("secret"));
/// # Ok::<(), tool_builtins::web::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Brave {
    /// Marked as sensitive, so that it does not show in logs.
    key: HeaderValue,
    endpoint: Endpoint,
}

/// Brave gives no more at once.
const MOST_RESULTS: usize = 20;

impl Brave {
    /// With a key.
    ///
    /// # Errors
    /// The key is empty, or has characters that no key has.
    pub fn new(key: &str) -> Result<Self, ConfigError> {
        let wrong =
            || ConfigError::new("this is no key of Brave's search: it is empty, or has characters that no key has");
        let mut key = HeaderValue::from_str(key.trim()).ok().filter(|key| !key.is_empty()).ok_or_else(wrong)?;
        key.set_sensitive(true);
        Ok(Self { key, endpoint: Endpoint::parse("https://api.search.brave.com/res/v1/web/search")? })
    }

    /// Asks somewhere else, such as a proxy that speaks the same protocol. The key goes there.
    ///
    /// # Errors
    /// The text is no URL.
    pub fn endpoint(mut self, url: &str) -> Result<Self, ConfigError> {
        self.endpoint = Endpoint::parse(url)?;
        Ok(self)
    }

    async fn ask(&self, query: &Query) -> Result<Vec<Found>, SearchError> {
        let count = query.max_results.clamp(1, MOST_RESULTS).to_string();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert("X-Subscription-Token", self.key.clone());
        // Without marks around the words that were found, snippets are plain text.
        let asked = [("q", query.text.as_str()), ("count", &count), ("text_decorations", "false")];
        let answer = self.endpoint.get(&asked, headers).await?;
        if !answer.status.is_success() {
            return Err(answer.too_many().unwrap_or_else(|| self.refused(&answer)));
        }
        let pages = answer.json::<Answered>()?.web.map(|web| web.results).unwrap_or_default();
        Ok(pages
            .iter()
            .map(|page| Found::new(&page.title, &page.url, &page.description).age(page.age.as_deref()))
            .collect())
    }

    /// What Brave says of a question that it does not answer. It says of a wrong key that the question is wrong.
    fn refused(&self, answer: &Answer) -> SearchError {
        let Failure { code, detail } = answer.json::<Failed>().map(|failed| failed.error).unwrap_or_default();
        if matches!(answer.status.as_u16(), 401 | 403) || code.starts_with("SUBSCRIPTION_TOKEN") {
            return SearchError::Unauthorized("Brave does not take the key".to_owned());
        }
        let key = self.key.to_str().unwrap_or_default();
        let said = if detail.is_empty() { String::new() } else { format!(": {}", detail.replace(key, "(key)")) };
        SearchError::Refused(format!("Brave answered {}{said}", answer.status))
    }
}

impl SearchProvider for Brave {
    fn name(&self) -> &str {
        "Brave"
    }

    fn search<'a>(&'a self, query: &'a Query) -> Searching<'a> {
        Box::pin(self.ask(query))
    }
}

#[derive(Deserialize)]
struct Answered {
    web: Option<Pages>,
}

#[derive(Deserialize)]
struct Pages {
    #[serde(default)]
    results: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
    age: Option<String>,
}

#[derive(Deserialize)]
struct Failed {
    error: Failure,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    code: String,
    detail: String,
}
