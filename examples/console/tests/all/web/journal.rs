use serde_json::json;

use super::{Browser, card};
use crate::fixture::Console;

/// A refusal before more calls than a page has.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_found_however_long_ago() {
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
