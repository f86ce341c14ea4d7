use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use serde_json::json;
use tool_agent::{Reply, ScriptedModel};
use tool_runtime::{RuntimeTool, ToolResult};

use super::client::text;
use super::{Browser, card};
use crate::fixture::Console;

/// Returns the address of the full output that a page links to.
fn full_output_link(page: &str) -> &str {
    let (before, _) = page.split_once("\">full output as text").expect("a link");
    before.rsplit_once("href=\"").expect("where to").1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_output_is_linked_in_full() {
    let tool = RuntimeTool::from_schema("shop.list", "List things.", &json!({"type": "object"}), |_, _| async {
        ToolResult::success(format!("{}<b>the tail</b>", "x".repeat(150_000)))
    });
    let model = ScriptedModel::new([Reply::call("shop.list", json!({})), Reply::text("A lot.")]);
    let console = Console::with_model(model).await;
    console.app.dispatcher().registry().register(tool).expect("it is offered");
    let browser = Browser::new(&console);
    let notes = browser.say("one", "List them.").await;
    assert!(card(&notes).len() < 100_000, "a part is enough for a card");
    let in_chat = format!("/chat/one{}", full_output_link(card(&notes)));
    let journal = browser.page("/journal").await;
    for path in [in_chat.as_str(), full_output_link(&journal)] {
        let response = browser.send(browser.request(Method::GET, path), Body::empty()).await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        let (status, output) = text(response).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(output, format!("{}<b>the tail</b>", "x".repeat(150_000)), "{path}");
    }
    for path in ["/chat/one?output=none", "/chat/two?output=none", "/journal?output=12345"] {
        assert_eq!(browser.get(path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
}

/// The refused call is older than all calls of a page.
#[tokio::test(flavor = "multi_thread")]
async fn the_filter_finds_refused_calls_beyond_the_first_page() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let asked = browser.say("one", r#"write_file path="new.md" content="x""#).await;
    let body = json!({"token": super::client::token(card(&asked)), "decision": "refuse"});
    browser.decide("one", body).await;
    for _ in 0..120 {
        console.answer("system_simple.summary", json!({})).await;
    }
    let rows = |page: &str| page.matches("<td class=\"name\"><a").count();
    assert!(!browser.page("/journal").await.contains("write_file"), "the control: it is not among the newest");
    let refused = browser.page("/journal?state=refused").await;
    assert!(refused.contains("write_file") && refused.contains("<option selected>refused"), "{refused}");
    assert_eq!(rows(&refused), 1, "{refused}");
    assert!(!refused.contains("Older calls"));

    let done = browser.page("/journal?state=done").await;
    assert_eq!(rows(&done), 100);
    let older = done.split_once("\">Older calls").and_then(|(page, _)| page.rsplit_once("href=\"")).expect("a link").1;
    assert_eq!(rows(&browser.page(&older.replace("&amp;", "&")).await), 20);
}
