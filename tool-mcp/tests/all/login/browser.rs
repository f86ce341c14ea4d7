//! Logins with a local browser, and other requests to the callback port.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers, ServerState};
use url::Url;

use super::{Guarded, value};
use crate::scripted::{call, connect, dispatcher, until};

/// Returns a login, and the URLs that it shows.
fn login() -> (OAuth, mpsc::UnboundedReceiver<Url>) {
    let (show, shown) = mpsc::unbounded_channel();
    (OAuth::in_browser(move |url| show.send(Url::parse(url).unwrap()).unwrap()), shown)
}

/// Requests the redirect URI of a login, with a query.
pub(super) async fn redirect(login: &Url, query: &[(&str, &str)]) -> u16 {
    let back = Url::parse_with_params(&value(login, "redirect_uri"), query).unwrap();
    assert_eq!(back.host_str(), Some("127.0.0.1"), "not a loopback address: {back}");
    reqwest::get(back).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn accepts_the_redirect_of_this_login_only() {
    let guarded = Guarded::start().await;
    let (oauth, mut shown) = login();
    let user_task = tokio::spawn(async move {
        let url = shown.recv().await.unwrap();
        let state = value(&url, "state");
        assert_eq!(redirect(&url, &[("code", "forged"), ("state", "guessed")]).await, 400);
        assert_eq!(redirect(&url, &[("code", "forged")]).await, 400);
        assert_eq!(redirect(&url, &[("code", "forged"), ("state", &state), ("state", "guessed")]).await, 400);
        assert_eq!(redirect(&url, &[("error", "access_denied"), ("state", "")]).await, 400);
        assert_eq!(redirect(&url, &[("code", "c0de"), ("state", &state)]).await, 200);
        shown.try_recv().is_ok()
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    assert!(!user_task.await.unwrap(), "the login is shown once");
    assert_eq!(guarded.codes(), ["c0de"], "forged codes are not exchanged");
    servers.close().await;
}

#[tokio::test]
async fn reports_a_refused_login() {
    let guarded = Guarded::start().await;
    let (oauth, mut shown) = login();
    let user_task = tokio::spawn(async move {
        let url = shown.recv().await.unwrap();
        redirect(&url, &[("error", "access_denied"), ("state", &value(&url, "state"))]).await
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert_eq!(user_task.await.unwrap(), 200);
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains("access_denied")))
        .await;
    servers.close().await;
}

#[tokio::test]
async fn times_out_without_a_login() {
    let guarded = Guarded::start().await;
    let (oauth, shown) = login();
    let tools = dispatcher();
    let config = guarded.config(oauth.login_timeout(Duration::from_millis(50)));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains("no login within")))
        .await;
    servers.close().await;
    drop(shown);
}

/// Returns an unused port outside of the ephemeral range, another one for each test.
pub(super) fn unused_port() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    let from = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let mut ports = std::iter::repeat_with(|| from + GIVEN.fetch_add(1, Ordering::SeqCst));
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// A user who checks whether the port is taken, and then logs in at the URL shown.
fn user(mut shown: mpsc::UnboundedReceiver<Url>, port: u16) -> JoinHandle<bool> {
    tokio::spawn(async move {
        let url = shown.recv().await.unwrap();
        let is_taken = TcpListener::bind(("127.0.0.1", port)).is_err();
        assert_eq!(value(&url, "redirect_uri"), format!("http://127.0.0.1:{port}/callback"));
        assert_eq!(redirect(&url, &[("code", "c0de"), ("state", &value(&url, "state"))]).await, 200);
        is_taken
    })
}

#[tokio::test]
async fn holds_a_fixed_port_during_the_login_only() {
    let guarded = Guarded::start().await;
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (show, shown) = mpsc::unbounded_channel();
    let oauth = OAuth::in_browser_at(port, move |url| show.send(Url::parse(url).unwrap()).unwrap());
    let user_task = user(shown, port);
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    let why = |servers: &RemoteServers| format!("{:?}", servers.status()[0].state);
    until(|| why(&servers).contains(&format!("cannot listen on port {port} of 127.0.0.1"))).await;
    assert!(why(&servers).contains("`callbackPort`"), "no advice: {servers:?}");
    assert!(!user_task.is_finished(), "no login is shown without a callback port");
    // The login is retried automatically.
    drop(taken);
    assert!(user_task.await.unwrap(), "the port was taken by the login");
    until(|| servers.status()[0].state == ServerState::Connected).await;
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free after the login");
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    servers.close().await;
}

#[tokio::test]
async fn needs_no_port_with_stored_tokens() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let known = |oauth: OAuth| guarded.config(oauth.client_id("us").shared_store(store.clone()));
    let user_task = known(guarded.user(Duration::ZERO));
    connect(&tools, RemoteServers::builder().server(user_task)).await.close().await;
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let later = known(OAuth::in_browser_at(port, |url| panic!("unexpected login at {url}")));
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    let servers = connect(&tools, RemoteServers::builder().server(later)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "the token is refreshed: {servers:?}");
    drop(taken);
    servers.close().await;
}

#[tokio::test]
async fn keeps_the_registered_port() {
    let guarded = Guarded::start().await;
    let (oauth, mut shown) = login();
    let tools = dispatcher();
    let config = guarded.config(oauth.login_timeout(Duration::from_millis(50)));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let first = value(&shown.recv().await.unwrap(), "redirect_uri");
    until(|| matches!(servers.status()[0].state, ServerState::Unavailable(_))).await;
    servers.reload().await;
    assert_eq!(value(&shown.recv().await.unwrap(), "redirect_uri"), first, "the registered redirect URI is used");
    assert_eq!(guarded.registrations(), 1);
    servers.close().await;
}

#[tokio::test]
async fn cancels_a_login_when_the_server_is_removed() {
    let guarded = Guarded::start().await;
    let port = unused_port();
    let (show, mut shown) = mpsc::unbounded_channel();
    let oauth = OAuth::in_browser_at(port, move |url| show.send(url.to_owned()).unwrap());
    let config = guarded.config(oauth);
    let connecting = tokio::spawn(async move { connect(&dispatcher(), RemoteServers::builder().server(config)).await });
    shown.recv().await.unwrap();
    TcpListener::bind(("127.0.0.1", port)).expect_err("the login holds the port");
    connecting.abort();
    until(|| TcpListener::bind(("127.0.0.1", port)).is_ok()).await;
}

#[tokio::test]
async fn handles_logins_one_at_a_time() {
    let (one, two) = (Guarded::start().await, Guarded::start().await);
    let (oauth, mut shown) = login();
    let oauth = oauth.login_timeout(Duration::from_secs(20));
    let user_task = tokio::spawn(async move {
        // Long enough for both to wait for the port, and longer than the connect timeout.
        for busy in [Duration::from_millis(2_200), Duration::ZERO] {
            let url = shown.recv().await.unwrap();
            tokio::time::sleep(busy).await;
            assert!(shown.try_recv().is_err(), "only one login is shown");
            assert_eq!(redirect(&url, &[("code", "c0de"), ("state", &value(&url, "state"))]).await, 200);
        }
    });
    let (tools, others) = (dispatcher(), dispatcher());
    let connect_to = |guarded: &Guarded| {
        let config = guarded.config(oauth.clone()).connect_timeout(Duration::from_secs(1));
        RemoteServers::builder().server(config).strict()
    };
    let (servers, more) = tokio::join!(connect(&tools, connect_to(&one)), connect(&others, connect_to(&two)));
    user_task.await.unwrap();
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    assert_eq!(call(&others, "mcp_s_a").await.output, "in", "{more:?}");
    servers.close().await;
    more.close().await;
}
