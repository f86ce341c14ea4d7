use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tempfile::TempDir;
use tool_sqlite::{FileKind, OpenError};

pub const NOTES: FileKind = FileKind {
    application: *b"note",
    name: "the file of notes",
    others: "not a file of notes",
    migrations: &["CREATE TABLE notes (text TEXT NOT NULL)", "ALTER TABLE notes ADD at INTEGER"],
    pragmas: &[],
    queue: Duration::from_secs(10),
};

/// A temporary directory with a file of notes.
pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn notes(&self) -> PathBuf {
        self.0.path().join("notes.db")
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub async fn refused(&self, kind: FileKind) -> OpenError {
        kind.open(self.notes()).await.map(drop).expect_err("the file is to be refused")
    }

    /// Opens a plain connection, without the checks of a kind.
    pub async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.notes()).create_if_missing(true);
        options.connect().await.unwrap()
    }

    pub async fn run(&self, sql: &'static str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Returns the application id, the version and the columns of `notes`.
    pub async fn marks(&self) -> (i32, i32, i32) {
        let marks = "SELECT application_id, user_version, (SELECT count(*) FROM pragma_table_info('notes')) \
                     FROM pragma_application_id, pragma_user_version";
        sqlx::query_as(marks).fetch_one(&mut self.connect().await).await.unwrap()
    }
}
