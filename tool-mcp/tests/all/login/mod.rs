//! RemoteServers that want to know who calls: somebody is asked to log in when that is needed, and not more often.

/// Somebody who logs in with a browser.
mod browser;
/// What goes wrong, and what of it may work later.
mod failures;
/// The server that they log in to.
pub mod guarded;
/// What is configured again, and the same or otherwise.
mod reload;
/// Tokens that were stored before, or by another.
mod restart;
/// Who is told what they should not know.
mod secrets;
/// Calls that wait until somebody has logged in.
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use guarded::Guarded;
use tool_mcp::{OAuth, RemoteServers, ServerConfig, ServerState};
use tool_runtime::ErrorKind;
use url::Url;

use crate::scripted::{call, connect, dispatcher, kind, until};

/// What a URL says in its query.
fn value(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
}

/// Why there is no connection, or what else there is.
fn why(servers: &RemoteServers) -> String {
    match &servers.status()[0].state {
        ServerState::Unavailable(why) => why.clone(),
        state => format!("{state:?}"),
    }
}

#[tokio::test]
async fn one_login_is_enough_and_a_lost_token_is_renewed() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    // Whoever logs in takes longer than a connection may.
    let config = guarded.config(guarded.person(Duration::from_millis(1_200)));
    let servers =
        connect(&tools, RemoteServers::builder().server(config.connect_timeout(Duration::from_millis(500)))).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    assert_eq!((guarded.logins(), guarded.registrations()), (1, 1));
    {
        let forms = guarded.forms.lock().unwrap();
        assert!(forms[0].contains("code=c0de") && forms[0].contains("code_verifier="), "{forms:?}");
        assert!(forms[0].contains("resource=http"), "the token is for this server alone: {forms:?}");
    }
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    let calls = futures(&tools, 5).await;
    assert_eq!(calls, ["in"; 5], "none of them is lost");
    assert_eq!(guarded.logins(), 1, "nobody is asked while the token can be renewed");
    assert!(guarded.forms.lock().unwrap()[1].contains("grant_type=refresh_token"));
    servers.close().await;
}

/// Calls at the same time.
async fn futures(tools: &tool_runtime::Dispatcher, count: usize) -> Vec<String> {
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { call(&tools, "mcp_s_a").await.output.to_string() })
        })
        .collect();
    let mut outputs = Vec::new();
    for call in calls {
        outputs.push(call.await.unwrap());
    }
    outputs
}

#[tokio::test]
async fn who_does_not_log_in_is_not_asked_again_and_again() {
    let guarded = Guarded::start().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let oauth = OAuth::new("http://127.0.0.1:1/back", move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, String>("http://127.0.0.1:1/back?error=access_denied&error_description=Not+today".to_owned()) }
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    until(|| why(&servers).contains("Not today (access_denied)")).await;
    // Long enough for it to be tried again in the background.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    servers.reload().await;
    assert_eq!(asked.load(Ordering::SeqCst), 2, "whoever says to try again is asked again");
    servers.close().await;
}

#[tokio::test]
async fn a_login_that_does_not_help_is_a_clear_refusal() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    let config = guarded.config(guarded.person(Duration::ZERO));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    guarded.closed.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Fatal), "{refused:?}");
    assert!(refused.error.as_ref().unwrap().message.contains("does not let us in"), "{refused:?}");
    let logins = guarded.logins();
    assert!((2..=3).contains(&logins), "{logins}");
    for _ in 0..3 {
        assert_eq!(kind(&call(&tools, "mcp_s_a").await), Some(ErrorKind::Fatal));
    }
    assert_eq!(guarded.logins(), logins, "nobody is asked for what did not help");
    servers.close().await;
}

#[tokio::test]
async fn an_application_logs_in_as_itself() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    assert!(!format!("{config:?}").contains("s3cret"), "{config:?}");
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    let forms = guarded.forms.lock().unwrap().clone();
    assert!(forms[0].contains("grant_type=client_credentials") && forms[0].contains("client_id=notes"), "{forms:?}");
    servers.close().await;
}

#[tokio::test]
async fn a_plain_token_is_sent_as_it_is() {
    let guarded = Guarded::start().await;
    "given".clone_into(&mut guarded.token.lock().unwrap());
    let url = format!("{}/mcp", guarded.url);
    let (tools, others) = (dispatcher(), dispatcher());
    let config = ServerConfig::http("s", &url).trust().bearer("given");
    assert!(!format!("{config:?}").contains("given"), "{config:?}");
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    let without = connect(&others, RemoteServers::builder().server(ServerConfig::http("s", &url))).await;
    assert_ne!(without.status()[0].state, ServerState::Connected, "without it nobody is let in");
    servers.close().await;
    without.close().await;
}
