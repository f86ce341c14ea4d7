//! Pages and searches, against servers of our own that behave as badly as servers can.

// Pages that generators of documentation have written.
mod generators;
// Redirections, names and proxies: nothing that is not public is reached.
mod guard;
// Bodies, headers and lengths that are wrong, endless or slow.
mod hostile;
// What a page looks like to a model.
mod pages;
// Brave and SearXNG.
mod search;

mod names;
mod server;

use std::time::Duration;

use serde_json::{Value, json};
use tool_builtins::web::{FetchLimits, Web};
use tool_runtime::{Dispatcher, ToolCall, ToolResult};

use self::names::Names;
use self::server::Server;

/// A service that is allowed to reach a server under the name `site.test`, and nothing else that is not public.
fn web(server: &Server) -> Web {
    let names = Names::new().answer("site.test", &["127.0.0.1"]);
    Web::new().resolver(names).allow(&format!("site.test:{}", server.port())).expect("a host").limits(limits())
}

/// Small, so that what is hostile is soon over.
fn limits() -> FetchLimits {
    FetchLimits {
        connect_timeout: Duration::from_millis(500),
        max_bytes: 200_000,
        max_redirects: 5,
        ..FetchLimits::default()
    }
}

fn tools(web: Web) -> Dispatcher {
    Dispatcher::builder().service(web).build().expect("a dispatcher")
}

/// A client that checks nothing, for controls.
fn plain_client() -> reqwest::ClientBuilder {
    // It has to be told which cryptography to use, even to use none.
    _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

async fn call(web: Web, name: &'static str, arguments: Value) -> ToolResult {
    tools(web).call(ToolCall::new(name, arguments)).await
}

async fn fetch(web: Web, url: String) -> ToolResult {
    call(web, "web_fetch", json!({"url": url})).await
}
