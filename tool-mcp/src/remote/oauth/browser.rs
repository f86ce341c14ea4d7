//! A person at this machine, who logs in with a browser and is sent back to a port of it.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{OwnedMutexGuard, mpsc};
use url::Url;

use super::returned::value;

/// Where browsers are sent back to. By its number, since `localhost` may mean another machine.
const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PATH: &str = "/callback";

/// Somebody at this machine, and the port of it that they come back to.
pub(super) struct Browser {
    /// 0 is any that is free.
    pub(super) port: u16,
    show: Box<dyn Fn(&str) + Send + Sync>,
    /// A port that was free, and is kept: the authorization server was told of it, and many take no other. A fixed one
    /// was told once and for all, so that it is taken while somebody logs in, and others can have it in between.
    kept: Mutex<Option<TcpListener>>,
    /// One comes back after the other.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The port, while somebody is waited for. It is free again when this is dropped.
pub(super) struct Port {
    browser: Arc<Browser>,
    turn: OwnedMutexGuard<()>,
    listener: tokio::net::TcpListener,
    /// Where somebody is sent back to.
    pub(super) redirect_uri: String,
}

impl Browser {
    pub(super) fn new(port: u16, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { port, show: Box::new(show), kept: Mutex::default(), turn: Arc::default() }
    }

    /// Takes the port when nobody else is waited for, or says in words why not.
    pub(super) async fn open(self: &Arc<Self>) -> Result<Port, String> {
        let turn = self.turn.clone().lock_owned().await;
        let socket = if self.port == 0 { self.kept() } else { listen(self.port) };
        let opened = socket.and_then(|socket| {
            let redirect_uri = format!("http://{HOST}:{}{PATH}", socket.local_addr()?.port());
            let listener = tokio::net::TcpListener::from_std(socket)?;
            Ok(Port { browser: self.clone(), turn, listener, redirect_uri })
        });
        opened.map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; another login or another program has it: end that, or register the application with another \
                     port and name it (`callbackPort` in a file, `OAuth::in_browser_at` in code)"
                }
                _ => "",
            };
            format!("port {} of {HOST} cannot be listened to: {error}{advice}", self.port)
        })
    }

    fn kept(&self) -> io::Result<TcpListener> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(socket) => socket.try_clone(),
            None => kept.insert(listen(0)?).try_clone(),
        }
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpListener::bind((HOST, port))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Port {
    /// Shows somebody the URL, and waits for the one that the browser is sent to in the end.
    pub(super) async fn visit(self, url: String) -> Result<String, String> {
        let Self { browser, turn, listener, redirect_uri } = self;
        let state = Url::parse(&url).ok().and_then(|url| state_of(url.query()));
        let state = state.ok_or("the login cannot be told from another: its URL has no `state`")?;
        let (back, mut came) = mpsc::channel(1);
        let routes = Router::new().route(PATH, get(returned)).with_state(Expected { state, back });
        (browser.show)(&url);
        // Dropped, it hears nothing more; what it has heard is answered.
        let returned = tokio::select! {
            Some(query) = came.recv() => Ok(format!("{redirect_uri}?{query}")),
            ended = axum::serve(listener, routes) => {
                Err(format!("nobody can come back from the login any more: {:?}", ended.err()))
            }
        };
        drop(turn);
        returned
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
    value(query, "state").filter(|state| !state.is_empty())
}
