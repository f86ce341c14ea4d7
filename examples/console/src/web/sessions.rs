//! Login sessions.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, header};
use tool_http::Token;
use tool_runtime::CancellationToken;

/// Maximum number of sessions.
const MOST: usize = 1000;

/// The sessions of logged-in browsers, until they log out or the console ends. A browser has the session id in a cookie
/// and never stores the token. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<VecDeque<LoginSession>>>);

/// A session. Dropping it cancels its token.
struct LoginSession {
    id: String,
    over: CancellationToken,
}

impl Drop for LoginSession {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl Sessions {
    /// Starts a session and returns its id. If there are too many, the oldest ends.
    pub(super) fn begin(&self) -> io::Result<String> {
        let id = Token::random()?.text().to_owned();
        let mut all = self.all();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(LoginSession { id: id.clone(), over: CancellationToken::new() });
        Ok(id)
    }

    /// Returns `true` if a request has a valid session.
    pub(super) fn know(&self, headers: &HeaderMap) -> bool {
        self.over(headers).is_some()
    }

    /// Returns a token that is cancelled when the session of a request ends, or `None` if the request has no session.
    pub(super) fn over(&self, headers: &HeaderMap) -> Option<CancellationToken> {
        let shown = shown(headers)?;
        self.all().iter().find(|session| session.id == shown).map(|session| session.over.clone())
    }

    /// Ends the session of a request.
    pub(super) fn end(&self, headers: &HeaderMap) {
        if let Some(shown) = shown(headers) {
            self.all().retain(|session| session.id != shown);
        }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<LoginSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the cookie. Browsers send a cookie to every port of a host, so the name contains the port.
pub(super) fn cookie(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    port.map_or_else(|| "console_session".to_owned(), |port| format!("console_session_{port}"))
}

/// The id that a request shows.
fn shown(headers: &HeaderMap) -> Option<&str> {
    let wanted = cookie(headers);
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, id)| id)
}
