//! Logins with a browser on this machine, redirected to a local port.

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

use super::callback::query_value;

/// The host of the redirect URI. An IP address, because `localhost` may resolve to another machine.
const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PATH: &str = "/callback";

/// A browser on this machine, and the port for its redirects.
pub(super) struct Browser {
    /// 0 means any free port.
    pub(super) port: u16,
    show: Box<dyn Fn(&str) + Send + Sync>,
    /// The socket of a free port, kept open: the client was registered with that port, and many authorization servers
    /// accept no other. A fixed port is bound only during a login, so that others can use it in between.
    kept_socket: Mutex<Option<TcpListener>>,
    /// Allows one login at a time.
    login_lock: Arc<tokio::sync::Mutex<()>>,
}

/// An open port for the redirect of one login, closed when dropped.
pub(super) struct CallbackListener {
    browser: Arc<Browser>,
    permit: OwnedMutexGuard<()>,
    listener: tokio::net::TcpListener,
    /// The URI of this port.
    pub(super) redirect_uri: String,
}

impl Browser {
    pub(super) fn new(port: u16, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { port, show: Box::new(show), kept_socket: Mutex::default(), login_lock: Arc::default() }
    }

    /// Opens the port, after any other login has ended.
    pub(super) async fn open(self: &Arc<Self>) -> Result<CallbackListener, String> {
        let permit = self.login_lock.clone().lock_owned().await;
        let socket = if self.port == 0 { self.free_port() } else { listen(self.port) };
        let opened = socket.and_then(|socket| {
            let redirect_uri = format!("http://{HOST}:{}{PATH}", socket.local_addr()?.port());
            let listener = tokio::net::TcpListener::from_std(socket)?;
            Ok(CallbackListener { browser: self.clone(), permit, listener, redirect_uri })
        });
        opened.map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; another login or program is using it: end that, or register the application with another port and \
                     configure it (`callbackPort` in a file, `OAuth::in_browser_at` in code)"
                }
                _ => "",
            };
            format!("cannot listen on port {} of {HOST}: {error}{advice}", self.port)
        })
    }

    fn free_port(&self) -> io::Result<TcpListener> {
        let mut kept = self.kept_socket.lock().unwrap_or_else(PoisonError::into_inner);
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

impl CallbackListener {
    /// Shows the login URL, and waits for the URL that the browser is redirected to.
    pub(super) async fn visit(self, url: String) -> Result<String, String> {
        let Self { browser, permit, listener, redirect_uri } = self;
        let state = Url::parse(&url).ok().and_then(|url| state_param(url.query()));
        let state = state.ok_or("the login URL has no `state`")?;
        let (sender, mut redirects) = mpsc::channel(1);
        let routes = Router::new().route(PATH, get(callback)).with_state(ExpectedLogin { state, sender });
        (browser.show)(&url);
        // Dropping the server stops it from accepting; responses in progress are completed.
        let redirected = tokio::select! {
            Some(query) = redirects.recv() => Ok(format!("{redirect_uri}?{query}")),
            ended = axum::serve(listener, routes) => {
                Err(format!("the listener for the login failed: {:?}", ended.err()))
            }
        };
        drop(permit);
        redirected
    }
}

/// The login that is waited for.
#[derive(Clone)]
struct ExpectedLogin {
    state: String,
    sender: mpsc::Sender<String>,
}

/// Accepts the redirect of the expected login. Any page or program can send a browser here, but only the authorization
/// server knows the `state`.
async fn callback(State(expected): State<ExpectedLogin>, uri: Uri) -> Response {
    if state_param(uri.query()).is_none_or(|state| state != expected.state) {
        return page(StatusCode::BAD_REQUEST, "This is not the expected login.");
    }
    match expected.sender.try_send(uri.query().unwrap_or_default().to_owned()) {
        Ok(()) => page(StatusCode::OK, "The login response was received. You can close this page."),
        Err(_) => page(StatusCode::CONFLICT, "This login was already completed."),
    }
}

/// Returns a page without external resources.
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

fn state_param(query: Option<&str>) -> Option<String> {
    query_value(query, "state").filter(|state| !state.is_empty())
}
