//! Requests and what comes back.

use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use serde_json::Value;
use tokio::time::timeout;

use super::failure;
use super::key::Key;
use super::protocol::Protocol;
use crate::{ModelError, ModelErrorKind};

/// How long it may take to reach the provider.
const CONNECT: Duration = Duration::from_secs(15);
/// How much of a refusal is read.
const REFUSAL: usize = 64 * 1024;
/// How long an answer may be. No model writes as much; a broken server may.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// The way to a provider.
#[derive(Clone)]
pub(super) struct Transport {
    pub(super) client: Client,
    pub(super) base: Url,
    pub(super) key: Option<Key>,
    /// What the provider is called in errors.
    pub(super) title: &'static str,
    /// How long nothing may come.
    pub(super) patience: Duration,
}

impl Transport {
    /// Sends a request, until the answer begins.
    pub(super) async fn send(&self, protocol: &dyn Protocol, path: &str, body: &Value) -> Result<Response, ModelError> {
        let request = self.request(protocol, path)?.header(CONTENT_TYPE, "application/json").body(body.to_string());
        let response = self.in_time(request.send()).await?.map_err(|error| self.broken(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.refusal(response).await;
        let mut error = failure::of_status(self.title, status, &headers, &body);
        if status.is_redirection() {
            error.message.to_mut().push_str("; another base URL is needed");
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
        let unusable = || ModelError::new(ModelErrorKind::RefusedKey, "the key has signs that no key has");
        let (name, value) = protocol.key(key).ok_or_else(unusable)?;
        Ok(request.header(name, value))
    }

    /// What the provider says of its refusal, as far as it can be had.
    async fn refusal(&self, response: Response) -> String {
        let mut pieces = response.bytes_stream();
        let mut said = Vec::new();
        while let Ok(Some(Ok(piece))) = timeout(self.patience, pieces.next()).await {
            said.extend_from_slice(&piece);
            if said.len() > REFUSAL {
                break;
            }
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Waits for as long as anyone has patience.
    pub(super) async fn in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, ModelError> {
        let late = || {
            let message = format!("{} has not said anything for {:?}", self.title, self.patience);
            ModelError::new(ModelErrorKind::TimedOut, message)
        };
        timeout(self.patience, future).await.map_err(|_| late())
    }

    /// A connection that failed. The URL is not in it: it may have a password.
    pub(super) fn broken(&self, error: &reqwest::Error) -> ModelError {
        let (kind, verb) = match () {
            () if error.is_connect() => (ModelErrorKind::Unreachable, "cannot be reached"),
            () if error.is_timeout() => (ModelErrorKind::TimedOut, "has not answered in time"),
            () if error.is_builder() => (ModelErrorKind::Rejected, "cannot be asked"),
            () => (ModelErrorKind::Cut, "broke off"),
        };
        self.without_key(ModelError::new(kind, format!("{} {verb}: {}", self.title, reason(error))))
    }

    fn without_key(&self, mut error: ModelError) -> ModelError {
        if let Some(key) = &self.key {
            error.message = key.hidden_in(&error.message).into();
        }
        error
    }

    /// What a provider says in the middle of a stream.
    pub(super) fn failed(&self, event: &Value) -> Option<ModelError> {
        failure::of_event(self.title, event).map(|error| self.without_key(error))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.base.host_str().unwrap_or_default();
        f.debug_struct("Transport").field("host", &host).field("key", &self.key).finish_non_exhaustive()
    }
}

/// The innermost reason: what is around it names the URL, or says "error sending request".
fn reason(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}

/// A client that goes where it is told: one that followed a redirection would show the key to somebody else. A model on
/// this machine is asked without a proxy.
pub(super) fn client(base: &Url) -> Result<Client, String> {
    let tls = tool_net::tls::client_config().map_err(|error| error.to_string())?;
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("tool-agent/", env!("CARGO_PKG_VERSION")));
    if is_here(base) {
        client = client.no_proxy();
    }
    client.build().map_err(|error| reason(&error))
}

/// Returns `true` if a URL can only mean this machine.
pub(super) fn is_here(url: &Url) -> bool {
    url.host_str().is_some_and(tool_net::is_loopback_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names_and_addresses() {
        let is_here = |url: &str| is_here(&url.parse().unwrap());
        for url in [
            "http://localhost:11434/v1",
            "http://LocalHost./v1",
            "http://models.localhost/v1",
            "http://127.0.0.1/v1",
            "http://127.8.9.1/v1",
            "http://[::1]:8000/v1",
            "http://[::ffff:127.0.0.1]/v1",
        ] {
            assert!(is_here(url), "{url}");
        }
        for url in [
            "http://localhost.example/v1",
            "http://mylocalhost/v1",
            "http://192.168.0.1/v1",
            "http://[fe80::1]/v1",
            "data:localhost",
        ] {
            assert!(!is_here(url), "{url}");
        }
    }
}
