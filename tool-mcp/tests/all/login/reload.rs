//! RemoteServers that are read again: whoever has logged in does not have to again, as long as the same is said.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tool_mcp::rmcp::transport::auth::InMemoryCredentialStore;
use tool_mcp::{OAuth, RemoteServers, RemoteServersBuilder};
use url::Url;

use super::browser::come_back;
use super::{Guarded, value};
use crate::scripted::{call, connect, dispatcher, until};

/// A file that names the server, without a word on how people log in.
fn file(guarded: &Guarded, folder: &Path) -> std::path::PathBuf {
    let path = folder.join("mcp.json");
    let text = json!({"mcpServers": {"s": {"url": format!("{}/mcp", guarded.url)}}});
    std::fs::write(&path, text.to_string()).unwrap();
    path
}

/// How often somebody is asked at the first connection, and at each of two reloads.
async fn asked(guarded: &Guarded, builder: RemoteServersBuilder) -> [usize; 3] {
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
async fn nobody_logs_in_again_for_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let builder = |guarded: &Guarded| RemoteServers::builder().config_file(file(guarded, folder.path())).unwrap();

    let guarded = Guarded::start().await;
    let once = guarded.person(Duration::ZERO);
    let configured = builder(&guarded).configure("s", move |config| config.trust().oauth(once.clone()));
    assert_eq!(asked(&guarded, configured).await, [1, 0, 0], "it is made once, and cloned");

    let guarded = Guarded::start().await;
    let (anew, store) = (guarded.clone(), Arc::new(InMemoryCredentialStore::new()));
    let configured = builder(&guarded).configure("s", move |config| {
        config.trust().oauth(anew.person(Duration::ZERO).scopes(["read"]).shared_store(store.clone()))
    });
    assert_eq!(asked(&guarded, configured).await, [1, 0, 0], "it is made each time, and shares its tokens");

    let guarded = Guarded::start().await;
    let anew = guarded.clone();
    let configured = builder(&guarded).configure("s", move |config| config.trust().oauth(anew.person(Duration::ZERO)));
    assert_eq!(asked(&guarded, configured).await, [1, 1, 1], "it may be for somebody else");
}

#[test]
fn what_is_said_otherwise_is_not_the_same() {
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
async fn an_application_shows_where_to_log_in_to_the_servers_of_a_file() {
    let guarded = Guarded::start().await;
    let folder = tempfile::tempdir().unwrap();
    let text = json!({"mcpServers": {"s": {"url": format!("{}/mcp", guarded.url), "oauth": {}}}}).to_string();
    let (plugins, path) = (folder.path().join("plugins"), folder.path().join("mcp.json"));
    std::fs::create_dir(&plugins).unwrap();
    std::fs::write(&path, &text).unwrap();
    std::fs::write(plugins.join("more.json"), text.replace(r#""s""#, r#""t""#)).unwrap();
    let (show, mut shown) = mpsc::unbounded_channel();
    let on_login = move |server: &str, url: &str| show.send((server.to_owned(), Url::parse(url).unwrap())).unwrap();
    // Whichever is said first.
    let builder = RemoteServers::builder().config_file(&path).unwrap().on_login(on_login).plugins(&plugins);
    let person = tokio::spawn(async move {
        let mut names = Vec::new();
        for _ in 0..2 {
            let (server, url) = shown.recv().await.unwrap();
            assert_eq!(come_back(&url, &[("code", "c0de"), ("state", &value(&url, "state"))]).await, 200);
            names.push(server);
        }
        names.sort();
        (names, shown)
    });
    let tools = dispatcher();
    let connecting = tokio::time::timeout(Duration::from_secs(30), connect(&tools, builder));
    let servers = connecting.await.expect("somebody is shown where to log in");
    let (names, mut shown) = person.await.unwrap();
    assert_eq!(names, ["s", "t"]);
    until(|| guarded.codes() == ["c0de"; 2]).await;
    // The file breaks, and its servers stay as they are.
    std::fs::write(&path, "{").unwrap();
    assert_eq!(servers.reload().await.restarted, [""; 0]);
    assert!(shown.try_recv().is_err(), "nobody is asked again");
    servers.close().await;
}
