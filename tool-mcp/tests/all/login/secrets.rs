//! Who is told what: a server names whom to log in with, and may name anybody.

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
    /// Lets nobody in any more, and sends them to log in elsewhere.
    fn turn(&self, elsewhere: &Self) {
        *self.elsewhere.lock().unwrap() = Some(elsewhere.url.clone());
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn was_told(&self) -> Vec<String> {
        self.forms.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn a_secret_is_told_to_the_one_who_gave_it_out() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let tools = dispatcher();
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    guarded.turn(&other);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Fatal), "{refused:?}");
    assert_eq!(other.was_told(), [""; 0], "{refused:?}");
    servers.close().await;

    // Nobody has told them anything yet, but it is said who may be.
    let tools = dispatcher();
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let config = guarded.config(oauth.clone().issuer(&guarded.url));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    until(|| why(&servers).contains("issuer mismatch")).await;
    assert_eq!(other.was_told(), [""; 0]);
    servers.close().await;

    // The control: where nothing is said, whoever is named first is told.
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert!(other.was_told()[0].contains("s3cret"), "{:?}", other.was_told());
    servers.close().await;
}

#[tokio::test]
async fn a_secret_is_not_told_to_whoever_takes_the_name_of_another() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    other.poses_as.lock().unwrap().clone_from(&guarded.url);
    *guarded.elsewhere.lock().unwrap() = Some(format!("{}/.well-known/of-another", other.url));
    let oauth = OAuth::client_credentials("notes", "s3cret");
    let config = guarded.config(oauth.clone().issuer(&guarded.url));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    let told = guarded.was_told();
    assert!(told[0].contains("s3cret"), "the one who has that name is told: {told:?}");
    // So it is for a token that is stored.
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    connect(&dispatcher(), RemoteServers::builder().server(guarded.config(oauth))).await.close().await;
    assert!(guarded.was_told()[told.len()].contains("refresh_token=again"), "{:?}", guarded.was_told());
    assert_eq!(other.was_told(), [""; 0]);
    // The control: where nothing is known, whoever is named first is told.
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    connect(&dispatcher(), RemoteServers::builder().server(config)).await.close().await;
    assert!(other.was_told()[0].contains("s3cret"), "{:?}", other.was_told());
}

#[tokio::test]
async fn whoever_registers_itself_may_do_so_elsewhere() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let tools = dispatcher();
    let config = guarded.config(guarded.person(Duration::ZERO));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    guarded.turn(&other);
    call(&tools, "mcp_s_a").await;
    assert_eq!(other.registrations(), 1);
    let told = other.was_told();
    assert!(told[0].contains("grant_type=authorization_code"), "{told:?}");
    servers.close().await;
}

#[tokio::test]
async fn a_token_is_for_one_server() {
    let (guarded, other) = (Guarded::start().await, Guarded::start().await);
    let (oauth, tools) = (OAuth::client_credentials("notes", "s3cret"), dispatcher());
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth.clone()))).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    servers.close().await;
    let servers = connect(&tools, RemoteServers::builder().server(other.config(oauth.clone()))).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    assert_eq!(other.presented.lock().unwrap()[0], "", "what the first has given");
    servers.close().await;
    // The control: the first knows it again.
    let before = guarded.presented.lock().unwrap().len();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    assert_eq!(guarded.presented.lock().unwrap()[before], "Bearer token-0");
    servers.close().await;
}

#[tokio::test]
async fn whoever_comes_back_from_another_login_is_not_believed() {
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
async fn a_code_does_not_leave_the_machine_in_the_clear() {
    let guarded = Guarded::start().await;
    let oauth = OAuth::new("http://notes.example/back", |url| async move {
        Err::<String, _>(format!("nobody is to be asked: {url}"))
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains("needs HTTPS"))).await;
    assert_eq!(guarded.registrations(), 0);
    servers.close().await;
}

#[tokio::test]
async fn what_is_secret_in_a_configuration_is_not_shown() {
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
    assert!(ours.clone().any(|line| line.contains("127.0.0.1:1/mcp")), "why it is away is logged: {log}");
    assert_eq!(ours.find(|line| line.contains("s3cret")), None);
    let program = format!("{:?}", ServerConfig::command("s", "program").args(["--key", "s3cret"]));
    assert!(program.contains("args: 2") && !program.contains("s3cret"), "{program}");
}

/// All that is logged, as text.
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
async fn nothing_secret_is_logged() {
    let log = Log::default();
    let logging = tracing::subscriber::set_default(log.clone());
    let guarded = Guarded::start().await;
    let (person, client) = (guarded.person(Duration::ZERO), OAuth::client_credentials("notes", "s3cret"));
    for oauth in [person, client] {
        let tools = dispatcher();
        let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
        "revoked".clone_into(&mut guarded.token.lock().unwrap());
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in", "{servers:?}");
        servers.close().await;
    }
    drop(logging);
    let log = log.0.lock().unwrap();
    assert!(log.contains("refresh"), "what rmcp does is logged: {log}");
    for secret in ["c0de", "wh0-it-is", "token-0", "token-1", "again", "s3cret"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "`{secret}` is logged");
    }
}
