use std::fmt::Write;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tool_agent::{Message, Reply, ScriptedModel};

use crate::fixture::Console;
use crate::web::Browser;

/// The number of concurrent conversations.
const CHATS: u8 = 200;

/// The number of pieces of a response.
const PIECES: usize = 50;

/// Returns the response to a message, which differs for each message.
fn answer(said: &str) -> Vec<String> {
    (0..PIECES).map(|piece| format!("{said} piece {piece}; ")).collect()
}

/// Returns a model that calls a tool, then responds in pieces.
fn model() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages {
        [.., Message::User { .. }] => Reply::text("Looking.").and_call("logs.tail", json!({"file": "app.log"})),
        [.., Message::User { text }, _, _] => answer(text).into_iter().fold(Reply::default(), Reply::and_text),
        other => panic!("unexpected messages: {other:?}"),
    })
}

/// Runs all conversations concurrently and returns the events of their pages.
async fn round(browser: &Browser, number: usize) -> Vec<Vec<Value>> {
    let mut chats = JoinSet::new();
    for chat in 0..CHATS {
        let browser = browser.of_peer([127, 0, 1, chat]);
        chats.spawn(async move {
            let said = format!("round {number} chat {chat}");
            let notes = browser.say(&format!("r{number}-c{chat}"), &said).await;
            check(&notes, &said);
            notes
        });
    }
    chats.join_all().await
}

/// Checks that no event is missing, duplicated or from another conversation.
fn check(notes: &[Value], said: &str) {
    let of_kind = |kind: &str| notes.iter().filter(|note| note["kind"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!(notes[0]["said"], said);
    assert_eq!((of_kind("begin").len(), of_kind("end").len()), (1, 1), "{notes:?}");
    assert_eq!(of_kind("end")[0]["html"], "", "{notes:?}");
    let text = of_kind("text").iter().fold(String::new(), |mut all, note| {
        write!(all, "{}", note["text"].as_str().expect("a text")).expect("it is written");
        all
    });
    assert_eq!(text, format!("Looking.{}", answer(said).concat()));
    let states: Vec<&str> = of_kind("card")
        .iter()
        .map(
            |card| if card["html"].as_str().is_some_and(|html| html.contains("the line")) { "done" } else { "running" },
        )
        .collect();
    assert_eq!(states, ["running", "done"], "{notes:?}");
    assert_eq!(of_kind("block").len(), 2, "{notes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_concurrent_chats_lose_no_events() {
    let console = Console::with_model(model()).await;
    console.log("app.log", "the line\n");
    let browser = Browser::new(&console);
    assert_eq!(round(&browser, 0).await.len(), usize::from(CHATS));
    // Pages that are loaded later show the same.
    for chat in [0, CHATS / 2, CHATS - 1] {
        let page = browser.page(&format!("/chat/r0-c{chat}")).await;
        let last = format!("round 0 chat {chat} piece {};", PIECES - 1);
        assert!(page.contains(&last) && page.contains(r#"data-state="done""#), "{page}");
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use super::*;

    /// More than an allocator retains by chance, and less than the events of a round take.
    const MOST_GROWTH: usize = 12 << 20;

    /// Returns the number of rounds, which `CONSOLE_ROUNDS` sets.
    fn rounds() -> usize {
        std::env::var("CONSOLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
    }

    /// Returns the resident memory of this process in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("figures");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a figure");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
    }

    /// Runs in a separate process, so that no other test is measured.
    #[test]
    fn chats_do_not_leak() {
        let status = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", "load::memory::holds_many_chats", "--ignored", "--nocapture"])
            .status();
        assert!(status.expect("it runs").success());
    }

    /// The control keeps all events, and must grow.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "a part of another test"]
    async fn holds_many_chats() {
        let console = Console::with_model(model()).await;
        console.log("app.log", "the line\n");
        let browser = Browser::new(&console);
        let mut numbers = 0..;
        let mut hold = async |rounds: usize| {
            let mut notes = Vec::new();
            for number in numbers.by_ref().take(rounds) {
                notes.push(round(&browser, number).await);
            }
            notes
        };
        for _ in 0..6 {
            hold(1).await;
        }
        let before = resident();
        for _ in 0..rounds() {
            hold(1).await;
        }
        let growth = resident().saturating_sub(before);
        let chats = rounds() * usize::from(CHATS);
        eprintln!("{chats} chats: {} kB more than before, of {} kB", growth / 1000, before / 1000);
        assert!(growth < MOST_GROWTH, "{growth} bytes for {chats} chats");

        let before = resident();
        let kept: Vec<String> = hold(4).await.concat().iter().map(|notes| json!(notes).to_string().repeat(4)).collect();
        let growth = resident().saturating_sub(before);
        assert!(growth > MOST_GROWTH, "the control has grown by {growth} bytes only, for {} chats", kept.len());
    }
}
