use std::net::{IpAddr, Ipv4Addr};

use console::web::Access;

use super::driver::{browse, browse_as};
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn a_user_switches_an_extension() {
    let console = Console::open().await;
    browse(&console, async |browser| {
        for (was, is) in [("true", "false"), ("false", "true")] {
            browser.open("/settings").await;
            browser.click(&format!("[aria-label=ai_chat][aria-checked={was}]")).await;
            browser.count(&format!("[aria-label=ai_chat][aria-checked={is}]"), 1).await;
            browser.open("/tools").await;
            let offered = browser.value("document.querySelectorAll('.tools li').length > 0").await;
            assert_eq!(offered.to_string(), is);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_logs_in_with_the_token() {
    let console = Console::open().await;
    let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let access = Access::new(everywhere, Some("a-token-of-this-test"), &[]).expect("a token");
    browse_as(&console, &access, async |browser| {
        browser.open("/tools").await;
        browser.says("h1", "Console").await;
        browser.enter("#token", "a-token-of-nobody\n").await;
        browser.says(".error", "The token is invalid").await;

        // The printed link. The token is not in the history, and scripts cannot read it.
        browser.open("/login#a-token-of-this-test").await;
        browser.count("#chat", 1).await;
        assert_eq!(browser.value("document.cookie + location.hash").await, "");
        browser.say("system_simple.summary").await;
        browser.count("[data-state=done]", 1).await;
        browser.is_answered().await;
        browser.open("/tools/system_simple.summary").await;
        browser.click("#call button[value=run]").await;
        browser.says("#result h2", "Done").await;

        // Logging out applies to every tab and closes an open conversation.
        browser.open("/").await;
        browser.count("#chat", 1).await;
        let [conversation, settings] = browser.two_tabs().await;
        browser.turn_to(&settings).await;
        browser.open("/settings").await;
        browser.click("form[action='/logout'] button").await;
        browser.count("#login", 1).await;
        browser.open("/tools").await;
        browser.count("#login", 1).await;
        browser.turn_to(&conversation).await;
        browser.count("#login", 1).await;
    })
    .await;
}
