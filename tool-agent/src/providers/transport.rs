//! HTTP transport.

use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use serde_json::Value;
use tokio::time::timeout;

use super::api_key::ApiKey;
use super::failure;
use super::protocol::Protocol;
use crate::{ModelError, ModelErrorKind};

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum length of an error response that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// The maximum length of a response. Only a broken server exceeds it.
pub(super) const MAX_RESPONSE: usize = 64 * 1024 * 1024;

/// The HTTP connection to a provider.
#[derive(Clone)]
pub(super) struct Transport {
    pub(super) client: Client,
    pub(super) base: Url,
    pub(super) key: Option<ApiKey>,
    /// The provider's name in errors.
    pub(super) title: &'static str,
    /// The time that the provider may be silent.
    pub(super) idle_timeout: Duration,
}

impl Transport {
    /// Sends a request and returns when the response headers have arrived.
    pub(super) async fn send(&self, protocol: &dyn Protocol, path: &str, body: &Value) -> Result<Response, ModelError> {
        let request = self.request(protocol, path)?.header(CONTENT_TYPE, "application/json").body(body.to_string());
        let response = self.with_idle_timeout(request.send()).await?.map_err(|error| self.connection_error(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.error_body(response).await;
        let mut error = failure::from_status(self.title, status, &headers, &body);
        if status.is_redirection() {
            error.message.to_mut().push_str("; set another base URL");
        }
        Err(self.without_key(error))
    }

    fn request(&self, protocol: &dyn Protocol, path: &str) -> Result<RequestBuilder, ModelError> {
        let url = format!("{}/{path}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.client.post(url).header(ACCEPT, "application/json, text/event-stream");
        for (name, value) in protocol.headers() {
            request = request.header(*name, *value);
        }
        let Some(key) = &self.key else { return Ok(request) };
        let unusable = || ModelError::new(ModelErrorKind::RefusedKey, "the API key contains invalid characters");
        let (name, value) = protocol.key(key).ok_or_else(unusable)?;
        Ok(request.header(name, value))
    }

    /// Reads the body of an error response, as far as possible.
    async fn error_body(&self, response: Response) -> String {
        let mut pieces = response.bytes_stream();
        let mut said = Vec::new();
        while let Ok(Some(Ok(piece))) = timeout(self.idle_timeout, pieces.next()).await {
            said.extend_from_slice(&piece);
            if said.len() > MAX_ERROR_BODY {
                break;
            }
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Awaits a future with the idle timeout.
    pub(super) async fn with_idle_timeout<T>(&self, future: impl Future<Output = T>) -> Result<T, ModelError> {
        let late = || {
            let message = format!("{} was silent for {:?}", self.title, self.idle_timeout);
            ModelError::new(ModelErrorKind::TimedOut, message)
        };
        timeout(self.idle_timeout, future).await.map_err(|_| late())
    }

    /// Converts a connection error. Omits the URL, which may contain a password.
    pub(super) fn connection_error(&self, error: &reqwest::Error) -> ModelError {
        let (kind, verb) = match () {
            () if error.is_connect() => (ModelErrorKind::Unreachable, "cannot be reached"),
            () if error.is_timeout() => (ModelErrorKind::TimedOut, "did not respond in time"),
            () if error.is_builder() => (ModelErrorKind::Rejected, "cannot be called"),
            () => (ModelErrorKind::Cut, "closed the connection early"),
        };
        self.without_key(ModelError::new(kind, format!("{} {verb}: {}", self.title, reason(error))))
    }

    fn without_key(&self, mut error: ModelError) -> ModelError {
        if let Some(key) = &self.key {
            error.message = key.redact(&error.message).into();
        }
        error
    }

    /// Returns the error that an event of a stream reports, if any.
    pub(super) fn stream_error(&self, event: &Value) -> Option<ModelError> {
        failure::from_event(self.title, event).map(|error| self.without_key(error))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.base.host_str().unwrap_or_default();
        f.debug_struct("Transport").field("host", &host).field("key", &self.key).finish_non_exhaustive()
    }
}

/// Returns the innermost error. The outer ones contain the URL or only say "error sending request".
fn reason(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}

/// Creates a client that follows no redirects, which would send the API key to another host. A model on this machine is
/// called without a proxy.
pub(super) fn client(base: &Url) -> Result<Client, String> {
    let tls = tool_net::tls::client_config().map_err(|error| error.to_string())?;
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("tool-agent/", env!("CARGO_PKG_VERSION")));
    if is_local(base) {
        client = client.no_proxy();
    }
    client.build().map_err(|error| reason(&error))
}

/// Returns `true` if a URL refers to this machine. All names below `localhost` do.
pub(super) fn is_local(url: &Url) -> bool {
    url.host_str().is_some_and(tool_net::is_loopback_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_local_names_and_addresses() {
        let is_local = |url: &str| is_local(&url.parse().unwrap());
        for url in [
            "http://localhost:11434/v1",
            "http://LocalHost./v1",
            "http://models.localhost/v1",
            "http://127.0.0.1/v1",
            "http://127.8.9.1/v1",
            "http://[::1]:8000/v1",
            "http://[::ffff:127.0.0.1]/v1",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "http://localhost.example/v1",
            "http://mylocalhost/v1",
            "http://192.168.0.1/v1",
            "http://[fe80::1]/v1",
            "data:localhost",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }
}
