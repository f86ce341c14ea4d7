//! Recipients of secrets: an MCP server may name any authorization server.

use std::fmt::{Debug, Write as _};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_mcp::{OAuth, RemoteServers, ServerConfig, ServerState};
use tool_runtime::ErrorKind;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};

use super::{Guarded, why};
use crate::scripted::{call, connect, dispatcher, kind, until};

impl Guarded {
    /// Rejects all tokens from now on, and names another authorization server.
    fn redirect_logins(&self, elsewhere: &Self) {
        *self.elsewhere.lock().unwrap() = Some(elsewhere.url.clone());
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn received_forms(&self) -> Vec<String> {
        self.forms.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn sends_the_client_secret_to_its_issuer_only() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let tools = dispatcher();
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    guarded.redirect_logins(&other);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Fatal), "{refused:?}");
    assert_eq!(other.received_forms(), [""; 0], "{refused:?}");
    servers.close().await;

    // With a configured issuer, even before the first login.
    let tools = dispatcher();
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let config = guarded.config(oauth.clone().issuer(&guarded.url));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    until(|| why(&servers).contains("issuer mismatch")).await;
    assert_eq!(other.received_forms(), [""; 0]);
    servers.close().await;

    // The control: without a configured issuer, the first named server gets the secret.
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert!(other.received_forms()[0].contains("s3cret"), "{:?}", other.received_forms());
    servers.close().await;
}

#[tokio::test]
async fn does_not_send_the_client_secret_to_an_impostor() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    other.poses_as.lock().unwrap().clone_from(&guarded.url);
    *guarded.elsewhere.lock().unwrap() = Some(format!("{}/.well-known/of-another", other.url));
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let config = guarded.config(oauth.clone().issuer(&guarded.url));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    let received = guarded.received_forms();
    assert!(received[0].contains("s3cret"), "the real issuer gets it: {received:?}");
    // The same holds for a stored token.
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    connect(&dispatcher(), RemoteServers::builder().server(guarded.config(oauth))).await.close().await;
    assert!(guarded.received_forms()[received.len()].contains("refresh_token=again"), "{:?}", guarded.received_forms());
    assert_eq!(other.received_forms(), [""; 0]);
    // The control: without a known issuer, the first named server gets the secret.
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    assert!(other.received_forms()[0].contains("s3cret"), "{:?}", other.received_forms());
}

#[tokio::test]
async fn dynamic_registration_works_with_another_server() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let tools = dispatcher();
    let config = guarded.config(guarded.user(Duration::ZERO));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    guarded.redirect_logins(&other);
    call(&tools, "mcp_s_a").await;
    assert_eq!(other.registrations(), 1);
    let received = other.received_forms();
    assert!(received[0].contains("grant_type=authorization_code"), "{received:?}");
    servers.close().await;
}

#[tokio::test]
async fn sends_a_token_to_its_own_server_only() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let (oauth, tools) = (OAuth::client_credentials("notes", "s3cret"), dispatcher());
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth.clone()))).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    servers.close().await;
    let servers = connect(&tools, RemoteServers::builder().server(other.config(oauth.clone()))).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    assert_eq!(other.presented.lock().unwrap()[0], "", "the other server gets no token");
    servers.close().await;
    // The control: the first server gets its token.
    let before = guarded.presented.lock().unwrap().len();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert_eq!(guarded.presented.lock().unwrap()[before], "Bearer token-0");
    servers.close().await;
}

#[tokio::test]
async fn rejects_the_redirect_of_another_login() {
    let guarded = Guarded::start().await;
    let oauth = OAuth::new("http://127.0.0.1:1/back", |_| async {
        Ok::<_, String>("http://127.0.0.1:1/back?error=access_denied&state=guessed".to_owned())
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains("another login")))
        .await;
    servers.close().await;
}

#[tokio::test]
async fn rejects_an_unencrypted_redirect_uri() {
    let guarded = Guarded::start().await;
    let oauth =
        OAuth::new(
            "http://notes.example/back",
            |url| async move { Err::<String, _>(format!("unexpected login at {url}")) },
        );
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains("must use HTTPS")))
        .await;
    assert_eq!(guarded.registrations(), 0);
    servers.close().await;
}

#[tokio::test]
async fn hides_the_secrets_of_a_configuration() {
    let log = Log::default();
    let logging = tracing::subscriber::set_default(log.clone());
    let config = ServerConfig::http("s", "http://us:s3cret@127.0.0.1:1/mcp?key=s3cret");
    let client = OAuth::client_credentials("notes", "other");
    for config in [config.clone(), config.oauth(client)] {
        let shown = format!("{config:?}");
        assert!(shown.contains("http://127.0.0.1:1/mcp") && !shown.contains("s3cret"), "{shown}");
        let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
        until(|| why(&servers).contains("127.0.0.1:1/mcp")).await;
        assert!(!why(&servers).contains("s3cret"), "{servers:?}");
        servers.close().await;
    }
    drop(logging);
    let log = log.0.lock().unwrap();
    let mut ours = log.lines().filter(|line| line.starts_with("tool_mcp"));
    assert!(ours.clone().any(|line| line.contains("127.0.0.1:1/mcp")), "the reason is logged: {log}");
    assert_eq!(ours.find(|line| line.contains("s3cret")), None);
    let program = format!("{:?}", ServerConfig::command("s", "program").args(["--key", "s3cret"]));
    assert!(program.contains("args: 2") && !program.contains("s3cret"), "{program}");
}

/// A subscriber that collects all log messages as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let fields = Self::default();
        event.record(&mut fields.clone());
        for field in fields.0.lock().unwrap().lines() {
            writeln!(self.0.lock().unwrap(), "{} {field}", event.metadata().target()).unwrap();
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn logs_no_secrets() {
    let log = Log::default();
    let logging = tracing::subscriber::set_default(log.clone());
    let guarded = Guarded::start().await;
    let (user_login, client) = (guarded.user(Duration::ZERO), OAuth::client_credentials("notes", "s3cret"));
    for oauth in [user_login, client] {
        let tools = dispatcher();
        let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
        "revoked".clone_into(&mut guarded.token.lock().unwrap());
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
        servers.close().await;
    }
    drop(logging);
    let log = log.0.lock().unwrap();
    assert!(log.contains("refresh"), "the control: rmcp logs: {log}");
    for secret in ["c0de", "wh0-it-is", "token-0", "token-1", "again", "s3cret"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "`{secret}` is logged");
    }
}
