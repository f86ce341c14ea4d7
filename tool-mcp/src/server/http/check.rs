//! Authorization of HTTP requests.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use super::HttpConfig;

/// A function that checks the head of a request before it is handled.
pub(super) type Check = dyn Fn(&mut Parts) -> Result<(), AccessDenied> + Send + Sync;

/// The reason for refusing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessDenied {
    /// No token was sent: 401, with a challenge for a bearer token.
    Unauthorized,
    /// The token is invalid or has expired: 401 with `invalid_token`, so that the client can get another one.
    InvalidToken,
    /// The caller is known but not allowed: 403.
    Forbidden,
}

impl IntoResponse for AccessDenied {
    fn into_response(self) -> Response {
        let (challenge, why) = match self {
            Self::Unauthorized => ("Bearer", "Unauthorized: a bearer token is required"),
            Self::InvalidToken => (r#"Bearer error="invalid_token""#, "Unauthorized: the bearer token is invalid"),
            Self::Forbidden => return (StatusCode::FORBIDDEN, "Forbidden").into_response(),
        };
        let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))];
        (StatusCode::UNAUTHORIZED, challenge, why).into_response()
    }
}

/// The caller's identity. A [check](HttpConfig::check) inserts it into a request's extensions. The state of a call that
/// takes several rounds is valid for the same principal only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal(pub String);

/// The minimum length of a token.
const MIN_LENGTH: usize = 16;

/// The error for a token that is too short, or has characters that a header cannot carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakBearerToken(());

impl fmt::Display for WeakBearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a bearer token needs at least {MIN_LENGTH} characters, all of them visible ASCII")
    }
}

impl std::error::Error for WeakBearerToken {}

/// Returns a check that accepts requests with this token.
pub(super) fn bearer(token: &str) -> Result<impl Fn(&mut Parts) -> Result<(), AccessDenied> + use<>, WeakBearerToken> {
    if token.len() < MIN_LENGTH || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(WeakBearerToken(()));
    }
    // Comparing hashes keeps the timing independent of the token.
    let expected = Sha256::digest(token);
    Ok(move |parts: &mut Parts| {
        let value = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let received = value.and_then(|value| {
            let (scheme, token) = value.split_at_checked("Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
        });
        match received {
            Some(received) if Sha256::digest(received) == expected => Ok(()),
            Some(_) => Err(AccessDenied::InvalidToken),
            None => Err(AccessDenied::Unauthorized),
        }
    })
}

/// Adds the configured check to a router.
pub(super) fn with_check(router: Router, config: HttpConfig) -> Router {
    match config.check {
        None => router,
        Some(check) => router.layer(middleware::from_fn_with_state(check, run_check)),
    }
}

async fn run_check(State(check): State<Arc<Check>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match check(&mut parts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(denied) => denied.into_response(),
    }
}
