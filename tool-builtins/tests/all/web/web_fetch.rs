use serde_json::json;
use tool_builtins::web::{FetchLimits, Web};
use tool_runtime::{ErrorKind, Manifest};

use super::test_server::{Server, ok, redirect, status, with};
use super::{call, fetch, tools, web};

#[tokio::test]
async fn returns_a_page_with_a_header_and_metadata() {
    let page = "<title>A page</title><h1>Hello</h1><p>See <a href=other>this</a>.";
    let server = Server::start(move |path| match path {
        "/old?x=1" => redirect("/new/"),
        _ => ok("text/html; charset=utf-8", page),
    })
    .await;
    let result = fetch(web(&server), server.url("/old?x=1#part")).await;
    assert!(result.success, "{result:?}");
    let text = format!("# Hello\n\nSee [this]({}).", server.url("/new/other"));
    assert_eq!(
        result.output,
        format!(
            "URL: {}\nRedirected from: {}\nStatus: 200 OK\nType: text/html, UTF-8\nTitle: A page\nLength: {} characters\n\n{text}",
            server.url("/new/"),
            server.url("/old?x=1"),
            text.len()
        )
    );
    let about = result.metadata.get("page").expect("metadata");
    assert_eq!(about["url"], server.url("/new/"));
    assert_eq!(about["redirects"], json!([server.url("/old?x=1")]));
    assert_eq!((&about["status"], &about["title"]), (&json!("200 OK"), &json!("A page")));
    assert_eq!((&about["next"], &about["cut"], &about["bytes"]), (&json!(null), &json!(false), &json!(page.len())));
}

#[tokio::test]
async fn reports_what_was_left_out() {
    let server = Server::always(ok("text/html", "<nav><a href=/>Other</a></nav><main><p>Text</p></main>")).await;
    for (format, text, is_reported) in [("markdown", "Text", true), ("text", "Text", true), ("html", "</main>", false)]
    {
        let result = call(web(&server), "web_fetch", json!({"url": server.url("/"), "format": format})).await;
        assert!(result.output.ends_with(text), "{result:?}");
        let reported = result.output.contains("\nLeft out: 5 characters around the content, such as navigation;");
        assert_eq!(reported, is_reported, "{result:?}");
    }
}

