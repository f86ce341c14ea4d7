//! Access control: serves this machine only, or clients with a token.

use std::fmt;
use std::net::IpAddr;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::StreamExt;
use tool_http::{Guard, InvalidName, Token, WeakToken};

use super::sessions::Sessions;

/// Access rules of the console.
#[derive(Clone, Default)]
pub struct Access {
    token: Option<Token>,
    /// Logged-in browsers.
    pub(super) sessions: Sessions,
    /// The guard without a token.
    guard: Guard,
}

impl Access {
    /// Creates the rules for a listening address. With a token, clients that send it are served, under these host names
    /// too; without one only this machine is served. An empty string generates a token.
    ///
    /// # Errors
    /// If other machines could connect without a token, or if the token or a name is invalid.
    pub fn new(address: IpAddr, token: Option<&str>, names: &[String]) -> Result<Self, AccessError> {
        let token = match token {
            None if address.is_loopback() && names.is_empty() => None,
            None if address.is_loopback() => return Err(AccessError::NamesAlone),
            None => return Err(AccessError::Open(address)),
            Some("") => Some(Token::random().map_err(AccessError::NoRandomness)?),
            Some(text) => Some(Token::new(text).map_err(AccessError::Weak)?),
        };
        let mut guard = Guard::new();
        for name in names {
            guard = guard.host(name).map_err(AccessError::Name)?;
        }
        Ok(Self { token, sessions: Sessions::default(), guard })
    }

    /// Returns the required token, if there is one.
    #[must_use]
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Returns the guard of the pages and the API.
    pub(super) fn guard(&self) -> Guard {
        match &self.token {
            Some(token) => {
                let sessions = self.sessions.clone();
                self.guard.clone().token(token.clone()).session(move |parts| sessions.know(&parts.headers))
            }
            None => self.guard.clone(),
        }
    }

    /// Returns the guard of the login page, which requires no token.
    pub(super) fn guard_of_login(&self) -> Guard {
        match &self.token {
            Some(_) => self.guard.clone().check(|_| Ok(())),
            None => self.guard.clone(),
        }
    }
}

/// Redirects browsers without a valid token to the login page.
pub(super) async fn lead_to_login(request: Request, next: Next) -> Response {
    let accepted = request.headers().get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let wants_page = request.method() == Method::GET && accepted.is_some_and(|kinds| kinds.contains("text/html"));
    let response = next.run(request).await;
    match response.status() {
        StatusCode::UNAUTHORIZED if wants_page => Redirect::to("/login").into_response(),
        _ => response,
    }
}

/// Ends an event stream when the session that opened it ends, so that a user who logged out receives nothing more in
/// any tab. The session is looked up first, so that its end is not missed.
pub(super) async fn end_with_session(State(access): State<Access>, request: Request, next: Next) -> Response {
    let over = access.sessions.over(request.headers());
    let response = next.run(request).await;
    match over {
        Some(over) if is_stream(&response) => {
            response.map(|body| Body::from_stream(body.into_data_stream().take_until(over.cancelled_owned())))
        }
        _ => response,
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Error of the access rules.
#[derive(Debug)]
pub enum AccessError {
    /// Other machines could connect without a token.
    Open(IpAddr),
    /// Host names are set without a token.
    NamesAlone,
    /// The token could be guessed.
    Weak(WeakToken),
    /// No token could be generated.
    NoRandomness(std::io::Error),
    /// A host name is invalid.
    Name(InvalidName),
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(address) => write!(
                f,
                "other machines can reach {address}, so a token is required: `--token` generates and prints one, \
                 `CONSOLE_TOKEN` in the environment sets one; without `--address` only this machine is served"
            ),
            Self::NamesAlone => f.write_str(
                "`--name` requires a token: `--token` generates and prints one, `CONSOLE_TOKEN` in the environment sets one",
            ),
            Self::Weak(error) => error.fmt(f),
            Self::NoRandomness(error) => error.fmt(f),
            Self::Name(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AccessError {}
