//! A person at this machine, who logs in with a browser and is sent back to a port of it.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::mpsc;
use url::{Url, form_urlencoded};

/// Where browsers are sent back to. By its number, since `localhost` may mean another machine.
const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PATH: &str = "/callback";

/// A port of this machine that is listened to while somebody logs in.
pub(super) struct Browser {
    /// 0 is any that is free.
    pub(super) port: u16,
    show: Box<dyn Fn(&str) + Send + Sync>,
    /// Taken when it is first needed, and kept: the authorization server was told of it.
    socket: Mutex<Option<TcpListener>>,
}

impl Browser {
    pub(super) fn new(port: u16, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { port, show: Box::new(show), socket: Mutex::default() }
    }

    /// Where somebody is sent back to.
    pub(super) fn redirect_uri(&self) -> io::Result<String> {
        let port = self.socket()?.local_addr()?.port();
        Ok(format!("http://{HOST}:{port}{PATH}"))
    }

    fn socket(&self) -> io::Result<TcpListener> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        match &*socket {
            Some(taken) => taken.try_clone(),
            None => {
                let taken = TcpListener::bind((HOST, self.port))?;
                taken.set_nonblocking(true)?;
                socket.insert(taken).try_clone()
            }
        }
    }

    /// Shows somebody the URL, and waits for the one that the browser is sent to in the end.
    pub(super) async fn visit(self: Arc<Self>, url: String) -> Result<String, String> {
        let unheard = |error: io::Error| format!("nobody can come back from the login: {error}");
        let state = Url::parse(&url).ok().and_then(|url| state_of(url.query()));
        let state = state.ok_or("the login cannot be told from another: its URL has no `state`")?;
        let redirect_uri = self.redirect_uri().map_err(unheard)?;
        let listener = self.socket().and_then(tokio::net::TcpListener::from_std).map_err(unheard)?;
        let (back, mut came) = mpsc::channel(1);
        let routes = Router::new().route(PATH, get(returned)).with_state(Expected { state, back });
        (self.show)(&url);
        // Dropped, it hears nothing more; what it has heard is answered.
        tokio::select! {
            Some(query) = came.recv() => Ok(format!("{redirect_uri}?{query}")),
            ended = axum::serve(listener, routes) => Err(unheard(ended.err().unwrap_or(io::ErrorKind::Other.into()))),
        }
    }
}

/// Who is waited for.
#[derive(Clone)]
struct Expected {
    state: String,
    back: mpsc::Sender<String>,
}

/// Takes whoever comes back from the login that was asked for. Any page or program can send somebody here: only the one
/// that was given the `state` knows it.
async fn returned(State(expected): State<Expected>, uri: Uri) -> Response {
    if state_of(uri.query()).is_none_or(|state| state != expected.state) {
        return page(StatusCode::BAD_REQUEST, "This is not the login that was asked for.");
    }
    match expected.back.try_send(uri.query().unwrap_or_default().to_owned()) {
        Ok(()) => page(StatusCode::OK, "That was all. You can close this page."),
        Err(_) => page(StatusCode::CONFLICT, "Somebody came back from this login already."),
    }
}

/// A page that loads nothing.
fn page(status: StatusCode, text: &str) -> Response {
    let html = format!("<!doctype html><title>Login</title><link rel=\"icon\" href=\"data:,\"><p>{text}</p>");
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONNECTION, "close"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}

fn state_of(query: Option<&str>) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query?.as_bytes());
    pairs.find(|(name, _)| name == "state").map(|(_, state)| state.into_owned()).filter(|state| !state.is_empty())
}