#[tokio::test]
async fn supports_three_formats() {
    let server = Server::always(ok("text/html", "<p>a <b>b</b></p>")).await;
    for (format, expected) in [("markdown", "a **b**"), ("text", "a b"), ("html", "<p>a <b>b</b></p>")] {
        let result = call(web(&server), "web_fetch", json!({"url": server.url("/"), "format": format})).await;
        assert!(result.output.ends_with(&format!("\n\n{expected}")), "{result:?}");
    }
    let result = call(web(&server), "web_fetch", json!({"url": server.url("/"), "format": "pdf"})).await;
    assert_eq!(result.error.expect("an error").kind, ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn reads_a_long_page_in_parts() {
    let page: String = (0..50).map(|n| format!("é{n:02} ")).collect();
    let server = Server::always(ok("text/plain; charset=utf-8", &page)).await;
    let limits = FetchLimits { default_length: 60, max_length: 80, ..FetchLimits::default() };
    let mut whole = String::new();
    let mut start = 0;
    loop {
        let arguments = json!({"url": server.url("/"), "start": start});
        let result = call(web(&server).limits(limits.clone()), "web_fetch", arguments).await;
        whole.push_str(result.output.split_once("\n\n").expect("a page").1);
        match result.metadata.get("page").expect("metadata")["next"].as_u64() {
            Some(next) => {
                assert!(result.output.contains(&format!("continue with `start` = {next}\n")), "{result:?}");
                start = next;
            }
            None => break,
        }
    }
    assert_eq!(whole, page);

    let part = |arguments| call(web(&server).limits(limits.clone()), "web_fetch", arguments);
    let result = part(json!({"url": server.url("/"), "max_length": 1_000_000})).await;
    assert!(result.output.contains("200 characters; this part is 0 to 80,"), "{result:?}");
    let result = part(json!({"url": server.url("/"), "max_length": 3, "start": 4})).await;
    assert!(result.output.ends_with("\n\né01"), "{result:?}");
    let result = part(json!({"url": server.url("/"), "start": 200})).await;
    assert_eq!(result.output, "`start` is beyond the end of the page, which has 200 characters.");
}

#[tokio::test]
async fn returns_other_text_unchanged_and_names_binary_types() {
    let server = Server::start(|path| match path {
        "/json" => ok("application/json", "{\"a\": [1]}"),
        "/feed" => ok("application/rss+xml", "<rss/>"),
        "/none" => with(&[], "no type"),
        "/png" => ok("image/png", "\u{89}PNG"),
        "/zip" => ok("application/octet-stream", b"PK\x03\x04\x14\0\0\0"),
        "/lie" => ok("text/plain", b"%PDF-1.4\n\0\0"),
        _ => ok("text/html", b"caf\xe9"),
    })
    .await;
    for (path, expected) in [("/json", "{\"a\": [1]}"), ("/feed", "<rss/>"), ("/none", "no type"), ("/", "café")] {
        let result = fetch(web(&server), server.url(path)).await;
        assert!(result.success && result.output.ends_with(&format!("\n\n{expected}")), "{path}: {result:?}");
    }
    for (path, expected) in [
        ("/png", "The content is not text but image/png, 5 bytes."),
        ("/zip", "The content is not text but application/zip, 8 bytes."),
        ("/lie", "The content is not text but application/pdf (declared as text/plain), 11 bytes."),
    ] {
        let result = fetch(web(&server), server.url(path)).await;
        assert_eq!((result.success, result.output.as_str()), (false, expected));
    }
}

#[tokio::test]
async fn error_responses_include_their_text() {
    let server = Server::start(|path| match path {
        "/busy" => {
            status("503 Service Unavailable", &[("Retry-After", "120"), ("Content-Type", "text/plain")], "later")
        }
        _ => status("404 Not Found", &[("Content-Type", "text/html")], "<h1>No such page</h1><script>x</script>"),
    })
    .await;
    let result = fetch(web(&server), server.url("/gone")).await;
    assert!(!result.success);
    assert_eq!(
        result.output,
        format!("{} responded with 404 Not Found. The response:\nNo such page", server.url("/gone"))
    );
    let result = fetch(web(&server), server.url("/busy")).await;
    let expected = "responded with 503 Service Unavailable. Try again after 120 seconds. The response:\nlater";
    assert!(result.output.ends_with(expected), "{result:?}");
}

#[tokio::test]
async fn decompresses_pages() {
    let text = "hello hello hello";
    let server =
        Server::start(move |path| super::hostile_servers::compressed(&path[1..], "text/plain", text.as_bytes())).await;
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let result = fetch(web(&server), server.url(&format!("/{encoding}"))).await;
        assert!(result.output.ends_with(&format!("\n\n{text}")), "{encoding}: {result:?}");
    }
}

#[tokio::test]
async fn sends_no_cookies_referrers_or_credentials() {
    let server = Server::start(|path| match path {
        "/" => status("302 Found", &[("Location", "/next"), ("Set-Cookie", "id=7")], ""),
        _ => ok("text/plain", "x"),
    })
    .await;
    let tools = tools(web(&server));
    for _ in 0..2 {
        let call = tool_runtime::ToolCall::new("web_fetch", json!({"url": server.url("/")}));
        assert!(tools.call(call).await.success);
    }
    assert_eq!(server.seen().len(), 4);
    for request in server.seen() {
        let request = request.to_ascii_lowercase();
        for header in ["cookie:", "referer:", "authorization:"] {
            assert!(!request.contains(header), "{request}");
        }
    }
}

#[test]
fn tools_are_registered_by_the_service_only() {
    assert!(Manifest::linked().get("web_fetch").is_none());
    let tools = tools(Web::new());
    for name in ["web_fetch", "web_search"] {
        let tool = tools.definition(name).expect(name);
        assert!(tool.read_only && !tool.sensitive && !tool.destructive, "{name}");
        assert!(tool.arguments.values().all(|argument| argument.description.is_some()), "{name}");
    }
    let fetch = tools.definition("web_fetch").expect("web_fetch").parameters();
    assert_eq!(fetch["required"], json!(["url"]));
    assert_eq!(fetch["properties"]["format"]["enum"], json!(["markdown", "text", "html"]));
}
