use tool_sqlite::{FileKind, OpenError};

use crate::support::{Folder, NOTES};

const MARK: i32 = 0x6e6f_7465;

#[tokio::test]
async fn migrates_an_older_file() {
    let folder = Folder::new();
    let older = FileKind { migrations: &NOTES.migrations[..1], ..NOTES };
    let notes = older.open(folder.notes()).await.unwrap();
    sqlx::query("INSERT INTO notes VALUES ('old')").execute(&notes.writer).await.unwrap();
    notes.close().await;
    assert_eq!(folder.marks().await, (MARK, 1, 1));

    let notes = NOTES.open(folder.notes()).await.unwrap();
    let kept: (String, Option<i64>) = sqlx::query_as("SELECT * FROM notes").fetch_one(&notes.readers).await.unwrap();
    assert_eq!(kept, ("old".to_owned(), None));
    assert_eq!(folder.marks().await, (MARK, 2, 2));
    let error = sqlx::query("DELETE FROM notes").execute(&notes.readers).await.unwrap_err();
    assert!(error.to_string().contains("readonly"), "{error}");
}

#[tokio::test]
async fn migrations_are_atomic() {
    let folder = Folder::new();
    let broken =
        FileKind { migrations: &["CREATE TABLE notes (text TEXT)", "ALTER TABLE nothing ADD at INTEGER"], ..NOTES };
    let error = folder.refused(broken).await;
    assert!(matches!(error, OpenError::Unwritten("create its tables", _)), "{error:?}");
    assert_eq!(folder.marks().await, (0, 0, 0));
    NOTES.open(folder.notes()).await.unwrap();
    assert_eq!(folder.marks().await, (MARK, 2, 2));
}

#[tokio::test]
async fn supports_kinds_without_a_mark_and_with_pragmas() {
    let folder = Folder::new();
    let kind = FileKind { application: [0; 4], pragmas: &[("synchronous", "NORMAL")], ..NOTES };
    for _ in 0..2 {
        let notes = kind.open(folder.notes()).await.unwrap();
        let setting: (i32,) = sqlx::query_as("PRAGMA synchronous").fetch_one(&notes.writer).await.unwrap();
        assert_eq!(setting, (1,));
        notes.close().await;
    }
    assert_eq!(folder.marks().await, (0, 2, 2));

    let notes = FileKind { migrations: &[], ..NOTES }.open(folder.0.path().join("other.db")).await.unwrap();
    let setting: (i32,) = sqlx::query_as("PRAGMA synchronous").fetch_one(&notes.writer).await.unwrap();
    assert_eq!(setting, (2,), "a commit waits for the disk otherwise");
}
