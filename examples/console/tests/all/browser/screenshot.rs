use serde_json::json;
use tool_agent::{Reply, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

/// Takes the screenshot of the README: `cargo test -p console -- --ignored takes_the_screenshot_of_the_readme`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "changes the repository"]
async fn takes_the_screenshot_of_the_readme() {
    let (old, new) = ("background: white;\n  color: black;", "background: #101418;\n  color: #e8e8e8;");
    let edit = json!({"path": "site/style.css", "old_string": old, "new_string": new});
    let model = ScriptedModel::new([
        Reply::text("Two people are."),
        Reply::text("None failed."),
        Reply::call("system_simple.summary", json!({})),
        Reply::text("The machine is **well**: there is memory left, and nothing takes more than its share."),
        Reply::text("Two colours have to change.").and_call("edit_file", edit),
    ]);
    let console = Console::with_model(model).await;
    browse(&console, async |browser| {
        browser.resemble((1440, 1120), "light").await;
        for earlier in ["Who is logged in?", "Which services failed since yesterday?"] {
            browser.open("/").await;
            browser.say(earlier).await;
            browser.is_answered().await;
        }
        browser.open("/").await;
        browser.say("How is this machine?").await;
        browser.says(".answer", "The machine is well").await;
        browser.is_answered().await;
        browser.say("Make the site dark.").await;
        browser.count("[data-state=pending] .diff", 1).await;
        browser.is_answered().await;
        browser.client.execute("document.activeElement.blur()", Vec::new()).await.expect("nothing has the focus");
        let picture = browser.client.screenshot().await.expect("a picture");
        assert!(picture.len() < 200_000, "{} bytes", picture.len());
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/screenshot.png"), picture).expect("it is kept");
    })
    .await;
}
