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

    /// Whether we are let in, but may not do enough.
    pub(super) fn asks_for_more(&self) -> bool {
        self.params.is_insufficient_scope() && self.params.scope.is_some()
    }
}
