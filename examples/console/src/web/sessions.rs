//! Who has logged in.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, header};
use tool_http::Token;
use tool_runtime::CancellationToken;

/// How many browsers can be logged in.
const MOST: usize = 1000;

/// The browsers that have shown the token, until they log out or the console ends. Each has an id as a cookie, which is
/// of no use anywhere else; the token stays with the person. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<VecDeque<Session>>>);

/// One of them. Let go, it tells so.
struct Session {
    id: String,
    over: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl Sessions {
    /// Lets one in and gives its id. Where too many are in, the oldest goes.
    pub(super) fn begin(&self) -> io::Result<String> {
        let id = Token::random()?.text().to_owned();
        let mut all = self.all();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(Session { id: id.clone(), over: CancellationToken::new() });
        Ok(id)
    }

    /// Whether a request comes from one that is in.
    pub(super) fn know(&self, headers: &HeaderMap) -> bool {
        self.over(headers).is_some()
    }

    /// Told when the one is let go that a request comes from; nothing if it comes from none.
    pub(super) fn over(&self, headers: &HeaderMap) -> Option<CancellationToken> {
        let shown = shown(headers)?;
        self.all().iter().find(|session| session.id == shown).map(|session| session.over.clone())
    }

    /// Lets the one that a request comes from go.
    pub(super) fn end(&self, headers: &HeaderMap) {
        if let Some(shown) = shown(headers) {
            self.all().retain(|session| session.id != shown);
        }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the cookie is called. Browsers send one to every port of a host: each console has its own, by its port.
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
