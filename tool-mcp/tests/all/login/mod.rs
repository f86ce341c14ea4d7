//! Servers that require a login.

/// Logins with a browser.
mod browser;
/// Failed logins.
mod failures;
/// The test server.
pub mod guarded;
/// Logins and reloads.
mod reload;
/// Stored tokens.
mod restart;
/// Recipients of secrets.
mod secrets;
/// Calls that wait for a login.
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use guarded::Guarded;
use tool_mcp::{OAuth, RemoteServers, ServerConfig, ServerState};
use tool_runtime::ErrorKind;
use url::Url;

use crate::scripted::{call, connect, dispatcher, kind, until};

/// Returns a query parameter of a URL.
fn value(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
}

/// Returns the reason why the server is unavailable, or its state.
fn why(servers: &RemoteServers) -> String {
    match &servers.status()[0].state {
        ServerState::Unavailable(why) => why.clone(),
        state => format!("{state:?}"),
    }
}

#[tokio::test]
async fn logs_in_once_and_refreshes_a_rejected_token() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    // The login takes longer than the connect timeout.
    let config = guarded.config(guarded.user(Duration::from_millis(1_200)));
    let servers =
        connect(&tools, RemoteServers::builder().server(config.connect_timeout(Duration::from_millis(500)))).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    assert_eq!((guarded.logins(), guarded.registrations()), (1, 1));
    {
        let forms = guarded.forms.lock().unwrap();
        assert!(forms[0].contains("code=c0de") && forms[0].contains("code_verifier="), "{forms:?}");
        assert!(forms[0].contains("resource=http"), "the token is bound to this server: {forms:?}");
    }
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    let calls = futures(&tools, 5).await;
    assert_eq!(calls, ["in"; 5], "every call succeeds");
    assert_eq!(guarded.logins(), 1, "no login while the token can be refreshed");
    assert!(guarded.forms.lock().unwrap()[1].contains("grant_type=refresh_token"));
    servers.close().await;
}

/// Makes concurrent calls.
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
async fn does_not_repeat_a_refused_login_until_reload() {
    let guarded = Guarded::start().await;
    let login_count = Arc::new(AtomicUsize::new(0));
    let count = login_count.clone();
    let oauth = OAuth::new("http://127.0.0.1:1/back", move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, String>("http://127.0.0.1:1/back?error=access_denied&error_description=Not+today".to_owned()) }
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(guarded.config(oauth))).await;
    until(|| why(&servers).contains("Not today (access_denied)")).await;
    // Long enough for connection attempts in the background.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(login_count.load(Ordering::SeqCst), 1);
    servers.reload().await;
    assert_eq!(login_count.load(Ordering::SeqCst), 2, "a reload allows another login");
    servers.close().await;
}

#[tokio::test]
async fn reports_a_login_that_does_not_help() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    let config = guarded.config(guarded.user(Duration::ZERO));
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    guarded.closed.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Fatal), "{refused:?}");
    assert_eq!(refused.output, "The server `s` denied access. `a` did not run.");
    let logins = guarded.logins();
    assert!((2..=3).contains(&logins), "{logins}");
    for _ in 0..3 {
        assert_eq!(kind(&call(&tools, "mcp_s_a").await), Some(ErrorKind::Fatal));
    }
    assert_eq!(guarded.logins(), logins, "no login after one that did not help");
    servers.close().await;
}

#[tokio::test]
async fn logs_in_with_client_credentials() {
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
async fn sends_a_configured_bearer_token() {
    let guarded = Guarded::start().await;
    "given".clone_into(&mut guarded.token.lock().unwrap());
    let url = format!("{}/mcp", guarded.url);
    let (tools, others) = (dispatcher(), dispatcher());
    let config = ServerConfig::http("s", &url).trust().bearer("given");
    assert!(!format!("{config:?}").contains("given"), "{config:?}");
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    let without = connect(&others, RemoteServers::builder().server(ServerConfig::http("s", &url))).await;
    assert_ne!(without.status()[0].state, ServerState::Connected, "rejected without the token");
    servers.close().await;
    without.close().await;
}
