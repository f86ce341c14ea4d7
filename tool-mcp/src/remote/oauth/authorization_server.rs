//! The authorization server that an MCP server names, and the checks before it is trusted.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use rmcp::transport::auth::{AuthError, AuthorizationMetadata};
use url::Url;

use super::ClientIdentity;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest metadata document, in bytes.
const MAX_LENGTH: usize = 1 << 20;
/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// A checked authorization server.
pub(super) struct AuthorizationServer {
    /// The issuer, or else the token endpoint.
    pub(super) name: String,
    pub(super) takes_metadata_urls: bool,
}

impl AuthorizationServer {
    /// Checks the metadata that the server at a URL names.
    pub(super) fn new(
        metadata: &AuthorizationMetadata,
        url: &str,
        identity: &ClientIdentity,
    ) -> Result<Self, AuthError> {
        check_https(metadata, url)?;
        let issuer = metadata.issuer.as_ref();
        if let Some(expected) = &identity.issuer {
            check_issuer(expected, issuer.map(String::as_str))?;
        }
        let takes_metadata_urls = metadata.additional_fields.get("client_id_metadata_document_supported");
        Ok(Self {
            name: issuer.unwrap_or(&metadata.token_endpoint).clone(),
            takes_metadata_urls: takes_metadata_urls.and_then(serde_json::Value::as_bool).unwrap_or_default(),
        })
    }

    /// Returns `true` if this is the authorization server of that name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        is_same_issuer(&self.name, name)
    }
}

/// Returns `true` if two names denote one authorization server.
pub(super) fn is_same_issuer(this: &str, other: &str) -> bool {
    this.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Requires HTTPS of the endpoints if the server itself uses HTTPS, because they receive passwords, codes and tokens.
fn check_https(metadata: &AuthorizationMetadata, url: &str) -> Result<(), AuthError> {
    let is_https = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "https");
    let named = [&metadata.authorization_endpoint, &metadata.token_endpoint];
    let mut named = named.into_iter().chain(&metadata.registration_endpoint).chain(&metadata.issuer);
    match named.find(|named| is_https(url) && !is_https(named)) {
        Some(named) => {
            Err(AuthError::AuthorizationFailed(format!("the authorization server URL {named:?} does not use HTTPS")))
        }
        None => Ok(()),
    }
}

/// Requires the expected issuer: a client id and secret are sent only to the authorization server that issued them.
pub(super) fn check_issuer(expected: &str, named: Option<&str>) -> Result<(), AuthError> {
    let expected_issuer = expected.to_owned();
    match named {
        Some(named) if is_same_issuer(named, expected) => Ok(()),
        Some(named) => {
            Err(AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer: named.to_owned() })
        }
        None => Err(AuthError::AuthorizationServerMissingIssuer { expected_issuer }),
    }
}

/// Fetches the metadata that an issuer publishes itself. Others can publish metadata in its name, and rmcp does not always
/// detect that.
pub(super) async fn published_metadata(issuer: &str) -> Result<AuthorizationMetadata, AuthError> {
    let client = Client::builder().timeout(TIMEOUT).redirect(same_origin()).build()?;
    for url in metadata_urls(&Url::parse(issuer)?) {
        let response = client.get(url).send().await?;
        if response.status().is_server_error() {
            response.error_for_status()?;
        } else if response.status() == StatusCode::OK
            && let Ok(metadata) = serde_json::from_slice::<AuthorizationMetadata>(&body(response).await?)
            && metadata.issuer.as_ref().is_some_and(|name| is_same_issuer(name, issuer))
        {
            return Ok(metadata);
        }
    }
    Err(AuthError::MetadataError(format!("{issuer} does not publish authorization server metadata")))
}

/// Returns the well-known URLs of RFC 8414, and both variants of OpenID Connect.
fn metadata_urls(issuer: &Url) -> Vec<Url> {
    let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
    if !path.is_empty() {
        paths.push(format!("{path}{openid}"));
    }
    let url = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        url
    };
    paths.into_iter().map(url).collect()
}

async fn body(mut response: Response) -> Result<Vec<u8>, AuthError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_LENGTH {
            return Err(AuthError::MetadataError(format!("the response of {} is too long", response.url())));
        }
    }
    Ok(body)
}

fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let from = attempt.previous().first().map(Url::origin);
        match from == Some(attempt.url().origin()) && attempt.previous().len() <= MAX_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(issuer: &str, token_endpoint: &str) -> AuthorizationMetadata {
        serde_json::from_value(serde_json::json!({
            "issuer": issuer, "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": token_endpoint,
        }))
        .unwrap()
    }

    #[test]
    fn rejects_other_issuers_and_unencrypted_endpoints() {
        let (server, issuer, token) = ("HTTPS://a.example/mcp", "https://login.example", "https://login.example/token");
        let at =
            |issuer: Option<&str>| ClientIdentity { issuer: issuer.map(str::to_owned), ..ClientIdentity::default() };
        let named =
            AuthorizationServer::new(&metadata(issuer, token), server, &at(Some("https://login.example/"))).unwrap();
        assert_eq!(named.name, issuer);
        assert!(
            AuthorizationServer::new(&metadata(issuer, token), server, &at(None)).is_ok(),
            "no issuer is configured"
        );
        assert!(
            AuthorizationServer::new(&metadata(issuer, token), server, &at(Some("https://other.example"))).is_err()
        );
        let plain = metadata(issuer, "http://login.example/token");
        assert!(AuthorizationServer::new(&plain, server, &at(None)).is_err(), "the code would be sent unencrypted");
        assert!(
            AuthorizationServer::new(&plain, "http://127.0.0.1:1/mcp", &at(None)).is_ok(),
            "the server is not encrypted either"
        );
        assert!(AuthorizationServer::new(&metadata("http://login.example", token), server, &at(None)).is_err());
    }

    #[test]
    fn tries_the_well_known_urls_of_an_issuer() {
        let urls =
            |issuer: &str| metadata_urls(&Url::parse(issuer).unwrap()).iter().map(Url::to_string).collect::<Vec<_>>();
        let at = |path: &str| format!("https://login.example{path}");
        let root = [at("/.well-known/oauth-authorization-server"), at("/.well-known/openid-configuration")];
        assert_eq!(urls("https://login.example"), root);
        assert_eq!(urls("https://login.example/?x=y"), root);
        let tenant = [
            at("/.well-known/oauth-authorization-server/a"),
            at("/.well-known/openid-configuration/a"),
            at("/a/.well-known/openid-configuration"),
        ];
        assert_eq!(urls("https://login.example/a/"), tenant);
    }
}
