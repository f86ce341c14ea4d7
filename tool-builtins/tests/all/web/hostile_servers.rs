use std::io::Write;
use std::time::Duration;

use serde_json::json;
use tool_builtins::web::FetchLimits;
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::test_server::{Reply, Server, bytes, ok, redirect, with};
use super::{fetch, limits, tools, web};

/// Returns a response with a compressed body.
pub fn compressed(encoding: &str, content_type: &str, body: &[u8]) -> Reply {
    let packed = match encoding {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(body).and_then(|()| writer.finish()).expect("compressed")
        }
        "deflate" => {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(body).and_then(|()| writer.finish()).expect("compressed")
        }
        "br" => {
            let mut packed = Vec::new();
            brotli::BrotliCompress(&mut &body[..], &mut packed, &brotli::enc::BrotliEncoderParams::default())
                .expect("compressed");
            packed
        }
        "zstd" => zstd::encode_all(body, 3).expect("compressed"),
        other => panic!("unknown encoding {other}"),
    };
    with(&[("Content-Encoding", encoding), ("Content-Type", content_type)], packed)
}

/// Returns the error of fetching a page with this response.
async fn error_for(reply: Reply) -> String {
    let server = Server::always(reply).await;
    let result = fetch(web(&server), server.url("/")).await;
    assert!(!result.success, "{result:?}");
    assert_eq!(result.error.expect("an error").kind, ErrorKind::Failed);
    result.output
}

#[tokio::test]
async fn limits_redirects() {
    let server = Server::start(|path| match path {
        "/a" => redirect("/b"),
        "/b" => redirect("/a#again"),
        path => redirect(&format!("{path}x")),
    })
    .await;
    let result = fetch(web(&server), server.url("/a")).await;
    assert_eq!(result.output, format!("The page redirects in a loop, back to {}.", server.url("/a")));
    let before = server.seen().len();
    let result = fetch(web(&server), server.url("/x")).await;
    assert_eq!(result.output, "The page redirects more than 5 times.");
    assert_eq!(server.seen().len() - before, 6);
}

#[tokio::test]
async fn rejects_redirects_without_a_valid_target() {
    let nowhere = "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(error_for(bytes(nowhere)).await, "The page redirects, but it names no target.");
    assert!(error_for(redirect("http://[")).await.starts_with("The page redirects, but its target is not a URL"));
}

#[tokio::test]
async fn truncates_endless_bodies() {
    let plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let chunked = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let chunk = format!("3e8\r\n{}\r\n", "y".repeat(1_000)).into_bytes();
    for reply in [Reply::Endless(plain, vec![b'y'; 1_000]), Reply::Endless(chunked, chunk)] {
        let server = Server::always(reply).await;
        let result = fetch(web(&server), server.url("/")).await;
        assert!(result.success, "{result:?}");
        let about = result.metadata.get("page").expect("metadata");
        assert_eq!((&about["bytes"], &about["cut"]), (&json!(limits().max_bytes), &json!(true)));
        assert!(result.output.contains("too long"), "{result:?}");
        // The connection is closed without waiting for the rest.
        server.closed().await;
    }
}

#[tokio::test]
async fn truncates_decompression_bombs() {
    let bomb = vec![b'z'; 10_000_000];
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let reply = compressed(encoding, "text/plain", &bomb);
        let Reply::Bytes(packed) = &reply else { unreachable!("it is complete") };
        assert!(packed.len() < limits().max_bytes, "{encoding} is a bomb: {}", packed.len());
        let server = Server::always(reply).await;
        let result = fetch(web(&server), server.url("/")).await;
        let about = result.metadata.get("page").expect("metadata");
        assert_eq!((&about["bytes"], &about["cut"]), (&json!(limits().max_bytes), &json!(true)), "{encoding}");
    }
}

#[tokio::test]
async fn times_out_on_slow_bodies_and_silence() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nslow";
    for start in ["", "HTTP/1.1 200", head] {
        let server = Server::always(Reply::Stuck(start.as_bytes().to_vec())).await;
        let web = web(&server).limits(FetchLimits { timeout: Duration::from_millis(300), ..limits() });
        let result = fetch(web, server.url("/")).await;
        assert_eq!(result.output, "The page was not received within 0.3 seconds.", "after {start:?}");
        server.closed().await;
    }
}

#[tokio::test]
async fn closes_the_connection_of_a_stopped_call() {
    let server = Server::always(Reply::Stuck(b"HTTP/1.1 200 OK\r\n".to_vec())).await;
    let tools = tools(web(&server));
    let call = || tools.call(ToolCall::new("web_fetch", json!({"url": server.url("/")})));

    let result = call().timeout(Duration::from_millis(200)).await;
    assert_eq!(result.error.expect("an error").kind, ErrorKind::TimedOut);
    server.closed().await;

    let token = CancellationToken::new();
    let stopped = tokio::spawn({
        let (tools, token, url) = (tools.clone(), token.clone(), server.url("/"));
        async move { tools.call(ToolCall::new("web_fetch", json!({"url": url}))).cancel(token).await }
    });
    while server.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    assert_eq!(stopped.await.expect("no panic").error.expect("an error").kind, ErrorKind::Cancelled);
    server.closed().await;

    let dropped = tokio::time::timeout(Duration::from_millis(200), call()).await;
    assert!(dropped.is_err());
    server.closed().await;
}

#[tokio::test]
async fn reports_broken_responses() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    for (name, reply) in [
        ("too short", bytes(&format!("{head}Content-Length: 100\r\n\r\nshort"))),
        ("no length", bytes(&format!("{head}Content-Length: many\r\n\r\nx"))),
        ("two lengths", bytes(&format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy"))),
        ("a chunk without a size", bytes(&format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"))),
        ("a chunk that is huge", bytes(&format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc"))),
        ("a chunk too short", bytes(&format!("{head}Transfer-Encoding: chunked\r\n\r\nff\r\nabc"))),
        ("not gzip", bytes(&format!("{head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"))),
        ("not zstd", bytes(&format!("{head}Content-Encoding: zstd\r\nContent-Length: 5\r\n\r\nhello"))),
        ("no response", bytes("")),
        ("not HTTP", bytes("SSH-2.0-OpenSSH_9.6\r\n")),
        ("a long header", bytes(&format!("{head}X: {}\r\n\r\n", "x".repeat(2_000_000)))),
        ("many headers", bytes(&format!("{head}{}\r\n", "X: y\r\n".repeat(10_000)))),
    ] {
        let message = error_for(reply).await;
        assert!(message.starts_with("The page cannot be fetched: ") && message.len() < 200, "{name}: {message}");
    }
}

#[tokio::test]
async fn ignores_bytes_after_the_body() {
    let server =
        Server::always(bytes("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npageHTTP/1.1"))
            .await;
    let result = fetch(web(&server), server.url("/")).await;
    assert!(result.output.ends_with("\n\npage"), "{result:?}");
}

#[tokio::test]
async fn truncates_pages_that_are_slow_to_convert() {
    for html in ["<div>".repeat(30_000), "<b><div></b>".repeat(10_000), "<ul><li>".repeat(20_000)] {
        let server = Server::always(ok("text/html", format!("<p>start</p>{html}"))).await;
        let result = fetch(web(&server), server.url("/")).await;
        assert!(result.success && result.output.contains("\n\nstart"), "{result:?}");
        assert_eq!(result.metadata.get("page").expect("metadata")["cut"], true);
    }
}
