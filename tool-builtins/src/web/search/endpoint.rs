//! HTTP requests to search providers.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Request, StatusCode};
use url::Url;

use super::SearchError;
use crate::web::error::{WebConfigError, describe};
use crate::web::{client, fetch};

/// The endpoint of a search provider. The application configured it, so it may have any address. Redirects are not
/// followed, so the key cannot reach other hosts.
#[derive(Debug)]
pub(super) struct SearchEndpoint {
    pub(super) url: Url,
    client: OnceLock<Result<Client, String>>,
}

/// A response of a search provider.
pub(super) struct SearchResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// The maximum size of a response in bytes.
const MAX_BYTES: usize = 4_000_000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl SearchEndpoint {
    pub(super) fn parse(text: &str) -> Result<Self, WebConfigError> {
        let wrong =
            || WebConfigError::new(format!("`{text}` is not a valid search endpoint; expected `https://host/path`"));
        let url = Url::parse(text.trim()).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        Ok(Self { url, client: OnceLock::new() })
    }

    /// Sends a request with the provider's query parameters and headers.
    pub(super) async fn get(&self, query: &[(&str, &str)], headers: HeaderMap) -> Result<SearchResponse, SearchError> {
        let mut url = self.url.clone();
        url.query_pairs_mut().extend_pairs(query);
        let mut request = Request::new(reqwest::Method::GET, url);
        *request.headers_mut() = headers;
        let mut response = self.client()?.execute(request).await.map_err(|error| failed(&error))?;
        let (body, cut) = fetch::read_body(&mut response, MAX_BYTES).await.map_err(|error| failed(&error))?;
        if cut {
            return Err(SearchError::Malformed("the response is too long".to_owned()));
        }
        Ok(SearchResponse { status: response.status(), headers: std::mem::take(response.headers_mut()), body })
    }

    fn client(&self) -> Result<&Client, SearchError> {
        let make = || client::build(|client| client.connect_timeout(CONNECT_TIMEOUT));
        self.client.get_or_init(make).as_ref().map_err(|reason| SearchError::Connection(reason.clone()))
    }
}

fn failed(error: &reqwest::Error) -> SearchError {
    SearchError::Connection(describe(error))
}

impl SearchResponse {
    /// Returns the error for status 429, if the response has it.
    pub(super) fn rate_limit_error(&self) -> Option<SearchError> {
        let seconds = |name: &str| self.headers.get(name)?.to_str().ok()?.split(',').next()?.trim().parse().ok();
        (self.status == StatusCode::TOO_MANY_REQUESTS).then(|| SearchError::RateLimited {
            retry_after: seconds(RETRY_AFTER.as_str()).or_else(|| seconds("x-ratelimit-reset")),
        })
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, SearchError> {
        serde_json::from_slice(&self.body).map_err(|error| SearchError::Malformed(error.to_string()))
    }
}
