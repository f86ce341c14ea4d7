//! Who may call.

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

/// A function that looks at the head of a request before anything else does.
pub(super) type Check = dyn Fn(&mut Parts) -> Result<(), Denied> + Send + Sync;

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// Nobody knows who is calling: 401, with the demand for a bearer token.
    Unauthorized,
    /// A token came that is not good, or not any more: 401, which says so, and a client may get another one.
    InvalidToken,
    /// It is known, and may not: 403.
    Forbidden,
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let (wanted, why) = match self {
            Self::Unauthorized => ("Bearer", "Unauthorized: a bearer token is needed"),
            Self::InvalidToken => (r#"Bearer error="invalid_token""#, "Unauthorized: the bearer token is not good"),
            Self::Forbidden => return (StatusCode::FORBIDDEN, "Forbidden").into_response(),
        };
        let wanted = [(header::WWW_AUTHENTICATE, HeaderValue::from_static(wanted))];
        (StatusCode::UNAUTHORIZED, wanted, why).into_response()
    }
}

/// Who is calling, for a [check](HttpConfig::check) to put into a request's extensions. What a call leaves with its
/// client until its next round is good for the same caller only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal(pub String);

/// The fewest characters of a token.
const SHORTEST: usize = 16;

/// A token that could be guessed, or that no header can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakToken(());

impl fmt::Display for WeakToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a bearer token has at least {SHORTEST} characters, all of them ASCII and none a space")
    }
}

impl std::error::Error for WeakToken {}

/// Lets requests through that bring this token.
pub(super) fn bearer(token: &str) -> Result<impl Fn(&mut Parts) -> Result<(), Denied> + use<>, WeakToken> {
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(WeakToken(()));
    }
    // Hashes are compared, so that the time it takes says nothing of the token.
    let expected = Sha256::digest(token);
    Ok(move |parts: &mut Parts| {
        let value = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = value.and_then(|value| {
            let (scheme, token) = value.split_at_checked("Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
        });
        match given {
            Some(given) if Sha256::digest(given) == expected => Ok(()),
            Some(_) => Err(Denied::InvalidToken),
            None => Err(Denied::Unauthorized),
        }
    })
}

/// A router whose requests are checked first, if the configuration says how.
pub(super) fn guarded(router: Router, config: HttpConfig) -> Router {
    match config.check {
        None => router,
        Some(check) => router.layer(middleware::from_fn_with_state(check, checked)),
    }
}

async fn checked(State(check): State<Arc<Check>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match check(&mut parts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(denied) => denied.into_response(),
    }
}
