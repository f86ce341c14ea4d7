use std::time::Duration;

use serde_json::{Value, json};
use tool_model::{Argument, ToolDefinition};

use super::*;
use crate::{ToolCall, ToolResult};

fn started(conversation: &str, id: &str, arguments: Value) -> Started {
    let call = ToolCall::new("notes.add", arguments.clone()).conversation(conversation).id(id);
    let mut definition = ToolDefinition::default();
    for name in arguments.as_object().into_iter().flatten().map(|(name, _)| name.clone()) {
        definition.arguments.insert(name, Argument::new("any", true));
    }
    Started::new(&call, &definition, &arguments)
}

fn finished(output: &str) -> Finished {
    Finished::new(ToolResult::success(output.to_owned()), Duration::from_millis(1))
}

#[tokio::test]
async fn a_completed_call_has_its_result() {
    let journal = MemoryJournal::new();
    let call = started("c", "1", json!({"a": 1, "b": 2}));
    assert_eq!(journal.begin(&call).await.unwrap(), Begun::New);
    assert_eq!(journal.begin(&started("c", "1", json!({"b": 2, "a": 1}))).await.unwrap(), Begun::Running);
    journal.finish(&call.key, &finished("done")).await.unwrap();
    let again = journal.begin(&started("c", "1", json!({"b": 2, "a": 1}))).await.unwrap();
    assert_eq!(again, Begun::Completed(Box::new(finished("done").result)));
    assert_eq!(journal.entries(Query::newest(10)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn another_conversation_id_or_argument_is_another_call() {
    let journal = MemoryJournal::new();
    for other in [
        started("c", "1", json!({"a": 1})),
        started("d", "1", json!({"a": 1})),
        started("c", "2", json!({"a": 1})),
        started("c", "1", json!({"a": 2})),
    ] {
        assert_eq!(journal.begin(&other).await.unwrap(), Begun::New);
    }
}

#[tokio::test]
async fn a_call_without_an_id_is_recorded_each_time() {
    let journal = MemoryJournal::new();
    let call = ToolCall::new("notes.add", json!({})).conversation("c");
    let start = || Started::new(&call, &ToolDefinition::default(), &json!({}));
    let (first, second) = (start(), start());
    assert_eq!(journal.begin(&first).await.unwrap(), Begun::New);
    assert_eq!(journal.begin(&second).await.unwrap(), Begun::New);
    journal.finish(&second.key, &finished("second")).await.unwrap();

    let entries = journal.entries(Query::newest(10)).await.unwrap();
    assert_eq!(entries[0].state, State::Finished(finished("second")));
    assert_eq!(entries[1].state, State::Running);
}

#[tokio::test]
async fn a_call_is_finished_once() {
    let journal = MemoryJournal::new();
    let call = started("c", "1", json!({}));
    let never_begun = journal.finish(&call.key, &finished("")).await.unwrap_err();
    assert_eq!(never_begun.kind(), JournalErrorKind::NotRunning);
    journal.begin(&call).await.unwrap();
    journal.finish(&call.key, &finished("first")).await.unwrap();
    journal.finish(&call.key, &finished("second")).await.unwrap_err();
    assert_eq!(journal.entries(Query::newest(1)).await.unwrap()[0].state, State::Finished(finished("first")));
}

#[tokio::test]
async fn a_note_does_not_keep_the_call_from_running() {
    let journal = MemoryJournal::new();
    let call = started("c", "1", json!({}));
    journal.note(&call, "pending").await.unwrap();
    assert_eq!(journal.begin(&call).await.unwrap(), Begun::New);
    let entries = journal.entries(Query::newest(10)).await.unwrap();
    assert_eq!((entries[1].decision.as_deref(), &entries[1].state), (Some("pending"), &State::Noted));
}

#[tokio::test]
async fn entries_come_newest_first_and_in_pages() {
    let journal = MemoryJournal::new();
    for id in ["1", "2", "3"] {
        journal.begin(&started("c", id, json!({}))).await.unwrap();
        journal.begin(&started("other", id, json!({}))).await.unwrap();
    }
    let query = || Query::newest(2).conversation("c").tool("notes.add");
    let ids = |page: &[Entry]| page.iter().map(|entry| entry.id.clone().unwrap()).collect::<Vec<_>>();
    let first = journal.entries(query()).await.unwrap();
    assert_eq!(ids(&first), ["3", "2"]);
    assert_eq!(ids(&journal.entries(query().before(first[1].sequence)).await.unwrap()), ["1"]);
    assert!(journal.entries(Query::newest(2).tool("notes.remove")).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_oldest_are_forgotten_but_not_those_that_run() {
    let journal = MemoryJournal::keeping(2);
    let running = started("c", "running", json!({}));
    journal.begin(&running).await.unwrap();
    for id in ["1", "2", "3"] {
        let call = started("c", id, json!({}));
        journal.begin(&call).await.unwrap();
        journal.finish(&call.key, &finished(id)).await.unwrap();
    }
    let entries = journal.entries(Query::newest(10)).await.unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["3", "running"]);
    assert_eq!(journal.begin(&running).await.unwrap(), Begun::Running);
    assert_eq!(journal.begin(&started("c", "1", json!({}))).await.unwrap(), Begun::New);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_one_is_new() {
    let journal = std::sync::Arc::new(MemoryJournal::new());
    let begin = |_| {
        let journal = journal.clone();
        tokio::spawn(async move { journal.begin(&started("c", "1", json!({}))).await.unwrap() })
    };
    let mut new = 0;
    for task in (0..50).map(begin).collect::<Vec<_>>() {
        new += usize::from(task.await.unwrap() == Begun::New);
    }
    assert_eq!(new, 1);
}

#[tokio::test]
async fn secrets_are_neither_in_the_entry_nor_in_the_key() {
    let mut definition = ToolDefinition::default();
    let mut secret = Argument::new("string", true);
    secret.keywords.insert("writeOnly".into(), true.into());
    definition.arguments.insert("password".into(), secret);
    definition.arguments.insert("user".into(), Argument::new("string", true));
    let arguments = json!({"user": "ann", "password": "hunter2"});
    let call = Started::new(&ToolCall::new("login", arguments.clone()).id("1"), &definition, &arguments);
    let all = format!("{call:?}");
    assert!(all.contains("ann") && !all.contains("hunter2"), "{all}");
}

#[test]
fn an_entry_is_flat_json() {
    let entry = Entry {
        sequence: 1,
        conversation: Some("c".into()),
        id: None,
        tool: "t".into(),
        arguments: json!({}),
        repairs: None,
        decision: Some("policy".into()),
        at: std::time::UNIX_EPOCH + Duration::from_millis(1500),
        state: State::Finished(Finished::new(ToolResult::success("ok".into()), Duration::from_micros(2500))),
    };
    assert_eq!(
        serde_json::to_value(&entry).unwrap(),
        json!({
            "sequence": 1, "conversation": "c", "id": null, "tool": "t", "arguments": {}, "repairs": null,
            "decision": "policy", "at": 1500, "state": "finished", "milliseconds": 2.5,
            "result": {"success": true, "output": "ok", "error": null, "metadata": {}},
        })
    );
}
