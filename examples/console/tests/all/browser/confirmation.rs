use serde_json::json;
use tool_agent::{Reply, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

const WAITS: &str = "[data-state=pending]";

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_call_can_be_refused_or_edited() {
    let write = || Reply::call("write_file", json!({"path": "list.md", "content": "milk"}));
    let model = ScriptedModel::new([write(), Reply::text("As you wish."), write(), Reply::text("It is written.")]);
    let console = Console::with_model(model).await;
    let file = console.path("data/workspace/list.md");
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Write a list.").await;
        browser.count(WAITS, 1).await;
        assert!(!file.exists());
        browser.enter(&format!("{WAITS} [name=reason]"), "no milk today").await;
        browser.click(&format!("{WAITS} button[value=refuse]")).await;
        browser.says("[data-state=failed]", "no milk today").await;
        browser.says(".answer", "As you wish.").await;
        browser.is_answered().await;
        assert!(!file.exists());

        browser.say("Write it again.").await;
        browser.count(WAITS, 1).await;
        browser.click(&format!("{WAITS} form summary")).await;
        let field = format!("{WAITS} [name=edited]");
        let edit = format!("{WAITS} button[value=edit]:enabled");
        // Invalid arguments are reported in the card, and the call stays pending.
        browser.enter(&field, "{bread").await;
        browser.click(&edit).await;
        browser.says(&format!("{WAITS} .error"), "The arguments are invalid").await;
        assert!(!file.exists());
        browser.enter(&field, r#"{"path": "list.md", "content": "bread"}"#).await;
        browser.click(&edit).await;
        browser.count("[data-state=done]", 1).await;
        browser.says(".answer", "It is written.").await;
        assert_eq!(std::fs::read_to_string(&file).expect("it is written"), "bread");
    })
    .await;
}

/// Keys meant for another element approve nothing. Enter in the reason field refuses.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_key_press_approves_nothing() {
    let write = || Reply::call("write_file", json!({"path": "list.md", "content": "milk"}));
    let replies = [write(), Reply::text("As you wish."), write(), Reply::text("It is written.")];
    let console = Console::with_model(ScriptedModel::new(replies)).await;
    let file = console.path("data/workspace/list.md");
    let run = format!("{WAITS} button[value=run]:enabled");
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Write a list.").await;
        browser.find(&run).await;
        let press = async |keys: &str| {
            let focused = browser.client.active_element().await.expect("something has the focus");
            focused.send_keys(keys).await.expect("keys are pressed");
        };
        for key in ["\n", " "] {
            press(key).await;
        }
        assert_eq!(
            browser.value("document.activeElement.matches('button')").await,
            false,
            "no approve button has the focus"
        );

        // The keys may have closed the card.
        browser.value(&format!("document.querySelector('{WAITS}').open = true")).await;
        browser.enter(&format!("{WAITS} [name=reason]"), "no milk today\n").await;
        browser.says("[data-state=failed]", "no milk today").await;
        browser.says(".answer", "As you wish.").await;
        browser.wait("document.getElementById('stop').hidden").await;
        assert!(!file.exists());
        browser.say("Write it again.").await;
        browser.find(&run).await;
        assert!(!file.exists());
        // The control: a button that was focused on purpose.
        browser.value(&format!("document.querySelector('{run}').focus()")).await;
        press("\n").await;
        browser.says(".answer", "It is written.").await;
        assert!(file.exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aborting_a_call_ends_the_run() {
    let model = ScriptedModel::new([Reply::call("write_file", json!({"path": "list.md", "content": "milk"}))]);
    let console = Console::with_model(model).await;
    let file = console.path("data/workspace/list.md");
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Write a list.").await;
        browser.click(&format!("{WAITS} button[value=abort]")).await;
        browser.count("[data-state=failed]", 1).await;
        browser.is_answered().await;
        assert!(!file.exists(), "and the model was not asked again, for its script has no more answers");
        browser.count(".ending", 1).await;
        assert!(!browser.find(".ending").await.text().await.expect("a text").contains("script"));
    })
    .await;
}
