//! Failed logins.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers};
use tool_runtime::ErrorKind;

use super::browser::unused_port;
use super::{Guarded, why};
use crate::log::Log;
use crate::scripted::{call, connect, dispatcher, kind, until};

#[tokio::test]
async fn marks_transient_errors_as_retryable() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config(guarded.user(Duration::ZERO)))).await.close().await;
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let user_login = OAuth::in_browser_at(port, |url| panic!("unexpected login at {url}"));
    let servers = connect(&tools, RemoteServers::builder().server(config(user_login))).await;
    guarded.closed.store(true, Ordering::SeqCst);
    let log = Log::default();
    let _recording = log.record();
    let denied = "The server `s` denied access. `a` did not run.";
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(refused.output, denied);
    assert!(log.take().contains("cannot listen on port"));
    assert_eq!(kind(&refused), Some(ErrorKind::Retry), "{refused:?}");
    drop(taken);
    guarded.silent.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(refused.output, denied);
    assert!(log.take().contains("503"));
    assert_eq!(kind(&refused), Some(ErrorKind::Retry), "{refused:?}");
    servers.close().await;
}

#[tokio::test]
async fn limits_the_length_of_foreign_errors() {
    let guarded = Guarded::start().await;
    *guarded.refuses_clients.lock().unwrap() = Some(format!("Not you.\u{1b}[2J{}", "x".repeat(100_000)));
    let config = guarded.config(guarded.user(Duration::ZERO));
    let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
    until(|| why(&servers).contains("Not you.")).await;
    let why = why(&servers);
    assert!(why.len() < 1_000 && !why.contains('\u{1b}'), "{}", why.len());
    servers.close().await;
}
