//! Tests of the web tools against local servers, including hostile ones.

// Pages written by documentation generators.
mod doc_generators;
// Wrong, endless and slow responses.
mod hostile_servers;
// Redirects, names and proxies that lead to private addresses.
mod private_addresses;
// The `web_fetch` tool.
mod web_fetch;
// The `web_search` tool.
mod web_search;

mod test_resolver;
pub mod test_server;

use std::time::Duration;

use serde_json::{Value, json};
use tool_builtins::web::{FetchLimits, Web};
use tool_runtime::{Dispatcher, ToolCall, ToolResult};

use self::test_resolver::TestResolver;
use self::test_server::Server;

/// Returns a service that may reach a server under the name `site.test`, and otherwise public addresses only.
pub fn web(server: &Server) -> Web {
    let names = TestResolver::new().answer("site.test", &["127.0.0.1"]);
    Web::new().resolver(names).allow(&format!("site.test:{}", server.port())).expect("a host").limits(limits())
}

/// Returns small limits, so that hostile responses end soon.
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

/// Returns a client without checks, for controls.
fn plain_client() -> reqwest::ClientBuilder {
    // reqwest needs a crypto provider even for plain HTTP.
    _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

async fn call(web: Web, name: &'static str, arguments: Value) -> ToolResult {
    tools(web).call(ToolCall::new(name, arguments)).await
}

async fn fetch(web: Web, url: String) -> ToolResult {
    call(web, "web_fetch", json!({"url": url})).await
}
