use std::time::Duration;

use serde_json::{Value, json};
use tool_builtins::web::search::{Brave, SearchFuture, SearchProvider, SearchQuery, SearchResult, SearxNg};
use tool_builtins::web::{FetchLimits, Web};
use tool_runtime::{ErrorKind, Selection, ToolResult};

use super::test_server::{Reply, Server, bytes, ok, redirect, status};
use super::{call, tools};

const KEY: &str = "BSA-this-is-secret";

fn brave(server: &Server) -> Web {
    let endpoint = format!("http://127.0.0.1:{}/res/v1/web/search", server.port());
    Web::new().search(Brave::new(KEY).and_then(|brave| brave.endpoint(&endpoint)).expect("a provider"))
}

fn searxng(server: &Server) -> Web {
    Web::new().search(SearxNg::new(&format!("http://127.0.0.1:{}/", server.port())).expect("a provider"))
}

async fn search(web: Web) -> ToolResult {
    let result = call(web, "web_search", json!({"query": "rust & \"async\"", "max_results": 2})).await;
    assert!(!format!("{result:?}").contains(KEY), "{result:?}");
    result
}

/// A response in Brave's format, including fields that are ignored.
fn brave_response() -> Value {
    json!({
        "type": "search",
        "query": {"original": "rust", "show_strict_warning": false, "more_results_available": true},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": false}]},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "Async\nRust", "url": "https://example.com/async", "is_source_local": false, "language": "en",
                    "description": "How to   write it.", "page_age": "2026-01-02T00:00:00", "age": "January 2, 2026",
                    "profile": {"name": "Example", "url": "https://example.com/"}, "type": "search_result", "subtype": "generic",
                    "meta_url": {"scheme": "https", "netloc": "example.com", "hostname": "example.com", "path": "› async"}
                },
                {"title": "A script", "url": "javascript:alert(1)", "description": "not a page"},
                {"title": "Second", "url": "https://example.org/2", "description": ""},
                {"title": "Third", "url": "https://example.org/3", "description": "too many"}
            ],
            "family_friendly": true
        }
    })
}

#[tokio::test]
async fn sends_brave_requests() {
    let server = Server::always(ok("application/json", brave_response().to_string())).await;
    let result = search(brave(&server)).await;
    assert_eq!(
        result.output,
        "2 results from Brave for \"rust & \\\"async\\\"\":\n\n\
         1. Async Rust\n   https://example.com/async\n   January 2, 2026\n   How to write it.\n\
         2. Second\n   https://example.org/2"
    );
    let about = result.metadata.get("search").expect("metadata");
    assert_eq!((&about["provider"], &about["results"][1]["url"]), (&json!("Brave"), &json!("https://example.org/2")));
    let request = &server.seen()[0];
    let line = "GET /res/v1/web/search?q=rust+%26+%22async%22&count=2&text_decorations=false HTTP/1.1\r\n";
    assert!(request.starts_with(line), "{request}");
    let headers = request.to_ascii_lowercase();
    assert!(headers.contains(&format!("x-subscription-token: {}\r\n", KEY.to_ascii_lowercase())), "{request}");
    assert!(headers.contains("accept: application/json\r\n"), "{request}");
}

#[tokio::test]
async fn sends_searxng_requests() {
    let answer = json!({
        "query": "rust", "number_of_results": 0,
        "results": [
            {"url": "https://example.com/1", "title": "One", "content": "first", "publishedDate": "2026-01-02T00:00:00",
             "engine": "duckduckgo", "engines": ["duckduckgo", "brave"], "positions": [1, 3], "score": 2.5, "category": "general",
             "parsed_url": ["https", "example.com", "/1", "", "", ""], "template": "default.html", "thumbnail": null},
            {"url": "https://example.com/2", "title": null, "content": null, "publishedDate": null, "engine": "brave"}
        ],
        "answers": [], "corrections": [], "infoboxes": [], "suggestions": ["rust game"],
        "unresponsive_engines": [["google", "timeout"]]
    });
    let server = Server::always(ok("application/json", answer.to_string())).await;
    let result = search(searxng(&server)).await;
    assert_eq!(
        result.output,
        "2 results from SearXNG for \"rust & \\\"async\\\"\":\n\n\
         1. One\n   https://example.com/1\n   2026-01-02T00:00:00\n   first\n\
         2. (untitled)\n   https://example.com/2"
    );
    let request = &server.seen()[0];
    assert!(request.starts_with("GET /search?q=rust+%26+%22async%22&format=json HTTP/1.1\r\n"), "{request}");
}

