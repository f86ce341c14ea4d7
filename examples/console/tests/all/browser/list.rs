use serde_json::json;
use tool_agent::{Reply, ResponsePart, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn conversations_can_be_switched_and_deleted_by_title() {
    let console = Console::with_model(ScriptedModel::from_fn(|_| Reply::text("Well."))).await;
    browse(&console, async |browser| {
        let (open, all) = ("#conversations a[aria-current]", "#conversations li");
        for said in ["How is the <b>disk</b>?", "And the memory?"] {
            browser.open("/").await;
            browser.say(said).await;
            browser.is_answered().await;
            browser.says(open, said).await;
            browser.says("h1", said).await;
            browser.reload().await;
            browser.says(open, said).await;
        }
        browser.count(all, 2).await;
        browser.click("#conversations li:nth-child(2) a").await;
        browser.says(".said", "How is the <b>disk</b>?").await;
        browser.count("#conversations b", 0).await;

        // The dialog can be cancelled.
        browser.click("#conversations li:nth-child(1) .forget").await;
        browser.says("#forget", "And the memory?").await;
        browser.click("#forget button[value=keep]").await;
        browser.reload().await;
        browser.count(all, 2).await;

        browser.click("#conversations li:nth-child(1) .forget").await;
        browser.click("#forget button[value=delete]").await;
        browser.count(all, 1).await;
        browser.says(".said", "How is the <b>disk</b>?").await;
        // Deleting the open conversation opens a new one.
        browser.click("#conversations li:nth-child(1) .forget").await;
        browser.click("#forget button[value=delete]").await;
        browser.count(all, 0).await;
        browser.count(".welcome", 1).await;
    })
    .await;
}

/// The conversation is older than all listed ones.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_conversation_keeps_its_title() {
    let console = Console::with_model(ScriptedModel::from_fn(|_| Reply::text("Well."))).await;
    let earlier = crate::web::Browser::new(&console);
    earlier.say("old", "How is the disk?").await;
    for newer in 0..50 {
        earlier.say(&newer.to_string(), "And now?").await;
    }
    browse(&console, async |browser| {
        browser.open("/chat/old").await;
        browser.count("#conversations a[aria-current]", 0).await;
        browser.say("And the memory?").await;
        browser.says("#conversations li:first-child a[aria-current]", "How is the disk?").await;
        browser.says("h1", "How is the disk?").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_and_durations_are_kept_after_a_reload() {
    let thoughts = |text: &str| Reply::default().and(ResponsePart::Thinking(text.to_owned()));
    let console = Console::with_model(ScriptedModel::new([
        thoughts("A <i>summary</i> ")
            .and(ResponsePart::Thinking("will do.".to_owned()))
            .and_call("system_simple.summary", json!({})),
        thoughts("That is fine.").and_text("All is well."),
    ]))
    .await;
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("How is it?").await;
        browser.says(".answer", "All is well.").await;
        browser.is_answered().await;
        let took = browser.find("[data-state=done] .took").await.text().await.expect("a text");
        for _ in 0..2 {
            browser.count(".thinking:not([open])", 2).await;
            browser.says(".thinking", "A <i>summary</i> will do.").await;
            browser.says("[data-state=done] .took", &took).await;
            browser.reload().await;
        }
    })
    .await;
}
