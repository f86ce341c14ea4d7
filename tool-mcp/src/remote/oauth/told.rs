//! What is told of a login that failed: to people, and to a model.

use rmcp::transport::auth::AuthError;
use url::Url;

use super::person::NO_WAY_BACK;
use crate::remote::reached::without_secrets;

/// The most characters of a reason that are passed on.
const REASON: usize = 500;

/// Words of others, as far as they are fit for a terminal and for a model.
pub(super) fn plain(words: &str) -> String {
    words.chars().filter(|character| !character.is_control()).take(REASON).collect()
}

/// An error in plain words, for the server at a URL: what an authorization server answers is part of many, and so is that
/// URL, whose query may be a secret.
pub(super) fn told(mut error: AuthError, url: &str) -> AuthError {
    let plain = |words: &str| match Url::parse(url) {
        Ok(url) => plain(&without_secrets(words, &url)),
        Err(_) => plain(words),
    };
    match &mut error {
        AuthError::AuthorizationFailed(words)
        | AuthError::TokenExchangeFailed(words)
        | AuthError::TokenRefreshFailed(words)
        | AuthError::TokenRefreshRejected(words)
        | AuthError::CredentialStoreError(words)
        | AuthError::OAuthError(words)
        | AuthError::MetadataError(words)
        | AuthError::InternalError(words)
        | AuthError::InvalidTokenType(words)
        | AuthError::InvalidScope(words)
        | AuthError::RegistrationFailed(words)
        | AuthError::InsufficientScope { required_scope: words, .. }
        | AuthError::AuthorizationServerMissingIssuer { expected_issuer: words }
        | AuthError::ClientCredentialsError(words) => *words = plain(words),
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
            *expected_issuer = plain(expected_issuer);
            *received_issuer = plain(received_issuer);
        }
        // These have no words of others.
        _ => {}
    }
    error
}

/// Whether what failed may work later by itself.
pub(in crate::remote) fn may_work_later(error: &AuthError) -> bool {
    match error {
        // Nothing could be found out, or what is sent to renew a token had no answer.
        AuthError::MetadataError(_) | AuthError::TokenRefreshFailed(_) | AuthError::HttpError(_) => true,
        AuthError::AuthorizationFailed(why) => why.starts_with(NO_WAY_BACK),
        _ => false,
    }
}
