use tool_journal::SqliteJournal;
use tool_runtime::journal::{CallStatus, EntryQuery, EntryState, Journal};

use crate::support::{Folder, child, child_task, finished, report_ready, result, started, wait_until_ready};

/// Begins two calls, finishes one, and stays.
#[test]
#[ignore = "a process that other tests start"]
fn begins_a_call_and_stays() {
    let Some((folder, _)) = child_task() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let journal = SqliteJournal::open(folder.join("calls.db")).await.unwrap();
        let done = started("c", "done");
        journal.begin(&done).await.unwrap();
        journal.finish(&done.key, &finished("by the child")).await.unwrap();
        journal.begin(&started("c", "open")).await.unwrap();
        report_ready();
        std::future::pending::<()>().await;
    });
}

#[tokio::test]
async fn a_call_is_running_while_its_process_is_alive() {
    let folder = Folder::new();
    let mut child = child("processes::begins_a_call_and_stays", &folder, "stay");
    wait_until_ready(&mut child);

    let journal = folder.open().await;
    assert_eq!(journal.begin(&started("c", "open")).await.unwrap(), CallStatus::Running);
    assert_eq!(journal.entries(EntryQuery::newest(1)).await.unwrap()[0].state, EntryState::Running);
    let done = journal.begin(&started("c", "done")).await.unwrap();
    assert_eq!(done, CallStatus::Completed(Box::new(result("by the child"))));

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(journal.begin(&started("c", "open")).await.unwrap(), CallStatus::Unfinished);
    assert_eq!(journal.entries(EntryQuery::newest(1)).await.unwrap()[0].state, EntryState::Unfinished);

    let locks = || folder.names().into_iter().filter(|name| name.contains("-open-")).count();
    assert_eq!(locks(), 2, "that of the child is still there");
    let another = folder.open().await;
    assert_eq!(locks(), 2, "and is removed by the next opening");
    drop((another, journal));
}

/// The lock files are beside the file itself, not beside a link to it.
#[cfg(unix)]
#[tokio::test]
async fn a_symlink_opens_the_same_journal() {
    let folder = Folder::new();
    let journal = folder.open().await;
    journal.begin(&started("c", "1")).await.unwrap();
    std::fs::create_dir(folder.file("links")).unwrap();
    std::os::unix::fs::symlink(folder.journal(), folder.file("links/calls.db")).unwrap();
    let linked = SqliteJournal::open(folder.file("links/calls.db")).await.unwrap();
    assert_eq!(linked.begin(&started("c", "1")).await.unwrap(), CallStatus::Running);
}
