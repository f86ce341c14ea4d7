use std::time::Duration;

use serde_json::json;
use tool_model::{Argument, ToolDefinition};

use super::*;
use crate::journal::testing::{finished, started};
use crate::{ToolCall, ToolResult};

async fn run(journal: &MemoryJournal, id: &str) {
    let call = started("c", id, json!({}));
    assert_eq!(journal.begin(&call).await.unwrap(), CallStatus::New);
    journal.finish(&call.key, &finished(id)).await.unwrap();
}

async fn ids(journal: &MemoryJournal) -> Vec<String> {
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    entries.into_iter().map(|entry| entry.id.unwrap()).collect()
}

#[tokio::test]
async fn forgets_the_oldest_calls_that_are_not_running() {
    let journal = MemoryJournal::keeping(2);
    let running = started("c", "running", json!({}));
    journal.begin(&running).await.unwrap();
    for id in ["1", "2", "3"] {
        run(&journal, id).await;
    }
    assert_eq!(ids(&journal).await, ["3", "running"]);
    assert_eq!(journal.begin(&running).await.unwrap(), CallStatus::Running);
    assert_eq!(journal.begin(&started("c", "1", json!({}))).await.unwrap(), CallStatus::New);
}

/// A few long results must not take all memory.
#[tokio::test]
async fn forgets_the_oldest_calls_beyond_the_size_limit() {
    let long = |letter: &str| FinishedCall::new(ToolResult::success(letter.repeat(40_000)), Duration::ZERO);
    let journal = MemoryJournal::new().max_bytes(100_000);
    let running = started("c", "running", json!({"text": "x".repeat(10_000)}));
    journal.begin(&running).await.unwrap();
    for id in ["1", "2", "3"] {
        let call = started("c", id, json!({}));
        journal.begin(&call).await.unwrap();
        journal.finish(&call.key, &long(id)).await.unwrap();
    }
    assert_eq!(ids(&journal).await, ["3", "running"], "arguments count, and what runs is kept");
    assert_eq!(journal.begin(&started("c", "1", json!({}))).await.unwrap(), CallStatus::New);

    // The call that finished last is known, or it would run again.
    let whole = FinishedCall::new(ToolResult::success("x".repeat(200_000)), Duration::ZERO);
    journal.finish(&running.key, &whole).await.unwrap();
    assert_eq!(journal.begin(&running).await.unwrap(), CallStatus::Completed(Box::new(whole.result)));

    let text = json!({"text": "x".repeat(40_000)});
    for id in ["4", "5", "6"] {
        journal.note(&started("c", id, text.clone()), &JournalDecision::Refused).await.unwrap();
    }
    assert_eq!(ids(&journal).await, ["6", "5", "1", "running"], "decisions have their own room");
}

/// Or a model that is refused often enough could make a call run twice.
#[tokio::test]
async fn decisions_do_not_displace_results() {
    let journal = MemoryJournal::keeping(2);
    run(&journal, "done").await;
    for id in ["1", "2", "3"] {
        journal.note(&started("c", id, json!({})), &JournalDecision::Refused).await.unwrap();
    }
    assert_eq!(ids(&journal).await, ["3", "2", "done"]);
    let again = journal.begin(&started("c", "done", json!({}))).await.unwrap();
    assert_eq!(again, CallStatus::Completed(Box::new(finished("done").result)));
    // Nor the other way round.
    for id in ["4", "5", "6"] {
        run(&journal, id).await;
    }
    assert_eq!(ids(&journal).await, ["6", "5", "3", "2"]);
}

#[tokio::test]
async fn neither_the_entry_nor_the_key_holds_a_secret() {
    let mut definition = ToolDefinition::default();
    let mut secret = Argument::new("string", true);
    secret.keywords.insert("writeOnly".into(), true.into());
    definition.arguments.insert("password".into(), secret);
    definition.arguments.insert("user".into(), Argument::new("string", true));
    let arguments = json!({"user": "ann", "password": "hunter2"});
    let call = StartedCall::new(&ToolCall::new("login", arguments.clone()).id("1"), &definition, &arguments);
    let all = format!("{call:?}");
    assert!(all.contains("ann") && !all.contains("hunter2"), "{all}");
}

#[test]
fn an_entry_is_flat_json() {
    let entry = JournalEntry {
        sequence: 1,
        conversation: Some("c".into()),
        id: None,
        tool: "t".into(),
        arguments: json!({}),
        repairs: None,
        decision: Some("policy".into()),
        at: std::time::UNIX_EPOCH + Duration::from_millis(1500),
        state: EntryState::Finished(FinishedCall::new(ToolResult::success("ok".into()), Duration::from_micros(2500))),
    };
    assert_eq!(
        serde_json::to_value(&entry).unwrap(),
        json!({
            "sequence": 1, "conversation": "c", "id": null, "tool": "t", "arguments": {}, "repairs": null,
            "decision": "policy", "at": 1500, "state": "finished", "milliseconds": 2.5, "started": true,
            "result": {"success": true, "output": "ok", "error": null, "metadata": {}},
        })
    );
}