fn brave_error(status_line: &str, code: &str, detail: &str, headers: &[(&str, &str)]) -> Reply {
    let number: u16 = status_line[..3].parse().expect("a status");
    let body = json!({
        "type": "ErrorResponse", "time": 1_768_000_000,
        "error": {"id": "b1", "status": number, "code": code, "detail": detail, "meta": {"component": "authentication"}}
    });
    status(status_line, headers, body.to_string())
}

#[tokio::test]
async fn reports_brave_errors() {
    let wrong_key = "Web search is not configured correctly: Brave rejects the key.";
    let reset =
        [("X-RateLimit-Limit", "1, 2000"), ("X-RateLimit-Remaining", "0, 10"), ("X-RateLimit-Reset", "7, 1419704")];
    for (reply, kind, message) in [
        (brave_error("401 Unauthorized", "", KEY, &[]), ErrorKind::Fatal, wrong_key),
        (brave_error("422 Unprocessable Entity", "SUBSCRIPTION_TOKEN_INVALID", KEY, &[]), ErrorKind::Fatal, wrong_key),
        (
            brave_error("422 Unprocessable Entity", "VALIDATION", &format!("q is bad, {KEY}"), &[]),
            ErrorKind::Failed,
            "The search failed: Brave responded with 422 Unprocessable Entity: q is bad, (key).",
        ),
        (
            brave_error("429 Too Many Requests", "RATE_LIMITED", "slow down", &reset),
            ErrorKind::Failed,
            "Too many searches: try again in 7 seconds.",
        ),
        (status("429 Too Many Requests", &[], ""), ErrorKind::Failed, "Too many searches: wait before the next one."),
        (
            status("500 Internal Server Error", &[], "<html>"),
            ErrorKind::Failed,
            "The search failed: Brave responded with 500 Internal Server Error.",
        ),
    ] {
        let server = Server::always(reply).await;
        let result = search(brave(&server)).await;
        assert_eq!((result.output.as_str(), result.error.expect("an error").kind), (message, kind));
    }
}

#[tokio::test]
async fn reports_searxng_errors() {
    let unresponsive = json!({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}).to_string();
    for (reply, kind, message) in [
        (
            status("403 Forbidden", &[("Content-Type", "text/html")], "<h1>Forbidden</h1>"),
            ErrorKind::Fatal,
            "Web search is not configured correctly: the SearXNG instance does not serve JSON; its settings must list `json` under `search.formats`.",
        ),
        (
            status("401 Unauthorized", &[], ""),
            ErrorKind::Fatal,
            "Web search is not configured correctly: the SearXNG instance requires a login.",
        ),
        (
            status("429 Too Many Requests", &[("Retry-After", "30")], ""),
            ErrorKind::Failed,
            "Too many searches: try again in 30 seconds.",
        ),
        (
            ok("application/json", unresponsive),
            ErrorKind::Failed,
            "The search failed: none of SearXNG's engines responded.",
        ),
    ] {
        let server = Server::always(reply).await;
        let result = search(searxng(&server)).await;
        let error = result.error.expect("an error");
        assert_eq!((result.output.as_str(), error.kind), (message, kind));
        let wait = message.contains("30 seconds").then_some(Duration::from_secs(30));
        assert_eq!(error.retry_after(), wait);
    }
}

#[tokio::test]
async fn reports_invalid_responses() {
    for body in ["", "{", "[]", "<html>", r#"{"web": {"results": [{"title": "no url"}]}, "results": 7}"#] {
        let server = Server::always(ok("application/json", body)).await;
        for web in [brave(&server), searxng(&server)] {
            let message = search(web).await.output;
            assert!(message.starts_with("The search returned an invalid response: "), "{body}: {message}");
        }
    }
    let server = Server::always(bytes("nonsense")).await;
    let message = search(brave(&server)).await.output;
    assert!(message.starts_with("The search provider cannot be reached: "), "{message}");
}

