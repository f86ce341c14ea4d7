//! A child process makes calls and is killed (`SIGKILL`) at random points. The effect of a call is a line in a synced
//! file, which is compared with the journal.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use tool_journal::SqliteJournal;
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry,
    JournalError, StartedCall,
};
use tool_runtime::{Dispatcher, ErrorKind, ToolCall, ToolResult, tool};

use crate::support::{Folder, child, child_task, report_ready, started, wait_until_ready};

const ROUNDS: u32 = 200;
const LANES: usize = 4;
/// Number of recent calls that a new process repeats, as a client would.
const REPEATED: usize = 8;

/// The file for the effects of calls, one per process.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Leave a line.
#[tool(name = "killed.work")]
async fn work(line: String) -> String {
    append("effects", &line);
    tokio::time::sleep(Duration::from_millis(1)).await;
    line
}

fn dispatcher(journal: impl Journal) -> Dispatcher {
    Dispatcher::builder().journal(journal).build().unwrap()
}

async fn call(tools: &Dispatcher, id: &str) -> ToolResult {
    tools.call(ToolCall::new("killed.work", json!({"line": id})).conversation("c").id(id)).await
}

#[test]
fn no_completed_call_runs_twice_and_none_is_lost() {
    let folder = Folder::new();
    for round in 0..ROUNDS {
        one_round(&folder, "SqliteJournal", round);
        assert_eq!(twice(&folder), None, "round {round}");
    }

    let effects = lines(&folder, "effects");
    let ran: HashSet<_> = effects.iter().cloned().collect();
    let returned: HashSet<_> = lines(&folder, "returned").into_iter().collect();
    FOLDER.set(folder.file("")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut completed, mut unfinished) = (0, 0);
    runtime.block_on(async {
        let journal = folder.open().await;
        for entry in journal.entries(EntryQuery::newest(u32::MAX)).await.unwrap() {
            let id = entry.id.unwrap();
            assert!(
                ran.contains(&id) || entry.state == EntryState::Unfinished,
                "{id} is {:?} and never ran",
                entry.state
            );
        }
        let tools = dispatcher(journal);
        for id in &ran {
            let result = call(&tools, id).await;
            if result.success {
                assert_eq!((&result.output, result.metadata.get("replayed")), (id, Some(&json!(true))));
                completed += 1;
            } else {
                // The call took effect and its end was not recorded, so its result was not returned either.
                assert_eq!(result.error.unwrap().kind, ErrorKind::OutcomeUnknown);
                assert!(!returned.contains(id), "{id} was answered and then forgotten");
                unfinished += 1;
            }
        }
    });
    assert_eq!(lines(&folder, "effects"), effects, "some ran again");
    assert_eq!(forgotten(&folder), None);
    assert!(returned.is_subset(&ran));
    // The test is conclusive only if calls ran and processes died during calls.
    assert!(completed > 100 && unfinished > 20, "{completed} completed, {unfinished} unfinished");
}

/// Second control: with a journal that returns before it writes, the same test finds a lost result.
#[test]
fn a_journal_that_writes_later_loses_a_result() {
    let folder = Folder::new();
    let found = (0..ROUNDS).any(|round| {
        one_round(&folder, "Later", round);
        forgotten(&folder).is_some()
    });
    assert!(found);
}

/// Finds a call whose result was returned, but which is not finished in the journal.
fn forgotten(folder: &Folder) -> Option<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let entries = runtime.block_on(async { folder.open().await.entries(EntryQuery::newest(u32::MAX)).await.unwrap() });
    let is_finished = |entry: &JournalEntry| matches!(entry.state, EntryState::Finished(_));
    let known: HashSet<_> = entries.into_iter().filter(is_finished).filter_map(|entry| entry.id).collect();
    lines(folder, "returned").into_iter().find(|id| !known.contains(id))
}

/// Control: with a journal that writes only at the end, the same test finds a call that ran twice.
#[test]
fn a_journal_that_records_at_the_end_runs_a_call_twice() {
    let folder = Folder::new();
    let found = (0..ROUNDS).any(|round| {
        one_round(&folder, "AtTheEnd", round);
        twice(&folder).is_some()
    });
    assert!(found);
}

/// Starts a process that runs calls, and kills it after a while; one in four while it opens the journal.
fn one_round(folder: &Folder, journal: &str, round: u32) {
    let next = lines(folder, "effects").iter().filter_map(|id| id.parse::<usize>().ok()).max().map_or(0, |id| id + 1);
    let first = next.saturating_sub(REPEATED);
    let mut child = child("killed::runs_calls_until_killed", folder, &format!("{journal} {first}"));
    if !round.is_multiple_of(4) {
        wait_until_ready(&mut child);
    }
    // A sequence without a pattern that matters; the machine adds its own randomness.
    let spread = u64::from(round.wrapping_mul(2_654_435_761) >> 16) % 60_000;
    sleep(Duration::from_micros(spread));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!words.contains("panicked"), "round {round}: {words}");
}

/// Finds a call that took effect more than once.
fn twice(folder: &Folder) -> Option<String> {
    let mut times = HashMap::new();
    lines(folder, "effects").into_iter().find(|id| {
        let times: &mut u32 = times.entry(id.clone()).or_default();
        *times += 1;
        *times > 1
    })
}

fn lines(folder: &Folder, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.file(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "a process that other tests start"]
fn runs_calls_until_killed() {
    let Some((folder, task)) = child_task() else { return };
    let (journal, first) = task.split_once(' ').unwrap();
    let first: usize = first.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let sqlite = SqliteJournal::open(folder.join("calls.db")).await.unwrap();
        FOLDER.set(folder).unwrap();
        let tools = match journal {
            "AtTheEnd" => dispatcher(AtTheEnd(sqlite)),
            "Later" => dispatcher(Later(sqlite)),
            _ => dispatcher(sqlite),
        };
        report_ready();
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| {
                let tools = tools.clone();
                tokio::spawn(async move {
                    for id in (first + lane..).step_by(LANES).map(|id| id.to_string()) {
                        if call(&tools, &id).await.success {
                            append("returned", &id);
                        }
                    }
                })
            })
            .collect();
        for lane in lanes {
            lane.await.unwrap();
        }
    });
}

fn append(name: &str, line: &str) {
    let folder: &Path = FOLDER.get().unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(folder.join(name)).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    file.sync_data().unwrap();
}

/// Knows completed calls, but not those that have only started.
struct AtTheEnd(SqliteJournal);

impl Journal for AtTheEnd {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        Box::pin(async {
            let entries = self.0.entries(EntryQuery::newest(u32::MAX)).await?;
            let same = entries.into_iter().find(|entry| entry.id.as_deref() == call.key.id());
            Ok(match same.map(|entry| entry.state) {
                Some(EntryState::Finished(finished)) => CallStatus::Completed(Box::new(finished.result)),
                _ => CallStatus::New,
            })
        })
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async {
            let mut call = started("c", key.id().unwrap());
            call.key = key.clone();
            // Not new: a run before this one was killed between these two.
            if self.0.begin(&call).await? != CallStatus::New {
                return Ok(());
            }
            self.0.finish(key, finished).await
        })
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.0.entries(query)
    }
}

/// Reports an outcome as recorded before it writes it.
struct Later(SqliteJournal);

impl Journal for Later {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        self.0.begin(call)
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        let (journal, key, finished) = (self.0.clone(), key.clone(), finished.clone());
        tokio::spawn(async move { journal.finish(&key, &finished).await });
        Box::pin(async { Ok(()) })
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.0.entries(query)
    }
}
