//! The way to a page: one request after another, each checked.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use url::Url;

use super::client::Clients;
use super::content::{ContentType, Kind};
use super::error::FetchError;
use super::gate::Gate;
use super::limits::Limits;

/// What a server has answered in the end.
#[derive(Debug)]
pub(super) struct Fetched {
    /// Where the redirections have led.
    pub(super) url: Url,
    pub(super) redirects: Vec<Url>,
    pub(super) status: StatusCode,
    pub(super) content_type: ContentType,
    pub(super) bytes: Vec<u8>,
    /// Whether there was more than is read.
    pub(super) cut: bool,
}

/// Markdown where a site has it, then pages, then any other text.
const ACCEPTED: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5";

pub(super) async fn fetch(gate: &Gate, clients: &Clients, limits: &Limits, url: Url) -> Result<Fetched, FetchError> {
    let mut asked = Vec::new();
    let mut url = without_fragment(url);
    loop {
        let way = gate.check(&url)?;
        let response = clients.of(way).get(url.clone()).header(ACCEPT, ACCEPTED).send().await?;
        let Some(next) = redirection(&url, &response)? else { return answer(url, asked, response, limits).await };
        asked.push(url);
        url = without_fragment(next);
        if asked.contains(&url) {
            return Err(FetchError::RedirectLoop(url));
        }
        if asked.len() > limits.redirects {
            return Err(FetchError::TooManyRedirects(limits.redirects));
        }
    }
}

/// A fragment is nothing to ask for, and two pages do not differ by it.
fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

/// Where an answer redirects to, if it does.
fn redirection(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let bad = |why: &str| FetchError::BadRedirect(why.to_owned());
    let location = response.headers().get(LOCATION).ok_or_else(|| bad("does not say where to"))?;
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| bad("to something that is no URL"))?;
    url.join(location).map(Some).map_err(|error| bad(&format!("to something that is no URL ({error})")))
}

async fn answer(url: Url, redirects: Vec<Url>, mut response: Response, limits: &Limits) -> Result<Fetched, FetchError> {
    let status = response.status();
    let content_type = ContentType::parse(header(response.headers(), CONTENT_TYPE).unwrap_or_default());
    let refused = status.is_client_error() || status.is_server_error();
    if content_type.kind() == Kind::Binary && !refused {
        return Err(FetchError::Binary { kind: content_type.essence, length: response.content_length() });
    }
    let retry_after = header(response.headers(), RETRY_AFTER).map(str::to_owned);
    let (bytes, cut) = read(&mut response, limits.bytes).await?;
    let fetched = Fetched { url, redirects, status, content_type, bytes, cut };
    if refused { Err(fetched.into_refusal(retry_after)) } else { Ok(fetched) }
}

/// A header, if it is there and is text.
fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// A body up to so many bytes, after decompression, and whether there is more. It is never held whole: what a small
/// body unpacks to is counted as it comes.
pub(super) async fn read(response: &mut Response, most: usize) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}
