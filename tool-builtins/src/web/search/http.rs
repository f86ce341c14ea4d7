//! One question to a provider over HTTP.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Request, StatusCode};
use url::Url;

use super::SearchError;
use crate::web::error::{ConfigError, reason};
use crate::web::{client, fetch};

/// A provider's address, and the client for it. The application has named it, so it may stand anywhere; but where it
/// redirects to nobody has named, and a key is not sent there.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    client: OnceLock<Result<Client, String>>,
}

/// An answer with its status and its headers.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// No page of twenty results is longer.
const MOST: usize = 4_000_000;
const CONNECT: Duration = Duration::from_secs(10);

impl Endpoint {
    pub(super) fn parse(text: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::new(format!("`{text}` is no address of a search: write it as `https://host/path`"));
        let url = Url::parse(text.trim()).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        Ok(Self { url, client: OnceLock::new() })
    }

    /// Asks, with the query and the headers that the provider takes.
    pub(super) async fn get(&self, query: &[(&str, &str)], headers: HeaderMap) -> Result<Answer, SearchError> {
        let mut url = self.url.clone();
        url.query_pairs_mut().extend_pairs(query);
        let mut request = Request::new(reqwest::Method::GET, url);
        *request.headers_mut() = headers;
        let mut response = self.client()?.execute(request).await.map_err(|error| failed(&error))?;
        let (body, cut) = fetch::read(&mut response, MOST).await.map_err(|error| failed(&error))?;
        if cut {
            return Err(SearchError::Malformed("it is too long".to_owned()));
        }
        Ok(Answer { status: response.status(), headers: std::mem::take(response.headers_mut()), body })
    }

    fn client(&self) -> Result<&Client, SearchError> {
        let make = || client::build(|client| client.connect_timeout(CONNECT));
        self.client.get_or_init(make).as_ref().map_err(|why| SearchError::Connection(why.clone()))
    }
}

fn failed(error: &reqwest::Error) -> SearchError {
    SearchError::Connection(reason(error))
}

impl Answer {
    /// What every provider means by these.
    pub(super) fn too_many(&self) -> Option<SearchError> {
        let seconds = |name: &str| self.headers.get(name)?.to_str().ok()?.split(',').next()?.trim().parse().ok();
        (self.status == StatusCode::TOO_MANY_REQUESTS).then(|| SearchError::RateLimited {
            retry_after: seconds(RETRY_AFTER.as_str()).or_else(|| seconds("x-ratelimit-reset")),
        })
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, SearchError> {
        serde_json::from_slice(&self.body).map_err(|error| SearchError::Malformed(error.to_string()))
    }
}
