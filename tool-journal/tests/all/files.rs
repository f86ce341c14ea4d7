use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tool_journal::SqliteJournal;
use tool_runtime::journal::{CallStatus, EntryQuery, Journal, JournalError, JournalErrorKind};

use crate::support::{Folder, finished, started};

async fn refused(folder: &Folder) -> JournalError {
    SqliteJournal::open(folder.journal()).await.expect_err("the file is to be refused")
}

async fn run(folder: &Folder, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(folder.journal()).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_newer_version_is_refused() {
    let folder = Folder::new();
    folder.open().await.close().await;
    run(&folder, "PRAGMA user_version = 99").await;
    let error = refused(&folder).await;
    assert_eq!(error.kind(), JournalErrorKind::Incompatible);
    assert!(error.to_string().contains("version 99") && error.to_string().contains("newer release"), "{error}");
}

#[tokio::test]
async fn application_id_and_version_are_stable() {
    let folder = Folder::new();
    folder.open().await.close().await;
    let file = std::fs::read(folder.journal()).unwrap();
    assert_eq!((&file[68..72], file[63]), (&b"tljr"[..], 2));
}

/// Entries of an older release are kept, and new columns have their defaults.
#[tokio::test]
async fn migrates_a_file_of_version_one() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let call = started("c", "1");
    journal.begin(&call).await.unwrap();
    journal.finish(&call.key, &finished("done")).await.unwrap();
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    journal.close().await;
    // The schema of the first version.
    run(
        &folder,
        "DROP INDEX runs_by_identity; ALTER TABLE outcomes DROP COLUMN started; PRAGMA user_version = 1; \
         CREATE UNIQUE INDEX runs_by_identity ON calls (conversation, id, fingerprint) WHERE run IS NOT NULL",
    )
    .await;

    let journal = folder.open().await;
    assert_eq!(journal.entries(EntryQuery::newest(10)).await.unwrap(), entries);
    assert!(matches!(journal.begin(&started("c", "1")).await.unwrap(), CallStatus::Completed(_)));
    for _ in 0..2 {
        let again = started("c", "2");
        assert_eq!(journal.begin(&again).await.unwrap(), CallStatus::New);
        journal.finish(&again.key, &finished("").started(false)).await.unwrap();
    }
}

#[tokio::test]
async fn another_programs_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    run(&folder, "CREATE TABLE customers (name TEXT)").await;
    let before = std::fs::read(folder.journal()).unwrap();
    let error = refused(&folder).await;
    assert_eq!(error.kind(), JournalErrorKind::Incompatible);
    assert!(error.to_string().contains("not a journal of calls"), "{error}");
    assert!(std::fs::read(folder.journal()).unwrap() == before && folder.names() == ["calls.db"]);
}

#[tokio::test]
async fn refuses_a_file_that_is_not_a_database() {
    let folder = Folder::new();
    std::fs::write(folder.journal(), "not a database\n".repeat(1000)).unwrap();
    let error = refused(&folder).await;
    assert_eq!(error.kind(), JournalErrorKind::Damaged);
    assert!(error.to_string().contains("restore it from a backup"), "{error}");
}

#[tokio::test]
async fn reports_a_damaged_journal() {
    let folder = Folder::new();
    let journal = folder.open().await;
    for id in 0..100 {
        journal.begin(&started("c", &id.to_string())).await.unwrap();
    }
    journal.close().await;
    let mut bytes = std::fs::read(folder.journal()).unwrap();
    bytes[4096..].fill(0xab);
    std::fs::write(folder.journal(), bytes).unwrap();

    // Depending on what SQLite reads first, the damage shows at once or at the first call.
    let error = match SqliteJournal::open(folder.journal()).await {
        Err(error) => error,
        Ok(journal) => journal.begin(&started("c", "new")).await.expect_err("the tables are gone"),
    };
    assert_eq!(error.kind(), JournalErrorKind::Damaged, "{error}");
}

#[tokio::test]
async fn entries_cannot_be_changed() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let call = started("c", "1");
    journal.begin(&call).await.unwrap();
    journal.finish(&call.key, &finished("")).await.unwrap();
    journal.close().await;
    let mut connection = SqliteConnectOptions::new().filename(folder.journal()).connect().await.unwrap();
    for change in ["UPDATE calls SET tool = 'x'", "UPDATE outcomes SET result = '{}'"] {
        let error = sqlx::query(change).execute(&mut connection).await.unwrap_err();
        assert!(error.to_string().contains("is not changed"), "{error}");
    }
}

#[tokio::test]
async fn names_a_missing_directory() {
    let folder = Folder::new();
    let error = SqliteJournal::open(folder.file("nowhere/calls.db")).await.unwrap_err();
    assert_eq!(error.kind(), JournalErrorKind::Unavailable);
    assert!(error.to_string().contains("nowhere/calls.db"), "{error}");
}

/// As on a full disk: the error names the failed action, and the call has not begun.
#[tokio::test]
async fn a_call_that_could_not_be_written_has_not_begun() {
    let folder = Folder::new();
    let journal = folder.open().await;
    run(&folder, "CREATE TRIGGER full BEFORE INSERT ON calls BEGIN SELECT RAISE(ABORT, 'disk full'); END").await;
    let error = journal.begin(&started("c", "1")).await.unwrap_err();
    assert_eq!(error.kind(), JournalErrorKind::Unavailable);
    assert!(error.to_string().contains("record the start of a call"), "{error}");
    run(&folder, "DROP TRIGGER full").await;
    assert_eq!(journal.begin(&started("c", "1")).await.unwrap(), CallStatus::New);
}

/// The call has ended, but its outcome is unknown.
#[tokio::test]
async fn a_call_whose_outcome_could_not_be_written_is_unfinished() {
    let folder = Folder::new();
    let journal = folder.open().await;
    run(&folder, "CREATE TRIGGER full BEFORE INSERT ON outcomes BEGIN SELECT RAISE(ABORT, 'disk full'); END").await;
    let call = started("c", "1");
    journal.begin(&call).await.unwrap();
    let error = journal.finish(&call.key, &finished("")).await.unwrap_err();
    assert!(error.to_string().contains("record the outcome"), "{error}");
    assert_eq!(journal.begin(&started("c", "1")).await.unwrap(), CallStatus::Unfinished);
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let journal = folder.open().await;
    journal.begin(&started("c", "1")).await.unwrap();
    for name in folder.names().iter() {
        let mode = std::fs::metadata(folder.file(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} has {mode:o}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_openings_can_create_the_file() {
    for _ in 0..5 {
        let folder = Folder::new();
        let open = |_| {
            let path = folder.journal();
            tokio::spawn(async move { SqliteJournal::open(path).await })
        };
        let mut open_ones = Vec::new();
        for task in (0..8).map(open).collect::<Vec<_>>() {
            open_ones.push(task.await.unwrap().unwrap());
        }
        assert_eq!(folder.names().iter().filter(|name| name.contains("-open-")).count(), 8);
    }
}
