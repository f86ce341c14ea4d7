use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_journal::SqliteJournal;
use tool_runtime::journal::{CallStatus, EntryQuery, EntryState, Journal, JournalDecision, StartedCall, testing};
use tool_runtime::manifest::Argument;
use tool_runtime::{Dispatcher, Manifest, RuntimeTool, ToolCall, ToolDefinition};

use crate::support::{Folder, finished, result, started};

#[tokio::test(flavor = "multi_thread")]
async fn passes_the_conformance_tests_of_journals() {
    let (folder, count) = (Folder::new(), AtomicUsize::new(0));
    testing::check(async || {
        let name = format!("{}.db", count.fetch_add(1, Ordering::Relaxed));
        SqliteJournal::open(folder.file(&name)).await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn a_completed_call_is_known_after_reopening() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let call = started("c", "1").decision("policy").repairs(json!(["a"]));
    assert_eq!(journal.begin(&call).await.unwrap(), CallStatus::New);
    journal.finish(&call.key, &finished("done")).await.unwrap();
    let before = journal.entries(EntryQuery::newest(10)).await.unwrap();
    journal.close().await;

    let journal = folder.open().await;
    let again = journal.begin(&started("c", "1")).await.unwrap();
    assert_eq!(again, CallStatus::Completed(Box::new(result("done"))));
    assert_eq!(journal.entries(EntryQuery::newest(10)).await.unwrap(), before);
    assert_eq!(before.len(), 1);
}

#[tokio::test]
async fn a_call_that_never_finished_is_unfinished_after_reopening() {
    let folder = Folder::new();
    let journal = folder.open().await;
    journal.begin(&started("c", "1")).await.unwrap();
    journal.close().await;

    let journal = folder.open().await;
    assert_eq!(journal.begin(&started("c", "1")).await.unwrap(), CallStatus::Unfinished);
    assert_eq!(journal.begin(&started("c", "1")).await.unwrap(), CallStatus::Unfinished, "asking changes nothing");
    assert_eq!(journal.entries(EntryQuery::newest(1)).await.unwrap()[0].state, EntryState::Unfinished);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_begins_is_new() {
    let folder = Folder::new();
    // Two openings behave like two processes.
    let journals = [folder.open().await, folder.open().await];
    for round in 0..10 {
        let begin = |task: usize| {
            let journal = journals[task % 2].clone();
            tokio::spawn(async move { journal.begin(&started("c", &round.to_string())).await.unwrap() })
        };
        let mut answers = Vec::new();
        for task in (0..20).map(begin).collect::<Vec<_>>() {
            answers.push(task.await.unwrap());
        }
        assert_eq!(answers.iter().filter(|&answer| *answer == CallStatus::New).count(), 1);
        assert_eq!(answers.iter().filter(|&answer| *answer == CallStatus::Running).count(), 19);
    }
}

/// A caller that is dropped while it waits for the journal must not leave a call that runs forever.
#[tokio::test]
async fn a_dropped_begin_does_not_run() {
    let folder = Folder::new();
    let journal = folder.open().await;
    for (wait, id) in (0..30).map(|wait| (Duration::from_micros(wait * 100), wait.to_string())) {
        drop(tokio::time::timeout(wait, journal.begin(&started("c", &id))).await);
    }
    for entry in journal.entries(EntryQuery::newest(100)).await.unwrap() {
        let begun = journal.begin(&started("c", entry.id.as_deref().unwrap())).await.unwrap();
        let expected = if entry.state == EntryState::Running { CallStatus::Running } else { CallStatus::Unfinished };
        assert_eq!(begun, expected);
    }
}

#[tokio::test]
async fn pruning_keeps_new_and_running_calls() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let aged = |id: &str| {
        let mut call = started("c", id);
        call.at -= Duration::from_secs(1000);
        call
    };
    let (done, running, new) = (aged("done"), aged("running"), started("c", "new"));
    for call in [&done, &running, &new] {
        journal.begin(call).await.unwrap();
    }
    journal.finish(&done.key, &finished("")).await.unwrap();
    journal.note(&aged("noted"), &JournalDecision::Refused).await.unwrap();
    let other = folder.open().await;
    other.begin(&aged("lost")).await.unwrap();
    other.close().await;

    assert_eq!(journal.prune(Duration::from_secs(500)).await.unwrap(), 3);
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["new", "running"]);
    assert_eq!(journal.begin(&done).await.unwrap(), CallStatus::New);
}

#[tokio::test]
async fn a_call_without_an_entry_has_not_begun_unless_entries_were_pruned() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let state = async |journal: &SqliteJournal, id: &str| journal.state_of("c", id).await.unwrap();
    assert_eq!(state(&journal, "1").await, Some(EntryState::Noted));
    journal.note(&started("c", "1"), &JournalDecision::Pending).await.unwrap();
    assert_eq!(state(&journal, "1").await, Some(EntryState::Noted));
    let (done, lost) = (started("c", "1"), started("c", "2"));
    journal.begin(&done).await.unwrap();
    journal.begin(&lost).await.unwrap();
    journal.begin(&started("c", "2")).await.unwrap();
    assert_eq!(state(&journal, "2").await, Some(EntryState::Running));
    journal.finish(&done.key, &finished("done")).await.unwrap();
    journal.close().await;

    let journal = folder.open().await;
    assert_eq!(state(&journal, "1").await, Some(EntryState::Finished(finished("done"))));
    assert_eq!(state(&journal, "2").await, Some(EntryState::Unfinished));
    assert_eq!(state(&journal, "3").await, Some(EntryState::Noted));
    journal.prune(Duration::ZERO).await.unwrap();
    for id in ["1", "2", "3"] {
        assert_eq!(state(&journal, id).await, None, "it is unknown whether {id} was removed");
    }
}

