//! Three workers under load, one of which is killed every second, for `NATS_KILL_SECONDS` (default: ten). The effect of
//! a call is a line in a file. The test compares results, the file and the journal.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tool_journal::SqliteJournal;
use tool_nats::async_nats;
use tool_runtime::journal::{EntryQuery, EntryState, Journal};
use tool_runtime::{ErrorKind, ToolCall, ToolResult};

use crate::support::{Caller, Child, Effects, Task, connect, kind, server, until};

const LANES: usize = 24;

fn duration() -> Duration {
    let seconds = std::env::var("NATS_KILL_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(10))
}

/// Counts the final replies to each call.
async fn spy(client: &async_nats::Client) -> Arc<Mutex<HashMap<String, u32>>> {
    let answers = Arc::new(Mutex::new(HashMap::new()));
    let counted = answers.clone();
    let mut inboxes = client.subscribe("_INBOX.*.*").await.unwrap();
    client.flush().await.unwrap();
    tokio::spawn(async move {
        while let Some(message) = inboxes.next().await {
            let tag = message.headers.as_ref().and_then(|headers| headers.get("Tool-Answer"));
            if tag.is_none_or(|tag| tag.as_str() == "result") && message.status.is_none() {
                *counted.lock().unwrap().entry(message.subject.to_string()).or_default() += 1;
            }
        }
    });
    answers
}

/// Makes calls until the time is up, and returns their results.
async fn lane(caller: Arc<Caller>, lane: usize, end: Instant) -> Vec<(String, ToolResult)> {
    let mut answers = Vec::new();
    for number in 0.. {
        if Instant::now() > end {
            break;
        }
        let line = format!("{lane}-{number}");
        let call = ToolCall::new("effect.leave", json!({"line": line, "milliseconds": 20 + lane as u64 * 5}));
        let result = caller.tools.call(call.conversation("c").id(line.clone())).timeout(Duration::from_secs(30)).await;
        if kind(&result) == Some(ErrorKind::Unavailable) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        answers.push((line, result));
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_has_one_result_that_matches_its_effect() {
    let server = server!();
    let folder = server.folder.path().to_owned();
    let task = Task { url: server.url(), folder: folder.clone(), ..Task::default() };
    let start = || {
        let task = task.clone();
        tokio::task::spawn_blocking(move || Child::start(&task))
    };
    let mut workers = VecDeque::new();
    for _ in 0..3 {
        workers.push_back(start().await.unwrap());
    }
    let client = connect(&server.url()).await;
    let spied = spy(&client).await;
    let caller = Arc::new(Caller::new(client).await);
    until("three workers serve", async || caller.remote.workers().len() == 3).await;

    let end = Instant::now() + duration();
    let lanes: Vec<_> = (0..LANES).map(|number| tokio::spawn(lane(caller.clone(), number, end))).collect();
    let mut kills = 0;
    let mut starting: Option<JoinHandle<Child>> = None;
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    seconds.tick().await;
    while Instant::now() < end {
        seconds.tick().await;
        // The oldest one; a replacement is started, and serves before the next is killed.
        if let Some(started) = starting.take() {
            workers.push_back(started.await.unwrap());
        }
        workers.pop_front().unwrap().kill();
        starting = Some(start());
        kills += 1;
    }
    let mut answers = Vec::new();
    for lane in lanes {
        answers.extend(lane.await.unwrap());
    }
    if let Some(started) = starting {
        workers.push_back(started.await.unwrap());
    }
    drop(workers);

    let effects = Effects::new(&folder).lines();
    let count = |line: &str| effects.iter().filter(|effect| *effect == line).count();
    let ran: HashSet<&String> = effects.iter().collect();
    assert_eq!(ran.len(), effects.len(), "a call ran twice");
    let journal = SqliteJournal::open(folder.join("calls.db")).await.unwrap();
    let mut recorded: HashMap<String, Vec<EntryState>> = HashMap::new();
    for entry in journal.entries(EntryQuery::newest(u32::MAX)).await.unwrap() {
        recorded.entry(entry.id.unwrap()).or_default().push(entry.state);
    }
    let mut kinds: HashMap<&str, usize> = HashMap::new();
    for (line, result) in &answers {
        let states = recorded.get(line).map_or(&[][..], Vec::as_slice);
        match kind(result) {
            None => {
                assert_eq!((&result.output, count(&format!("{line} done"))), (line, 1));
                assert!(matches!(states, [EntryState::Finished(_)]), "{line}: {states:?}");
            }
            Some(ErrorKind::Unavailable) => assert!(states.is_empty() && count(line) == 0, "{line}: {states:?}"),
            Some(ErrorKind::OutcomeUnknown) => assert!(states.len() <= 1, "{line}: {states:?}"),
            other => panic!("{line}: {other:?} {result:?}"),
        }
        *kinds.entry(kind(result).map_or("done", ErrorKind::as_str)).or_default() += 1;
    }
    let done = kinds.get("done").copied().unwrap_or_default();
    until("the spy has heard every answer", async || spied.lock().unwrap().len() >= done).await;
    let twice: Vec<_> =
        spied.lock().unwrap().iter().filter(|(_, count)| **count > 1).map(|(to, _)| to.clone()).collect();
    assert!(twice.is_empty(), "two final replies: {twice:?}");
    eprintln!("{kills} kills, {} calls: {kinds:?}", answers.len());
    // The test is meaningful only if calls succeeded and workers died in the middle of calls.
    let unknown = kinds.get("outcome_unknown").copied().unwrap_or_default();
    assert!(done > 50 && unknown > 0, "{kinds:?}");
    // One per second, less the time that a busy machine needs to start another.
    assert!(kills * 2 >= duration().as_secs(), "{kills} kills");
}
