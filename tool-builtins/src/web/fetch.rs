//! Fetching a page: requests and redirects, each checked.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use url::Url;

use super::client::HttpClients;
use super::content::{ContentKind, ContentType};
use super::error::FetchError;
use super::url_policy::UrlPolicy;

/// The final response.
#[derive(Debug)]
pub(super) struct FetchedPage {
    /// The URL after all redirects.
    pub(super) url: Url,
    pub(super) redirects: Vec<Url>,
    pub(super) status: StatusCode,
    pub(super) content_type: ContentType,
    pub(super) bytes: Vec<u8>,
    /// `true` if the body exceeded the limit and was truncated.
    pub(super) cut: bool,
}

/// Prefers Markdown, then HTML, then any other text.
const ACCEPTED: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5";

/// Requests a page and follows its redirects.
pub(super) async fn fetch(
    url_policy: &UrlPolicy,
    clients: &HttpClients,
    limits: &FetchLimits,
    url: Url,
) -> Result<FetchedPage, FetchError> {
    let mut visited = Vec::new();
    let mut url = without_fragment(url);
    loop {
        let access = url_policy.check(&url)?;
        let response = clients.for_access(access).get(url.clone()).header(ACCEPT, ACCEPTED).send().await?;
        let Some(next) = redirect_target(&url, &response)? else {
            return read_response(url, visited, response, limits).await;
        };
        visited.push(url);
        url = without_fragment(next);
        if visited.contains(&url) {
            return Err(FetchError::RedirectLoop(url));
        }
        if visited.len() > limits.max_redirects {
            return Err(FetchError::TooManyRedirects(limits.max_redirects));
        }
    }
}

/// Removes the fragment, which is not sent and does not distinguish pages.
fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

/// Returns the target of a redirect, or `None` if the response is not one.
fn redirect_target(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let bad = |reason: &str| FetchError::BadRedirect(reason.to_owned());
    let location = response.headers().get(LOCATION).ok_or_else(|| bad("it names no target"))?;
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| bad("its target is not a URL"))?;
    url.join(location).map(Some).map_err(|error| bad(&format!("its target is not a URL ({error})")))
}

async fn read_response(
    url: Url,
    redirects: Vec<Url>,
    mut response: Response,
    limits: &FetchLimits,
) -> Result<FetchedPage, FetchError> {
    let status = response.status();
    let content_type = ContentType::parse(header(response.headers(), CONTENT_TYPE).unwrap_or_default());
    let is_error = status.is_client_error() || status.is_server_error();
    if content_type.kind() == ContentKind::Binary && !is_error {
        return Err(FetchError::Binary { kind: content_type.essence, length: response.content_length() });
    }
    let retry_after = header(response.headers(), RETRY_AFTER).map(str::to_owned);
    let (bytes, cut) = read_body(&mut response, limits.max_bytes).await?;
    let fetched = FetchedPage { url, redirects, status, content_type, bytes, cut };
    if is_error { Err(fetched.into_error(retry_after)) } else { Ok(fetched) }
}

/// Returns the value of a header that is present and valid text.
fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Reads a body up to `limit` bytes after decompression, and returns whether it was truncated. Decompressed bytes are
/// counted as they arrive, so a small body cannot expand without bound.
pub(super) async fn read_body(response: &mut Response, limit: usize) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limit - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}

/// Limits on fetching a page.
///
/// ```
/// use std::time::Duration;
///
/// use tool_builtins::web::{FetchLimits, Web};
///
/// let web = Web::new().limits(FetchLimits { timeout: Duration::from_secs(10), ..FetchLimits::default() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// The time limit for a page, including all redirects. The default is 30 seconds.
    pub timeout: Duration,
    /// The time limit for establishing a connection. The default is 10 seconds.
    pub connect_timeout: Duration,
    /// The maximum size of a page in bytes, after decompression. The rest is cut off. The default is 5 million.
    pub max_bytes: usize,
    /// The maximum number of redirects. The default is 10.
    pub max_redirects: usize,
    /// The length of a result in characters if the model does not specify one. The default is 20,000.
    pub default_length: usize,
    /// The maximum length of a result in characters, even if the model asks for more. The default is 100,000.
    pub max_length: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            max_bytes: 5_000_000,
            max_redirects: 10,
            default_length: 20_000,
            max_length: 100_000,
        }
    }
}
