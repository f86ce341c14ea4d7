//! Error reporting for failed logins.

use rmcp::transport::auth::AuthError;
use url::Url;

use super::login::NO_CALLBACK;
use crate::remote::endpoint::redact_url;

/// The most characters of a foreign message that are kept.
const MAX_LENGTH: usize = 500;

/// Removes control characters from a foreign message, and limits its length.
pub(super) fn sanitize(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(MAX_LENGTH).collect()
}

/// Sanitizes an error about the server at a URL. It may contain text of the authorization server, and the URL itself,
/// whose secrets are redacted.
pub(super) fn sanitize_error(mut error: AuthError, url: &str) -> AuthError {
    let sanitize = |text: &str| match Url::parse(url) {
        Ok(url) => sanitize(&redact_url(text, &url)),
        Err(_) => sanitize(text),
    };
    match &mut error {
        AuthError::AuthorizationFailed(text)
        | AuthError::TokenExchangeFailed(text)
        | AuthError::TokenRefreshFailed(text)
        | AuthError::TokenRefreshRejected(text)
        | AuthError::CredentialStoreError(text)
        | AuthError::OAuthError(text)
        | AuthError::MetadataError(text)
        | AuthError::InternalError(text)
        | AuthError::InvalidTokenType(text)
        | AuthError::InvalidScope(text)
        | AuthError::RegistrationFailed(text)
        | AuthError::InsufficientScope { required_scope: text, .. }
        | AuthError::AuthorizationServerMissingIssuer { expected_issuer: text }
        | AuthError::ClientCredentialsError(text) => *text = sanitize(text),
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
            *expected_issuer = sanitize(expected_issuer);
            *received_issuer = sanitize(received_issuer);
        }
        // The others have no foreign text.
        _ => {}
    }
    error
}

/// Returns `true` if a retry may succeed without further action.
pub(in crate::remote) fn is_transient(error: &AuthError) -> bool {
    match error {
        // Discovery failed, or a refresh got no response.
        AuthError::MetadataError(_) | AuthError::TokenRefreshFailed(_) | AuthError::HttpError(_) => true,
        AuthError::AuthorizationFailed(why) => why.starts_with(NO_CALLBACK),
        _ => false,
    }
}
