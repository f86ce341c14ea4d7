use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_agent::{Reply, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_shows_cards_and_a_diff() {
    let model = ScriptedModel::new([
        Reply::text("Let me look.").and_call("read_file", json!({"path": "site/style.css"})),
        Reply::call("write_file", json!({"path": "site/style.css", "content": "body {\n  background: black;\n}\n"})),
        Reply::text("The page is **black** now."),
    ]);
    let console = Console::with_model(model).await;
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Make the page black.").await;

        // The second call asks first and shows its preview.
        let waits = "[data-state=pending]";
        browser.count(&format!("{waits} .diff td.added"), 1).await;
        browser.click(&format!("{waits} button[value=run]:enabled")).await;
        browser.count("[data-state=done]", 2).await;
        browser.says(".answer strong", "black").await;
        browser.is_answered().await;

        // A card can be opened.
        let card = "details.card:has(.changes)";
        browser.reload().await;
        browser.count("[data-state=done]", 2).await;
        browser.count("details.card[open]", 0).await;
        browser.click(&format!("{card} > summary")).await;
        browser.click(&format!("{card} .changes > summary")).await;
        let (removed, added) = (format!("{card} .changes td.removed"), format!("{card} .changes td.added"));
        browser.says(&removed, "background: white;").await;
        browser.says(&added, "background: black;").await;
        let removed = browser.find(&removed).await.rectangle().await.expect("it is shown");
        let added = browser.find(&added).await.rectangle().await.expect("it is shown");
        assert!(removed.0 + removed.2 <= added.0, "side by side: {removed:?} {added:?}");
        assert!((removed.1 - added.1).abs() < 1.0, "in one row: {removed:?} {added:?}");
        assert_eq!(browser.value("document.querySelectorAll('.said').length").await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_mode_offers_no_tools() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let model = ScriptedModel::from_fn(move |request| {
        let tools = request.tools.map_or(0, |tools| tools.definitions().len());
        seen.lock().expect("a list").push(tools);
        Reply::text(format!("I have {tools} tools."))
    });
    let console = Console::with_model(model).await;
    let all = console.app.dispatcher().definitions().len();
    browse(&console, async |browser| {
        browser.open("/").await;
        for (mode, tools) in [("plan", 0), ("build", all)] {
            let button = format!("#modes button[value={mode}]");
            browser.click(&button).await;
            browser.count(&format!("{button}[aria-pressed=true]"), 1).await;
            browser.count("#modes [aria-pressed=true]", 1).await;
            browser.say("What would you do?").await;
            browser.says(".answer", &format!("I have {tools} tools.")).await;
            browser.is_answered().await;
            // The mode is kept after a reload.
            browser.reload().await;
            browser.count(&format!("{button}[aria-pressed=true]"), 1).await;
        }
        assert_eq!(*asked.lock().expect("a list"), [0, all]);
    })
    .await;
}
