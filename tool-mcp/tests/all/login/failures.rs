//! Logins that fail: what may work later is told as such, and nobody is told more than they can read.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers};
use tool_runtime::ErrorKind;

use super::browser::unused_port;
use super::{Guarded, why};
use crate::scripted::{call, connect, dispatcher, kind, until};

#[tokio::test]
async fn what_may_work_later_is_tried_again() {
    let guarded = Guarded::start().await;
    let (tools, store) = (dispatcher(), Arc::new(InMemoryCredentialStore::new()));
    let config = |oauth: OAuth| guarded.config(oauth.shared_store(store.clone()));
    connect(&tools, RemoteServers::builder().server(config(guarded.person(Duration::ZERO)))).await.close().await;
    let port = unused_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let person = OAuth::in_browser_at(port, |url| panic!("nobody could come back: {url}"));
    let servers = connect(&tools, RemoteServers::builder().server(config(person))).await;
    guarded.closed.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert!(refused.error.as_ref().unwrap().message.contains("cannot be listened to"), "{refused:?}");
    assert_eq!(kind(&refused), Some(ErrorKind::Retry), "{refused:?}");
    drop(taken);
    guarded.silent.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert!(refused.error.as_ref().unwrap().message.contains("503"), "{refused:?}");
    assert_eq!(kind(&refused), Some(ErrorKind::Retry), "{refused:?}");
    servers.close().await;
}

#[tokio::test]
async fn a_refusal_is_not_as_long_as_others_like() {
    let guarded = Guarded::start().await;
    *guarded.refuses_clients.lock().unwrap() = Some(format!("Not you.\u{1b}[2J{}", "x".repeat(100_000)));
    let config = guarded.config(guarded.person(Duration::ZERO));
    let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
    until(|| why(&servers).contains("Not you.")).await;
    let why = why(&servers);
    assert!(why.len() < 1_000 && !why.contains('\u{1b}'), "{}", why.len());
    servers.close().await;
}
