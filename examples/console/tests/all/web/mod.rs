mod client;

// The journal and long outputs.
mod journal;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use console::settings::Extension;
use serde_json::{Value, json};
use tool_agent::{Reply, ResponsePart, ScriptedModel};
use tool_sqlite::testing::{SmallDisk, on_small_disk};

pub use self::client::{Browser, card, token};

use self::client::text;
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn pages_contain_no_inline_scripts_or_styles() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    for path in
        ["/chat/one", "/tools", "/tools/processes.list", "/tools?search=log&category=logs", "/journal", "/settings"]
    {
        let response = browser.send(browser.request(Method::GET, path), Body::empty()).await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let (status, page) = text(response).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(page.contains("<main") && page.contains("lang=\"en\""));
        for inline in [" style=", "<style", " onclick=", "<script>", "javascript:"] {
            assert!(!page.contains(inline), "{path} has {inline}");
        }
    }
    for asset in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).expect("a folder") {
        let name = asset.expect("a file").file_name().into_string().expect("a name");
        assert!(!browser.page(&format!("/assets/{name}")).await.is_empty());
    }
    assert_eq!(browser.get("/tools/no.such").await.0, StatusCode::NOT_FOUND);
    let tools: Value = serde_json::from_str(&browser.page("/api/tools").await).expect("JSON");
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(console.app.dispatcher().definitions().len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_shown_again_after_a_reload() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let notes = browser.say("one", "system_simple.summary").await;
    assert_eq!(notes[0]["said"], "system_simple.summary");
    assert!(card(&notes).contains(r#"data-state="done""#), "{}", card(&notes));
    assert!(notes.iter().any(|note| note["kind"] == "text") && notes.iter().any(|note| note["kind"] == "block"));

    let page = browser.page("/chat/one").await;
    assert!(page.contains("system_simple.summary") && page.contains(r#"data-state="done""#), "{page}");
    assert!(browser.page("/journal").await.contains("system_simple.summary"), "it is on record");
    let list = browser.page("/chat/two").await;
    assert!(
        list.contains("/chat/one") && list.contains(r#"<span class="title">system_simple.summary</span>"#),
        "{list}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_conversation_keeps_its_calls_in_the_journal() {
    let console = Arc::new(Console::open().await);
    console.log("slow.log", "a line\n");
    let browser = Browser::new(&console);
    browser.say("one", "system_simple.summary").await;
    browser.say("kept", "system_simple.summary").await;
    // Also while a run is in progress.
    let watch = browser.watch("one").await;
    let said = json!({"text": r#"logs.follow file="slow.log" seconds=60"#});
    assert_eq!(browser.post("/chat/one/say", said).await.0, StatusCode::OK);
    assert_eq!(browser.post("/chat/one/delete", json!({})).await.0, StatusCode::OK);
    watch.await;
    let page = browser.page("/chat/one").await;
    assert!(page.contains(r#"data-seen="0""#) && !page.contains("data-call"), "{page}");
    assert!(!browser.page("/chat/two").await.contains("/chat/one"));
    assert!(browser.page("/chat/kept").await.contains("data-call"), "the control");
    assert!(browser.page("/journal?conversation=one").await.contains("system_simple.summary"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_asks_first_and_shows_a_diff() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let file = console.path("data/workspace/new.md");
    let ask = r#"write_file path="new.md" content="buy milk""#;

    let asked = browser.say("one", ask).await;
    let pending = card(&asked);
    assert!(pending.contains(r#"data-state="pending""#) && pending.contains("buy milk"), "{pending}");
    for part in [r#"<svg class="icon""#, "write_file", "new.md"] {
        assert!(pending.contains(part), "a card has an icon, a name and the arguments: {pending}");
    }
    assert!(!file.exists());
    assert!(browser.page("/chat/one").await.contains("data-token"), "it still asks when the page is loaded again");

    let refused =
        browser.decide("one", json!({"token": token(pending), "decision": "refuse", "reason": "not now"})).await;
    assert!(
        card(&refused).contains(r#"data-state="failed""#) && card(&refused).contains("not now"),
        "{}",
        card(&refused)
    );
    assert!(!file.exists());

    let asked = browser.say("one", ask).await;
    let edited = r#"{"path": "new.md", "content": "buy <b>bread</b>", "mode": "overwrite"}"#;
    let body = json!({"token": token(card(&asked)), "decision": "edit", "edited": edited});
    let done = browser.decide("one", body).await;
    assert!(card(&done).contains(r#"data-state="done""#) && card(&done).contains("See changes"), "{}", card(&done));
    assert!(card(&done).contains("buy &lt;b&gt;bread"), "{}", card(&done));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "buy <b>bread</b>");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_edit_is_refused_and_the_call_stays_pending() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let asked = browser.say("one", r#"write_file path="new.md" content="x""#).await;
    let token = token(card(&asked));
    for (token, edited) in [(token, "{no json"), ("made up", "{}")] {
        let body = json!({"token": token, "decision": "edit", "edited": edited});
        assert_eq!(browser.post("/chat/one/decide", body).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let done = browser.decide("one", json!({"token": token, "decision": "run"})).await;
    assert!(card(&done).contains(r#"data-state="done""#), "{}", card(&done));
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_mode_offers_no_tools() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    assert_eq!(browser.post("/chat/one/mode", json!({"mode": "plan"})).await.0, StatusCode::OK);
    let notes = browser.say("one", "system_simple.summary").await;
    assert!(notes.iter().all(|note| note["kind"] != "card"), "{notes:?}");
    assert!(
        notes.iter().any(|note| note["html"].as_str().is_some_and(|html| html.contains("no tools now"))),
        "{notes:?}"
    );
    assert!(browser.page("/chat/one").await.contains(r#"aria-pressed="true">PLAN"#));
    assert_eq!(browser.post("/chat/one/mode", json!({"mode": "build"})).await.0, StatusCode::OK);
    let notes = browser.say("one", "system_simple.summary").await;
    assert!(card(&notes).contains(r#"data-state="done""#));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continues_without_subscribers_and_can_be_stopped() {
    let console = Arc::new(Console::open().await);
    console.log("slow.log", "a line\n");
    let browser = Browser::new(&console);
    let said = json!({"text": r#"logs.follow file="slow.log" seconds=60"#});
    assert_eq!(browser.post("/chat/one/say", said.clone()).await.0, StatusCode::OK);
    assert_eq!(browser.post("/chat/one/say", said).await.0, StatusCode::CONFLICT, "one run at a time");
    // A page that connects later receives all events of the run, and two tabs receive the same.
    let (first, second) = (browser.watch("one").await, browser.watch("one").await);
    let page = browser.page("/chat/one").await;
    assert!(page.contains(r#"data-seen="0""#), "messages of the current run are not in the page: {page}");
    let (status, stopped) = browser.post("/chat/one/stop", json!({})).await;
    assert_eq!((status, stopped.as_str()), (StatusCode::OK, r#"{"stopped":true}"#));
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first[0]["kind"], "begin");
    assert_eq!(first, second);
    assert!(
        first.last().and_then(|end| end["html"].as_str()).is_some_and(|html| html.contains("cancelled")),
        "{first:?}"
    );
}

/// A page that reconnects sends the number of its messages and misses no event.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconnecting_page_gets_missing_events_or_a_reload() {
    let console = Arc::new(Console::open().await);
    console.log("slow.log", "a line\n");
    let browser = Browser::new(&console);
    let notes = browser.say("one", "system_simple.summary").await;
    let (first, end) = (notes[0]["run"].clone(), notes.last().expect("an end"));
    assert_eq!(end["whole"], true);
    let seen = end["messages"].as_u64().expect("how many messages");
    let page = browser.page("/chat/one").await;
    assert!(page.contains(&format!(r#"data-seen="{seen}""#)) && !page.contains("data-unended"), "{page}");

    let reload = vec![json!({"kind": "reload"})];
    assert_eq!(browser.watch_as("one", "messages=0").await.await, reload, "a run has ended");
    assert_eq!(browser.watch_as("one", &format!("messages={seen}&run={first}")).await.await, reload, "without it");
    // Another run has begun.
    let said = json!({"text": r#"logs.follow file="slow.log" seconds=60"#});
    assert_eq!(browser.post("/chat/one/say", said).await.0, StatusCode::OK);
    assert_eq!(browser.watch_as("one", "messages=0").await.await, reload, "the end of the first is missing");
    assert_eq!(browser.watch_as("one", &format!("messages=0&run={first}")).await.await, reload);
    // A page rendered during a run has the number of that run, so it notices the end.
    let page = browser.page("/chat/one").await;
    let (_, unended) = page.split_once("data-unended=\"").expect("a run");
    let second = unended.split('"').next().expect("its number");
    // The control: this page has all earlier messages.
    let watch = browser.watch_as("one", &format!("messages={seen}")).await;
    assert_eq!(browser.post("/chat/one/mode", json!({"mode": "plan"})).await.0, StatusCode::OK);
    assert_eq!(browser.post("/chat/one/stop", json!({})).await.0, StatusCode::OK);
    let notes = watch.await;
    assert_eq!(notes[0]["kind"], "begin");
    assert_ne!(notes[0]["run"], first);
    let all = notes.last().and_then(|end| end["messages"].as_u64()).expect("how many messages");
    assert!(all > seen, "{notes:?}");
    assert_eq!(notes[0]["run"].to_string(), second);
    assert_eq!(browser.watch_as("one", &format!("messages={all}&run={second}")).await.await, reload);
    assert_eq!(browser.post("/chat/one/delete", json!({})).await.0, StatusCode::OK);
    assert_eq!(browser.watch_as("one", &format!("messages={all}")).await.await, reload, "all of it is gone");
}

/// The tests above are the control: their responses have few pieces.
#[tokio::test(flavor = "multi_thread")]
async fn pages_reload_after_a_run_with_too_many_events() {
    // Consecutive pieces of one kind are merged.
    let reply = (0..10_000)
        .fold(Reply::default(), |reply, _| reply.and(ResponsePart::Thinking("So ".to_owned())).and_text("it is "));
    let console = Console::with_model(ScriptedModel::new([reply])).await;
    let notes = Browser::new(&console).say("one", "Hurry.").await;
    assert_eq!(notes.last().map(|end| &end["whole"]), Some(&json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_escaped_on_every_page() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    console.log("evil.log", "<script>alert(1)</script><img src=x onerror=alert(2)>\n");
    let notes = browser.say("one", r#"logs.tail file="evil.log" <script>alert(3)</script>"#).await;
    let drawn: String = notes.iter().filter_map(|note| note["html"].as_str()).collect();
    assert!(drawn.contains("alert(1)"), "the line is shown: {drawn}");
    for place in [drawn, browser.page("/chat/one").await, browser.page("/journal").await] {
        assert!(!place.contains("<script>") && !place.contains("<img src=x"), "{place}");
    }
    for path in ["/tools?search=%3Cscript%3E", "/journal?tool=%22%3E%3Cscript%3E", "/tools/%3Cscript%3E"] {
        let (_, page) = browser.get(path).await;
        assert!(!page.contains("<script>"), "{path}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_origins_and_host_names_are_refused() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let json = |path: &str| browser.request(Method::POST, path).header(header::CONTENT_TYPE, "application/json");
    let say = || Body::from(json!({"text": "system_simple.summary"}).to_string());
    // The control: a request from the console's own page.
    assert_eq!(browser.post("/chat/one/say", json!({"text": "hello"})).await.0, StatusCode::OK);
    let foreign = json("/chat/two/say").header(header::ORIGIN, "http://evil.example");
    assert_eq!(browser.send(foreign, say()).await.status(), StatusCode::FORBIDDEN);
    let switch = browser
        .request(Method::POST, "/settings")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ORIGIN, "http://evil.example");
    let refused = browser.send(switch, Body::from("extension=ai_chat&on=false")).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert!(console.app.settings.get().has(Extension::AiChat));
    let rebound = Request::builder().uri("/tools").header(header::HOST, "evil.example");
    assert_eq!(browser.send(rebound, Body::empty()).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_disables_and_enables_the_tools() {
    let console = Console::open().await;
    let browser = Browser::new(&console);
    let switch = async |on: bool| {
        let request = browser
            .request(Method::POST, "/settings")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ORIGIN, format!("http://{}", browser.own));
        browser.send(request, Body::from(format!("extension=ai_chat&on={on}"))).await.status()
    };
    assert_eq!(switch(false).await, StatusCode::SEE_OTHER);
    assert!(browser.page("/tools").await.contains("No tools are offered"));
    assert!(browser.page("/chat/one").await.contains("is off"));
    assert_eq!(browser.post("/chat/one/say", json!({"text": "hello"})).await.0, StatusCode::NOT_FOUND);
    let tools: Value = serde_json::from_str(&browser.page("/api/tools").await).expect("JSON");
    assert_eq!(tools["tools"], json!([]));
    assert_eq!(switch(true).await, StatusCode::SEE_OTHER);
    let notes = browser.say("one", "system_simple.summary").await;
    assert!(card(&notes).contains(r#"data-state="done""#));
}

#[test]
fn a_message_that_cannot_be_stored_is_refused() {
    on_small_disk("web::fills_the_disk", 16);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process that another test starts"]
async fn fills_the_disk() {
    let Some(disk) = SmallDisk::mounted() else { return };
    let console = Console::open_in(tempfile::tempdir_in(disk.path()).expect("a folder")).await;
    let browser = Browser::new(&console);
    browser.say("one", "hello").await;
    disk.fill();
    for _ in 0..3 {
        let long = json!({"text": "x".repeat(90_000)});
        let (status, answer) = browser.post("/chat/one/say", long).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{answer}");
        assert!(answer.contains("cannot save the conversation") && answer.contains("full"), "{answer}");
    }
    disk.free();
    browser.say("one", "kept again").await;
    let notes = browser.say("one", "system_simple.summary").await;
    assert!(card(&notes).contains(r#"data-state="done""#), "calls are on record again: {}", card(&notes));
    assert!(browser.page("/chat/one").await.contains("kept again"));
    console.app.close().await;
}