/// Clients use the identity to check that a journal is the one that their calls are in.
#[tokio::test]
async fn a_new_file_has_another_identity() {
    let folder = Folder::new();
    let (journal, beside) = (folder.open().await, folder.open().await);
    let before = journal.identity().unwrap().to_owned();
    assert_eq!(beside.identity(), Some(&*before));
    journal.prune(Duration::ZERO).await.unwrap();
    journal.close().await;
    beside.close().await;
    let journal = folder.open().await;
    assert_eq!(journal.identity(), Some(&*before), "it is the same file");
    journal.close().await;
    folder.names().iter().for_each(|name| std::fs::remove_file(folder.file(name)).unwrap());
    assert_ne!(folder.open().await.identity(), Some(&*before));
}

#[tokio::test]
async fn reports_other_live_openings() {
    let folder = Folder::new();
    let (journal, beside) = (folder.open().await, folder.open().await);
    let (ours, theirs) = (journal.opening().unwrap(), beside.opening().unwrap());
    assert!(journal.is_open_elsewhere(theirs) && beside.is_open_elsewhere(ours));
    assert!(!journal.is_open_elsewhere(ours), "that is here");
    assert!(!journal.is_open_elsewhere(theirs + 1), "it does not exist yet");
    drop(beside);
    assert!(!journal.is_open_elsewhere(theirs), "they are gone");
}

#[tokio::test]
async fn secrets_are_not_in_the_files() {
    let mut definition = ToolDefinition::default();
    let mut secret = Argument::new("string", true);
    secret.keywords.insert("writeOnly".into(), true.into());
    definition.arguments.insert("password".into(), secret);
    definition.arguments.insert("user".into(), Argument::new("string", true));
    let arguments = json!({"user": "ann-the-user", "password": "hunter2-the-secret"});

    let folder = Folder::new();
    let journal = folder.open().await;
    let call = ToolCall::new("login", arguments.clone()).conversation("c").id("1");
    let call = StartedCall::new(&call, &definition, &arguments);
    journal.begin(&call).await.unwrap();
    journal.finish(&call.key, &finished("ok")).await.unwrap();
    journal.note(&call, &"noted".into()).await.unwrap();

    let holds = |needle: &str| {
        let bytes = folder.names().into_iter().flat_map(|name| std::fs::read(folder.file(&name)).unwrap());
        bytes.collect::<Vec<_>>().windows(needle.len()).any(|window| window == needle.as_bytes())
    };
    assert!(holds("ann-the-user"), "the control");
    assert!(!holds("hunter2-the-secret"));
    journal.close().await;
    assert!(holds("ann-the-user") && !holds("hunter2-the-secret"));
}

/// The handler receives the secret under an unknown name; the file must not.
#[tokio::test]
async fn secrets_under_other_names_are_not_in_the_files() {
    let account = json!({"type": "object", "properties": {
        "user": {"type": "string"}, "key": {"type": "string", "writeOnly": true},
    }});
    let schema = json!({"type": "object", "properties": {
        "login": {"type": "object", "properties": {"account": account}},
    }});
    let login = RuntimeTool::from_schema("login", "", &schema, |arguments, _| async move {
        arguments["login"]["acct"]["key"].as_str().map_or(0, str::len).to_string()
    });
    let folder = Folder::new();
    let journal = folder.open().await;
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(login).journal(journal.clone());
    let account = json!({"user": "ann-the-user", "key": "hunter2-the-secret"});
    let arguments = json!({"login": {"account": {"user": "bob-the-user"}, "acct": account}});
    let call = ToolCall::new("login", arguments).conversation("c").id("1");
    assert_eq!(tools.build().unwrap().call(call).await.output, "18");

    journal.close().await;
    let bytes: Vec<u8> = folder.names().iter().flat_map(|name| std::fs::read(folder.file(name)).unwrap()).collect();
    let holds = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(holds("bob-the-user"), "the control");
    assert!(!holds("hunter2-the-secret"));
}
