use serde_json::json;
use tool_agent::{Reply, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

/// Text that runs a script if it is interpreted as HTML.
const EVIL: &str = r#"<img src="x" onerror="window.hit = true"><script>window.hit = true</script><a href="javascript:window.hit = true" onfocus="window.hit = true" autofocus tabindex="1">here</a>"#;

/// Elements that untrusted text must not create.
const MADE: &str =
    "#chat img, #chat script, #chat iframe, #chat [onerror], #chat [onfocus], #chat [href^='javascript:']";

#[tokio::test(flavor = "multi_thread")]
async fn untrusted_text_is_escaped() {
    let model = ScriptedModel::new([
        Reply::text(EVIL).and_call("read_file", json!({"path": "evil.txt"})),
        Reply::call("write_file", json!({"path": "other.txt", "content": EVIL})),
        Reply::call(format!("no.{EVIL}"), json!({EVIL: EVIL})),
        Reply::text(format!("[{EVIL}](javascript:window.hit=true) ![{EVIL}](x)\n\n```\n{EVIL}\n```")),
    ]);
    let console = Console::with_model(model.allow_unknown_tools()).await;
    let colours = "\x1b[31mred\x1b[0m \x1b]0;title\x07";
    std::fs::write(console.path("data/workspace/evil.txt"), format!("{EVIL}\n{colours}\n")).expect("a file");
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say(EVIL).await;
        browser.click("[data-state=pending] button[value=run]:enabled").await;
        browser.count("[data-state=failed]", 1).await;
        browser.is_answered().await;
        for _ in 0..2 {
            browser.count(MADE, 0).await;
            assert_eq!(browser.value("window.hit === undefined && document.title").await, "Chat · Console");
            for place in [".said", "[data-state=done] pre", "[data-state=done] .diff", "[data-state=failed] pre"] {
                browser.says(place, "<script>window.hit = true</script>").await;
            }
            browser.says("[data-state=done] pre", "red").await;
            // First as streamed, then as rendered after a reload.
            browser.reload().await;
        }
        browser.open("/journal").await;
        assert_eq!(browser.value("document.querySelector('main img, main script')").await, json!(null));

        // The control: the same text runs as HTML in a page without a content security policy.
        browser.client.goto("about:blank").await.expect("a page");
        browser.client.execute("document.body.innerHTML = arguments[0]", vec![json!(EVIL)]).await.expect("it is set");
        browser.wait("window.hit").await;
    })
    .await;
}

/// The content security policy blocks scripts even if untrusted HTML gets into a page.
#[tokio::test(flavor = "multi_thread")]
async fn the_content_security_policy_blocks_injected_scripts() {
    let console = Console::open().await;
    browse(&console, async |browser| {
        browser.open("/").await;
        let put = "window.blocked = 0;
            document.addEventListener('securitypolicyviolation', () => { window.blocked += 1; });
            document.getElementById('chat').innerHTML = arguments[0];
            const script = document.createElement('script');
            script.textContent = 'window.hit = true';
            document.body.append(script);";
        browser.client.execute(put, vec![json!(EVIL)]).await.expect("it is put in");
        browser.wait("window.blocked >= 2").await;
        assert_eq!(browser.value("window.hit === undefined").await, true);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_stays_responsive_with_megabytes_of_text() {
    let line = "a rather long line of a rather long text\n";
    let long = line.repeat(3_000_000 / line.len());
    let model = ScriptedModel::new([
        Reply::call("write_file", json!({"path": "long.txt", "content": long})),
        Reply::call("read_file", json!({"path": "long.txt"})),
        Reply::text(format!("{long}This is its end.")),
        Reply::text("And I am still here."),
    ]);
    let console = Console::with_model(model).await;
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Write a long text.").await;
        browser.click("[data-state=pending] button[value=run]:enabled").await;
        browser.says(".answer:not(.live)", "This is its end.").await;
        browser.is_answered().await;
        browser.reload().await;
        browser.says(".answer", "This is its end.").await;
        browser.say("Are you there?").await;
        browser.says(".answer", "And I am still here.").await;
    })
    .await;
}