#[tokio::test]
async fn an_empty_result_is_a_success() {
    let server = Server::always(ok("application/json", r#"{"type": "search", "results": []}"#)).await;
    for (web, name) in [(brave(&server), "Brave"), (searxng(&server), "SearXNG")] {
        let result = search(web).await;
        assert!(result.success);
        assert_eq!(
            result.output,
            format!("{name} found nothing for \"rust & \\\"async\\\"\". Try fewer or other words.")
        );
    }
}

#[tokio::test]
async fn sends_the_key_to_the_endpoint_only() {
    let other = Server::always(ok("application/json", brave_response().to_string())).await;
    let server = Server::always(redirect(&format!("http://127.0.0.1:{}/", other.port()))).await;
    let result = search(brave(&server)).await;
    assert_eq!(result.output, "The search failed: Brave responded with 302 Found.");
    assert_eq!(other.seen().len(), 0);
    let shown = format!("{:?} {:?}", brave(&server), Brave::new(KEY).expect("a provider"));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(!Brave::new("a\nkey").expect_err("no key").to_string().contains("key\n"));
}

#[tokio::test]
async fn reports_a_missing_provider() {
    let result = search(Web::new()).await;
    assert_eq!(result.error.expect("an error").kind, ErrorKind::Fatal);
    assert!(result.output.starts_with("Web search is not configured here"), "{}", result.output);
}

#[tokio::test]
async fn times_out_on_a_silent_provider() {
    let server = Server::always(Reply::Stuck(Vec::new())).await;
    let limits = FetchLimits { timeout: Duration::from_millis(200), ..FetchLimits::default() };
    assert_eq!(search(brave(&server).limits(limits)).await.output, "The search provider did not respond in time.");
    server.closed().await;
}

/// A minimal search provider.
struct TestProvider;

impl SearchProvider for TestProvider {
    fn name(&self) -> &str {
        "Own"
    }

    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a> {
        Box::pin(async move { Ok(vec![SearchResult::new(&query.text, "https://example.com/", "a\n\n1. forged")]) })
    }
}

#[test]
fn names_the_search_tool_as_unusable_without_a_provider() {
    for (web, is_usable) in [(Web::new(), false), (Web::new().search(TestProvider), true)] {
        let selection = Selection::new().hide(web.unusable());
        let tools = tools(web).select(selection).expect("tools of these names");
        assert_eq!(tools.definition("web_search").is_some(), is_usable);
        assert!(tools.definition("web_fetch").is_some());
    }
}

#[tokio::test]
async fn supports_custom_providers() {
    let result = search(Web::new().search(TestProvider)).await;
    assert!(
        result.output.ends_with(":\n\n1. rust & \"async\"\n   https://example.com/\n   a 1. forged"),
        "{}",
        result.output
    );
}

/// A provider that returns as many results as are asked for.
struct Plenty;

impl SearchProvider for Plenty {
    fn name(&self) -> &str {
        "Plenty"
    }

    fn search<'a>(&'a self, query: &'a SearchQuery) -> SearchFuture<'a> {
        let result = |number| SearchResult::new("A page", &format!("https://example.com/{number}"), "");
        let found = (0..query.max_results).map(result).collect();
        Box::pin(async move { Ok(found) })
    }
}

#[tokio::test]
async fn the_application_sets_the_number_of_results() {
    for (web, arguments, count) in [
        (Web::new(), json!({"query": "x"}), 5),
        (Web::new().max_results(8), json!({"query": "x"}), 8),
        (Web::new().max_results(8), json!({"query": "x", "max_results": 12}), 12),
        (Web::new().max_results(0), json!({"query": "x"}), 1),
        (Web::new().max_results(100), json!({"query": "x"}), 20),
    ] {
        let result = call(web.search(Plenty), "web_search", arguments.clone()).await;
        assert_eq!(result.output.matches("https://").count(), count, "{arguments}: {}", result.output);
    }
    let result = call(Web::new().search(Plenty), "web_search", json!({"query": "x", "max_results": 21})).await;
    assert_eq!(result.error.expect("an error").kind, ErrorKind::InvalidArguments);
}
