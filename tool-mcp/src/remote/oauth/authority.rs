//! The authorization server that a server names, and how far that is believed.

use rmcp::transport::auth::{AuthError, AuthorizationMetadata};
use url::Url;

use super::Identity;

/// Where a login is possible, and what for.
pub(super) struct Authority {
    /// Its issuer, or what is as good to tell it from others.
    pub(super) name: String,
    pub(super) takes_metadata_urls: bool,
}

impl Authority {
    /// Takes what is named for the server at a URL.
    pub(super) fn new(metadata: &AuthorizationMetadata, url: &str, identity: &Identity) -> Result<Self, AuthError> {
        not_in_the_clear(metadata, url)?;
        let issuer = metadata.issuer.as_ref();
        if let Some(expected) = &identity.issuer {
            expected_one(expected, issuer.map(String::as_str))?;
        }
        let takes_metadata_urls = metadata.additional_fields.get("client_id_metadata_document_supported");
        Ok(Self {
            name: issuer.unwrap_or(&metadata.token_endpoint).clone(),
            takes_metadata_urls: takes_metadata_urls.and_then(serde_json::Value::as_bool).unwrap_or_default(),
        })
    }

    /// Whether it is the one of a name.
    pub(super) fn is(&self, name: &str) -> bool {
        is_same(&self.name, name)
    }
}

/// Whether two names are of one authorization server.
pub(super) fn is_same(this: &str, other: &str) -> bool {
    this.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Passwords, codes and tokens go there: what is safe on its way to a server stays so.
fn not_in_the_clear(metadata: &AuthorizationMetadata, url: &str) -> Result<(), AuthError> {
    let is_safe = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "https");
    let named = [&metadata.authorization_endpoint, &metadata.token_endpoint];
    let mut named = named.into_iter().chain(&metadata.registration_endpoint).chain(&metadata.issuer);
    match named.find(|named| is_safe(url) && !is_safe(named)) {
        Some(named) => Err(AuthError::AuthorizationFailed(format!("it sends logins to {named:?}, which is not HTTPS"))),
        None => Ok(()),
    }
}

/// An id and a secret are told to nobody but the one who gave them out.
pub(super) fn expected_one(expected: &str, named: Option<&str>) -> Result<(), AuthError> {
    let expected_issuer = expected.to_owned();
    match named {
        Some(named) if is_same(named, expected) => Ok(()),
        Some(named) => {
            Err(AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer: named.to_owned() })
        }
        None => Err(AuthError::AuthorizationServerMissingIssuer { expected_issuer }),
    }
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
    fn secrets_go_where_they_are_meant_to() {
        let (server, issuer, token) = ("HTTPS://a.example/mcp", "https://login.example", "https://login.example/token");
        let at = |issuer: Option<&str>| Identity { issuer: issuer.map(str::to_owned), ..Identity::default() };
        let named = Authority::new(&metadata(issuer, token), server, &at(Some("https://login.example/"))).unwrap();
        assert_eq!(named.name, issuer);
        assert!(Authority::new(&metadata(issuer, token), server, &at(None)).is_ok(), "nothing is expected");
        assert!(Authority::new(&metadata(issuer, token), server, &at(Some("https://other.example"))).is_err());
        let plain = metadata(issuer, "http://login.example/token");
        assert!(Authority::new(&plain, server, &at(None)).is_err(), "the code would travel in the clear");
        assert!(Authority::new(&plain, "http://127.0.0.1:1/mcp", &at(None)).is_ok(), "so does all the rest");
        assert!(Authority::new(&metadata("http://login.example", token), server, &at(None)).is_err());
    }
}
