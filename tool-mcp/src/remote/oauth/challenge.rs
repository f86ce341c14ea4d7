//! `WWW-Authenticate` challenges.

use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use url::Url;

/// A challenge of a server.
pub(super) struct Challenge {
    pub(super) header: String,
    params: WWWAuthenticateParams,
}

impl Challenge {
    /// Parses the header of the server at a URL.
    pub(super) fn new(header: &str, url: &str) -> Result<Self, AuthError> {
        let params = WWWAuthenticateParams::parse(header, &Url::parse(url)?);
        Ok(Self { header: header.to_owned(), params })
    }

    /// Returns `true` if both challenges ask for the same. Other parameters, such as a nonce, are ignored.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (this, other) = (&self.params, &other.params);
        this.resource_metadata_url == other.resource_metadata_url
            && this.scope == other.scope
            && this.error == other.error
    }

    /// Returns `true` if the token is valid, but lacks scopes.
    pub(super) fn needs_more_scopes(&self) -> bool {
        self.params.is_insufficient_scope() && self.params.scope.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_challenges_by_what_they_ask_for() {
        let challenge = |header: &str| Challenge::new(header, "https://a.example/mcp").unwrap();
        let first = challenge(r#"Bearer resource_metadata="https://a.example/r", scope="read", nonce="1""#);
        for (other, is_same) in [
            (r#"bearer nonce="2", scope="read", resource_metadata="/r""#, true),
            (r#"Bearer resource_metadata="https://a.example/r", scope="read write""#, false),
            (r#"Bearer resource_metadata="https://a.example/s", scope="read""#, false),
            (r#"Bearer resource_metadata="https://a.example/r", scope="read", error="invalid_token""#, false),
        ] {
            assert_eq!(first.is_same(&challenge(other)), is_same, "{other}");
        }
        assert!(challenge(r#"Bearer error="insufficient_scope", scope="write""#).needs_more_scopes());
        assert!(!challenge(r#"Bearer error="insufficient_scope""#).needs_more_scopes(), "it names no scope");
        assert!(!first.needs_more_scopes());
    }
}
