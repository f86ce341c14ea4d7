use std::time::{Duration, SystemTime};

use serde_json::json;
use tool_journal::SqliteJournal;
use tool_runtime::confirm::{PendingStore, SealedCall};
use tool_runtime::journal::testing::started;
use tool_runtime::journal::{CallStatus, Journal, JournalErrorKind};
use tool_sqlite::testing::{SmallDisk, on_small_disk};

use crate::support::finished;

#[test]
fn recovers_once_a_full_disk_has_space_again() {
    on_small_disk("full_disk::fills_the_disk", 4);
}

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn fills_the_disk() {
    let Some(disk) = SmallDisk::mounted() else { return };
    let journal = SqliteJournal::open(disk.path().join("calls.db")).await.unwrap();
    let long = "x".repeat(100_000);
    let call = |id: &str| started("c", id, json!({"text": long}));
    let expires = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
    let pending = |id: &str| SealedCall::new(id, Some("c".to_owned()), expires, long.clone());

    let running = call("running");
    assert_eq!(journal.begin(&running).await.unwrap(), CallStatus::New);
    disk.fill();
    for round in 0..3 {
        let error = journal.begin(&call("refused")).await.unwrap_err();
        assert_eq!(error.kind(), JournalErrorKind::Unavailable);
        assert!(
            error.to_string().contains("full") && error.to_string().contains("free disk space"),
            "{round}: {error}"
        );
        let error = journal.put(pending("refused")).await.unwrap_err();
        assert!(error.to_string().contains("full"), "{round}: {error}");
    }
    assert!(journal.finish(&running.key, &finished(&long)).await.is_err(), "its outcome is as long");

    disk.free();
    assert_eq!(
        journal.begin(&call("running")).await.unwrap(),
        CallStatus::Unfinished,
        "it began, and its outcome is lost"
    );
    let again = call("refused");
    assert_eq!(journal.begin(&again).await.unwrap(), CallStatus::New, "it had not begun");
    journal.finish(&again.key, &finished("done")).await.unwrap();
    assert!(matches!(journal.begin(&again).await.unwrap(), CallStatus::Completed(result) if result.output == "done"));
    journal.put(pending("kept")).await.unwrap();
    let waiting: Vec<String> = journal.list("c").await.unwrap().into_iter().map(|call| call.id).collect();
    assert_eq!(waiting, ["kept"]);
    assert_eq!(journal.take("kept").await.unwrap().map(|call| call.sealed), Some(long));
    journal.close().await;
}
