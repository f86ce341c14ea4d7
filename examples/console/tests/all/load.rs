use std::fmt::Write;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tool_agent::{Message, Reply, ScriptedModel};

use crate::fixture::Console;
use crate::web::Browser;

/// How many conversations there are at once.
const CHATS: u8 = 200;

/// In how many pieces an answer comes.
const PIECES: usize = 50;

/// The answer to what was said, which is like no other.
fn answer(said: &str) -> Vec<String> {
    (0..PIECES).map(|piece| format!("{said} piece {piece}; ")).collect()
}

/// Calls a tool, then answers in pieces.
fn model() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages {
        [.., Message::User { .. }] => Reply::text("Looking.").and_call("logs.tail", json!({"file": "app.log"})),
        [.., Message::User { text }, _, _] => answer(text).into_iter().fold(Reply::default(), Reply::and_text),
        other => panic!("an unknown course: {other:?}"),
    })
}

/// Holds so many conversations at once, each from its beginning to its end, and gives what their pages were told.
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

/// Nothing is missing, nothing comes twice, and nothing is of another conversation.
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
async fn two_hundred_chats_at_once_lose_nothing() {
    let console = Console::with_model(model()).await;
    console.log("app.log", "the line\n");
    let browser = Browser::new(&console);
    assert_eq!(round(&browser, 0).await.len(), usize::from(CHATS));
    // Those who come later find the same.
    for chat in [0, CHATS / 2, CHATS - 1] {
        let page = browser.page(&format!("/chat/r0-c{chat}")).await;
        let last = format!("round 0 chat {chat} piece {};", PIECES - 1);
        assert!(page.contains(&last) && page.contains(r#"data-state="done""#), "{page}");
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use super::*;

    /// More than what an allocator keeps by chance, and less than what the events of a round take.
    const MOST_GROWTH: usize = 12 << 20;

    /// `CONSOLE_ROUNDS` says how often two hundred chats are held.
    fn rounds() -> usize {
        std::env::var("CONSOLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
    }

    /// The memory of this process, in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("figures");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a figure");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
    }

    /// In a process of its own, so that it measures no other test.
    #[test]
    fn chats_do_not_leak() {
        let status = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", "load::memory::holds_many_chats", "--ignored", "--nocapture"])
            .status();
        assert!(status.expect("it runs").success());
    }

    /// The control is a program that keeps what happened.
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
