//! Tokens that were stored before the application was started again, or by another: whoever gave them out is not
//! forgotten, and nobody else is told of them.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers, ServerState};

use super::browser::unused_port;
use super::{Guarded, value, why};
use crate::scripted::{call, connect, dispatcher, until};

/// A server whose tokens are stored; its refusals name another authorization server than its metadata.
struct Restarted {
    guarded: Arc<Guarded>,
    other: Arc<Guarded>,
    store: Arc<InMemoryCredentialStore>,
}

impl Restarted {
    /// Logs in once, and lets nobody in after that.
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
async fn a_secret_is_told_to_nobody_else_after_a_restart() {
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let restarted = Restarted::after(|_| oauth.clone()).await;
    for _ in 0..2 {
        let servers = restarted.connect(oauth.clone()).await;
        until(|| why(&servers).contains("issuer mismatch")).await;
        assert_eq!(restarted.other.was_told(), [""; 0]);
        servers.close().await;
    }
    // The control: where nothing is stored, whoever is named first is told.
    let config = restarted.guarded.config(OAuth::client_credentials("notes", "s3cret"));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    let told = restarted.other.was_told();
    assert!(told[0].contains("s3cret"), "{told:?}");
    // So is whoever the application names, with whatever is stored.
    restarted.connect(oauth.issuer(&restarted.other.url)).await.close().await;
    assert!(restarted.other.was_told().len() > told.len());
}

#[tokio::test]
async fn nobody_is_sent_elsewhere_with_a_fixed_id_after_a_restart() {
    let person = |guarded: &Arc<Guarded>| guarded.person(Duration::ZERO).client_id("us");
    let restarted = Restarted::after(person).await;
    let servers = restarted.connect(person(&restarted.guarded)).await;
    until(|| why(&servers).contains("issuer mismatch")).await;
    assert_eq!(restarted.other.was_told(), [""; 0]);
    assert_eq!(restarted.guarded.logins(), 1, "nobody is asked");
    servers.close().await;
}

#[tokio::test]
async fn tokens_are_renewed_nowhere_else_after_a_restart() {
    let restarted = Restarted::after(|guarded| guarded.person(Duration::ZERO)).await;
    // We may register there, and nobody logs in.
    let servers = restarted.connect(restarted.guarded.nobody()).await;
    until(|| why(&servers).contains("access_denied")).await;
    servers.reload().await;
    assert_eq!(restarted.other.registrations(), 1);
    assert_eq!(restarted.other.was_told(), [""; 0]);
    servers.close().await;
}

#[tokio::test]
async fn what_was_granted_is_asked_for_again_with_what_is_missing() {
    for configured in [&[][..], &["read"]] {
        let guarded = Guarded::start().await;
        let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
        let config = || {
            guarded
                .config(guarded.person(Duration::ZERO).scopes(configured.iter().copied()).shared_store(store.clone()))
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
async fn whoever_does_not_want_more_is_asked_whenever_somebody_says_so() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config(guarded.person(Duration::ZERO)))).await.close().await;
    "token-0".clone_into(&mut guarded.narrow.lock().unwrap());
    let servers = connect(&tools, RemoteServers::builder().server(config(guarded.nobody()))).await;
    for asked in 1..=5 {
        for _ in 0..2 {
            let refused = call(&tools, "mcp_s_a").await;
            assert!(refused.error.as_ref().unwrap().message.contains("access_denied"), "{refused:?}");
            assert_eq!(guarded.logins(), 1 + asked);
        }
        servers.reload().await;
    }
    servers.close().await;
}

#[tokio::test]
async fn tokens_that_another_has_stored_are_renewed() {
    let guarded = Guarded::start().await;
    *guarded.lifetime.lock().unwrap() = Some(1);
    let store = Arc::new(InMemoryCredentialStore::new());
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let tools = dispatcher();
    let here = config(OAuth::in_browser_at(port, |url| panic!("nobody could come back: {url}")));
    let servers = connect(&tools, RemoteServers::builder().server(here)).await;
    until(|| why(&servers).contains("cannot be listened to")).await;
    let elsewhere = config(guarded.person(Duration::ZERO));
    connect(&dispatcher(), RemoteServers::builder().server(elsewhere)).await.close().await;
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    drop(taken);
    servers.close().await;
}

#[tokio::test]
async fn a_stored_token_needs_nothing_to_be_found_out() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = || guarded.config(guarded.person(Duration::ZERO).shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config())).await.close().await;
    guarded.silent.store(true, Ordering::SeqCst);
    let servers = connect(&tools, RemoteServers::builder().server(config())).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
    servers.close().await;
}
