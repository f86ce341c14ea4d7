//! What a server wants to be shown before it lets us in.

use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use url::Url;

/// A refusal that says how to be let in.
pub(super) struct Challenge {
    pub(super) header: String,
    params: WWWAuthenticateParams,
}

impl Challenge {
    /// Reads the header of the server at a URL.
    pub(super) fn new(header: &str, url: &str) -> Result<Self, AuthError> {
        let params = WWWAuthenticateParams::parse(header, &Url::parse(url)?);
        Ok(Self { header: header.to_owned(), params })
    }

    /// Whether it asks for the same, in whatever words: some add the time, or a number that is used once.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (this, other) = (&self.params, &other.params);
        this.resource_metadata_url == other.resource_metadata_url
            && this.scope == other.scope
            && this.error == other.error
    }

    /// Whether we are let in, but may not do enough.
    pub(super) fn asks_for_more(&self) -> bool {
        self.params.is_insufficient_scope() && self.params.scope.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_counts_and_not_how() {
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
        assert!(challenge(r#"Bearer error="insufficient_scope", scope="write""#).asks_for_more());
        assert!(!challenge(r#"Bearer error="insufficient_scope""#).asks_for_more(), "it does not say what for");
        assert!(!first.asks_for_more());
    }
}
