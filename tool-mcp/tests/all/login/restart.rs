//! Tokens stored by an earlier process or another application, which are sent to their issuer only.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers, ServerState};

use super::browser::unused_port;
use super::{Guarded, value, why};
use crate::log::Log;
use crate::scripted::{call, connect, dispatcher, until};

/// A server with stored tokens, whose challenges name another authorization server than its metadata.
struct Restarted {
    guarded: Arc<Guarded>,
    other: Arc<Guarded>,
    store: Arc<InMemoryCredentialStore>,
}

impl Restarted {
    /// Logs in once; all tokens are rejected afterwards.
    async fn after(first: impl FnOnce(&Arc<Guarded>) -> OAuth) -> Self {
        let (guarded, other) = (Guarded::start().await, Guarded::start().await);
        let store = Arc::new(InMemoryCredentialStore::new());
        let config = guarded.config(first(&guarded).shared_store(store.clone()));
        let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
        assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
        servers.close().await;
        *guarded.refusals_to.lock().unwrap() = Some(other.url.clone());
        guarded.closed.store(true, Ordering::SeqCst);
        Self { guarded, other, store }
    }

    async fn connect(&self, oauth: OAuth) -> RemoteServers {
        let config = self.guarded.config(oauth.shared_store(self.store.clone()));
        connect(&dispatcher(), RemoteServers::builder().server(config)).await
    }
}

#[tokio::test]
async fn sends_the_client_secret_to_the_same_issuer_after_a_restart() {
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let restarted = Restarted::after(|_| oauth.clone()).await;
    for _ in 0..2 {
        let servers = restarted.connect(oauth.clone()).await;
        until(|| why(&servers).contains("issuer mismatch")).await;
        assert_eq!(restarted.other.received_forms(), [""; 0]);
        servers.close().await;
    }
    // The control: without stored tokens, the first named server gets the secret.
    let config = restarted.guarded.config(OAuth::client_credentials("notes", "s3cret"));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    let forms = restarted.other.received_forms();
    assert!(forms[0].contains("s3cret"), "{forms:?}");
    // A configured issuer gets the secret, whatever is stored.
    restarted.connect(oauth.issuer(&restarted.other.url)).await.close().await;
    assert!(restarted.other.received_forms().len() > forms.len());
}

#[tokio::test]
async fn uses_a_fixed_client_id_with_the_same_issuer_after_a_restart() {
    let user_login = |guarded: &Arc<Guarded>| guarded.user(Duration::ZERO).client_id("us");
    let restarted = Restarted::after(user_login).await;
    let servers = restarted.connect(user_login(&restarted.guarded)).await;
    until(|| why(&servers).contains("issuer mismatch")).await;
    assert_eq!(restarted.other.received_forms(), [""; 0]);
    assert_eq!(restarted.guarded.logins(), 1, "no further login");
    servers.close().await;
}

#[tokio::test]
async fn refreshes_tokens_with_the_same_issuer_after_a_restart() {
    let restarted = Restarted::after(|guarded| guarded.user(Duration::ZERO)).await;
    // Registration with the other server is allowed; the user refuses to log in.
    let servers = restarted.connect(restarted.guarded.refusing_user()).await;
    until(|| why(&servers).contains("access_denied")).await;
    servers.reload().await;
    assert_eq!(restarted.other.registrations(), 1);
    assert_eq!(restarted.other.received_forms(), [""; 0]);
    servers.close().await;
}

#[tokio::test]
async fn requests_granted_scopes_together_with_missing_ones() {
    for configured in [&[][..], &["read"]] {
        let guarded = Guarded::start().await;
        let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
        let config = || {
            guarded.config(guarded.user(Duration::ZERO).scopes(configured.iter().copied()).shared_store(store.clone()))
        };
        connect(&tools, RemoteServers::builder().server(config())).await.close().await;
        "token-0".clone_into(&mut guarded.narrow.lock().unwrap());
        let servers = connect(&tools, RemoteServers::builder().server(config())).await;
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
        let scopes: Vec<_> = guarded.shown.lock().unwrap().iter().map(|url| value(url, "scope")).collect();
        assert_eq!(scopes, ["read", "read write"]);
        servers.close().await;
    }
}

#[tokio::test]
async fn repeats_a_refused_scope_request_after_reload() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config(guarded.user(Duration::ZERO)))).await.close().await;
    "token-0".clone_into(&mut guarded.narrow.lock().unwrap());
    let servers = connect(&tools, RemoteServers::builder().server(config(guarded.refusing_user()))).await;
    let log = Log::default();
    let _recording = log.record();
    for asked in 1..=5 {
        for _ in 0..2 {
            let refused = call(&tools, "mcp_s_a").await;
            assert_eq!(refused.output, "The server `s` denied access. `a` did not run.");
            assert!(log.take().contains("access_denied"));
            assert_eq!(guarded.logins(), 1 + asked);
        }
        servers.reload().await;
    }
    servers.close().await;
}

#[tokio::test]
async fn refreshes_tokens_stored_by_another_process() {
    let guarded = Guarded::start().await;
    *guarded.lifetime.lock().unwrap() = Some(1);
    let store = Arc::new(InMemoryCredentialStore::new());
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let tools = dispatcher();
    let here = config(OAuth::in_browser_at(port, |url| panic!("unexpected login at {url}")));
    let servers = connect(&tools, RemoteServers::builder().server(here)).await;
    until(|| why(&servers).contains("cannot listen on port")).await;
    let elsewhere = config(guarded.user(Duration::ZERO));
    connect(&dispatcher(), RemoteServers::builder().server(elsewhere)).await.close().await;
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    drop(taken);
    servers.close().await;
}

#[tokio::test]
async fn uses_a_stored_token_without_discovery() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = || guarded.config(guarded.user(Duration::ZERO).shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config())).await.close().await;
    guarded.silent.store(true, Ordering::SeqCst);
    let servers = connect(&tools, RemoteServers::builder().server(config())).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    servers.close().await;
}
