//! Logins and reloads of the configuration.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers, RemoteServersBuilder};
use url::Url;

use super::browser::redirect;
use super::{Guarded, value};
use crate::scripted::{call, connect, dispatcher, until};

/// Writes a file that names the server, without login settings.
fn file(guarded: &Guarded, directory: &Path) -> std::path::PathBuf {
    let path = directory.join("mcp.json");
    let text = json!({"mcpServers": {"s": {"url": format!("{}/mcp", guarded.url)}}});
    std::fs::write(&path, text.to_string()).unwrap();
    path
}

/// Counts the logins at the first connection and at each of two reloads.
async fn logins(guarded: &Guarded, builder: RemoteServersBuilder) -> [usize; 3] {
    let tools = dispatcher();
    let servers = connect(&tools, builder).await;
    let mut asked = [guarded.logins(), 0, 0];
    for again in 1..3 {
        let restarted = servers.reload().await.restarted;
        asked[again] = guarded.logins() - asked.iter().sum::<usize>();
        assert_eq!(restarted.len(), asked[again], "{servers:?}");
        assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    }
    servers.close().await;
    asked
}

#[tokio::test]
async fn reload_needs_no_login_if_the_settings_are_equal() {
    let directory = tempfile::tempdir().unwrap();
    let builder = |guarded: &Guarded| RemoteServers::builder().config_file(file(guarded, directory.path())).unwrap();

    let guarded = Guarded::start().await;
    let once = guarded.user(Duration::ZERO);
    let configured = builder(&guarded).configure("s", move |config| config.trust().oauth(once.clone()));
    assert_eq!(logins(&guarded, configured).await, [1, 0, 0], "one value, cloned");

    let guarded = Guarded::start().await;
    let (anew, store) = (guarded.clone(), Arc::new(InMemoryCredentialStore::new()));
    let configured = builder(&guarded).configure("s", move |config| {
        config.trust().oauth(anew.user(Duration::ZERO).scopes(["read"]).shared_store(store.clone()))
    });
    assert_eq!(logins(&guarded, configured).await, [1, 0, 0], "new values with a shared store");

    let guarded = Guarded::start().await;
    let anew = guarded.clone();
    let configured = builder(&guarded).configure("s", move |config| config.trust().oauth(anew.user(Duration::ZERO)));
    assert_eq!(logins(&guarded, configured).await, [1, 1, 1], "new values without a shared store");
}

#[test]
fn different_settings_are_different_configurations() {
    let config = |oauth: OAuth| tool_mcp::ServerConfig::http("s", "https://s.example/mcp").oauth(oauth);
    let store = Arc::new(InMemoryCredentialStore::new());
    let at = |port| OAuth::in_browser_at(port, |_| {}).client_id("us").scopes(["read"]).shared_store(store.clone());
    let elsewhere = |uri: &str| OAuth::new(uri, |url| async { Ok::<_, String>(url) }).shared_store(store.clone());
    assert!(config(at(1)) == config(at(1)), "the store is the same");
    assert!(config(elsewhere("https://a.example/")) == config(elsewhere("https://a.example/")));
    for other in [
        at(2),
        at(1).client_id("them"),
        at(1).client_secret("s3cret"),
        at(1).scopes(["read", "write"]),
        at(1).store(InMemoryCredentialStore::new()),
        at(1).allow_private_addresses(),
        elsewhere("https://a.example/"),
    ] {
        let shown = format!("{other:?}");
        assert!(config(at(1)) != config(other), "{shown}");
    }
    assert!(config(elsewhere("https://a.example/")) != config(elsewhere("https://b.example/")));
}

#[tokio::test]
async fn on_login_shows_the_login_urls_of_servers_in_files() {
    let guarded = Guarded::start().await;
    let directory = tempfile::tempdir().unwrap();
    let text = json!({"mcpServers": {"s": {"url": format!("{}/mcp", guarded.url), "oauth": {}}}}).to_string();
    let (plugins, path) = (directory.path().join("plugins"), directory.path().join("mcp.json"));
    std::fs::create_dir(&plugins).unwrap();
    std::fs::write(&path, &text).unwrap();
    std::fs::write(plugins.join("more.json"), text.replace(r#""s""#, r#""t""#)).unwrap();
    let (show, mut shown) = mpsc::unbounded_channel();
    let on_login = move |server: &str, url: &str| show.send((server.to_owned(), Url::parse(url).unwrap())).unwrap();
    // In either order.
    let builder = RemoteServers::builder().config_file(&path).unwrap().on_login(on_login).plugins(&plugins);
    let user_task = tokio::spawn(async move {
        let mut names = Vec::new();
        for _ in 0..2 {
            let (server, url) = shown.recv().await.unwrap();
            assert_eq!(redirect(&url, &[("code", "c0de"), ("state", &value(&url, "state"))]).await, 200);
            names.push(server);
        }
        names.sort();
        (names, shown)
    });
    let tools = dispatcher();
    let connecting = tokio::time::timeout(Duration::from_secs(30), connect(&tools, builder));
    let servers = connecting.await.expect("the login URL is shown");
    let (names, mut shown) = user_task.await.unwrap();
    assert_eq!(names, ["s", "t"]);
    until(|| guarded.codes() == ["c0de"; 2]).await;
    // The servers of a file that becomes invalid are kept.
    std::fs::write(&path, "{").unwrap();
    assert_eq!(servers.reload().await.restarted, [""; 0]);
    assert!(shown.try_recv().is_err(), "no further login");
    servers.close().await;
}
