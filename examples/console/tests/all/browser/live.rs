use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::sync::Semaphore;
use tool_agent::{Model, ModelRequest, Reply, ResponseEnd, ResponsePart, ResponseStream, ScriptedModel};

use super::driver::browse;
use crate::fixture::Console;

/// A model that streams half of its response and waits for a permit before the rest.
struct HaltingModel {
    may_go_on: Arc<Semaphore>,
}

impl Model for HaltingModel {
    fn respond<'a>(&'a self, _: ModelRequest<'a>) -> ResponseStream<'a> {
        let wait = async {
            self.may_go_on.acquire().await.expect("it is open").forget();
            Ok(ResponsePart::Text(" and the other.".to_owned()))
        };
        let first = stream::iter([Ok(ResponsePart::Text("The one half".to_owned()))]);
        Box::pin(first.chain(stream::once(wait)).chain(stream::iter([Ok(ResponsePart::End(ResponseEnd::default()))])))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_reloaded_during_a_run_continues() {
    let may_go_on = Arc::new(Semaphore::new(0));
    let console = Console::with_model(HaltingModel { may_go_on: may_go_on.clone() }).await;
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Tell me.").await;
        browser.says(".answer.live", "The one half").await;
        for _ in 0..2 {
            browser.reload().await;
            browser.says(".answer.live", "The one half").await;
            assert_eq!(browser.value("document.getElementById('stop').hidden").await, false);
        }
        may_go_on.add_permits(1);
        browser.says(".answer:not(.live)", "The one half and the other.").await;
        browser.is_answered().await;
        for _ in 0..2 {
            browser.count(".said", 1).await;
            browser.count(".answer", 1).await;
            browser.reload().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_stopped() {
    let console = Console::with_model(HaltingModel { may_go_on: Arc::new(Semaphore::new(0)) }).await;
    browse(&console, async |browser| {
        browser.open("/").await;
        browser.say("Tell me.").await;
        browser.says(".answer.live", "The one half").await;
        browser.click("#stop").await;
        browser.says(".ending", "cancelled").await;
        browser.is_answered().await;
        browser.count(".answer.live", 0).await;
    })
    .await;
}

/// The connection breaks during a run and returns after its end, during the next run.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconnected_page_misses_nothing() {
    let may_go_on = Arc::new(Semaphore::new(0));
    let console = Console::with_model(HaltingModel { may_go_on: may_go_on.clone() }).await;
    browse(&console, async |browser| {
        browser.prepare_to_cut_off().await;
        browser.open("/chat/shared").await;
        let [first, second] = browser.two_tabs().await;
        browser.say("Tell me.").await;
        browser.says(".answer.live", "The one half").await;
        browser.cut_off(true).await;

        browser.turn_to(&second).await;
        browser.open("/chat/shared").await;
        browser.says(".answer.live", "The one half").await;
        may_go_on.add_permits(1);
        browser.is_answered().await;
        browser.say("Tell me more.").await;
        browser.count(".answer.live", 1).await;
        // The mode is shared by all pages, even during a run.
        browser.click("#modes button[value=plan]").await;

        browser.turn_to(&first).await;
        browser.count(".said", 1).await;
        browser.cut_off(false).await;
        browser.count(".said", 2).await;
        browser.count(".answer", 2).await;
        browser.count("#modes button[value=plan][aria-pressed=true]", 1).await;
        browser.click("#modes button[value=build]").await;
        browser.turn_to(&second).await;
        browser.count("#modes button[value=build][aria-pressed=true]", 1).await;
        may_go_on.add_permits(1);
        let drawn = async |tab: &fantoccini::wd::WindowHandle| {
            browser.turn_to(tab).await;
            browser.count(".answer:not(.live)", 2).await;
            browser.is_answered().await;
            browser.value("document.getElementById('chat').textContent").await
        };
        assert_eq!(drawn(&first).await, drawn(&second).await);

        // A deleted conversation is closed in all pages.
        browser.click("#conversations li [aria-current] + .forget").await;
        browser.click("#forget button[value=delete]").await;
        browser.count(".welcome", 1).await;
        browser.turn_to(&first).await;
        browser.count(".welcome", 1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_show_one_conversation() {
    let write = Reply::call("write_file", json!({"path": "list.md", "content": "milk"}));
    let console =
        Console::with_model(ScriptedModel::new([write, Reply::text("Written."), Reply::text("Welcome.")])).await;
    browse(&console, async |browser| {
        browser.open("/chat/shared").await;
        let [first, second] = browser.two_tabs().await;
        browser.turn_to(&second).await;
        browser.open("/chat/shared").await;

        // Both tabs show the pending call of one and the decision of the other.
        browser.turn_to(&first).await;
        browser.say("Write a list.").await;
        browser.count("[data-state=pending]", 1).await;
        browser.turn_to(&second).await;
        browser.says(".said", "Write a list.").await;
        browser.count(".welcome", 0).await;
        browser.click("[data-state=pending] button[value=run]:enabled").await;
        browser.says(".answer", "Written.").await;
        browser.is_answered().await;
        browser.say("Thanks.").await;
        browser.says(".answer", "Welcome.").await;
        browser.turn_to(&first).await;
        browser.says(".answer", "Welcome.").await;
        browser.count("[data-state=done]", 1).await;
        browser.count("[data-state=pending]", 0).await;
        browser.count(".said", 2).await;
        let (one, other) = (browser.value("document.getElementById('chat').textContent").await, {
            browser.turn_to(&second).await;
            browser.value("document.getElementById('chat').textContent").await
        });
        assert_eq!(one, other);
    })
    .await;
}

/// The decision adds no message, since the other of two calls is still pending.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconnected_page_shows_decisions_of_other_pages() {
    let write = |path: &str| json!({"path": path, "content": "milk"});
    let both = Reply::call("write_file", write("one.md")).and_call("write_file", write("two.md"));
    let console = Console::with_model(ScriptedModel::new([both, Reply::text("Written.")])).await;
    browse(&console, async |browser| {
        let run = "[data-state=pending] button[value=run]:enabled";
        browser.prepare_to_cut_off().await;
        browser.open("/chat/shared").await;
        let [first, second] = browser.two_tabs().await;
        browser.say("Write two lists.").await;
        browser.count("[data-state=pending]", 2).await;
        browser.is_answered().await;
        browser.cut_off(true).await;

        browser.turn_to(&second).await;
        browser.open("/chat/shared").await;
        browser.click(run).await;
        browser.count("[data-state=done]", 1).await;
        browser.is_answered().await;

        browser.turn_to(&first).await;
        browser.count("[data-state=pending]", 2).await;
        browser.cut_off(false).await;
        browser.count("[data-state=pending]", 1).await;
        browser.count("[data-state=done]", 1).await;
        browser.click(run).await;
        browser.says(".answer", "Written.").await;
        browser.count("[data-state=done]", 2).await;
    })
    .await;
}

/// The connection is lost without an error, as after a suspend.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_events_reconnects() {
    let console = Console::with_model(ScriptedModel::new([Reply::text("Well."), Reply::text("Still well.")])).await;
    let elsewhere = crate::web::Browser::new(&console);
    browse(&console, async |browser| {
        browser.prepare_to_cut_off().await;
        browser.open("/chat/shared").await;
        elsewhere.say("shared", "How is it?").await;
        browser.says(".answer", "Well.").await;
        browser.is_answered().await;
        browser.fall_silent().await;
        elsewhere.say("shared", "And now?").await;
        browser.pass_time().await;
        browser.says(".answer", "Still well.").await;
    })
    .await;
}
