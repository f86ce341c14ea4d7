use console::store::Store;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

/// An older file has a version but no mark. The file then gets a newer version.
#[tokio::test]
async fn opens_an_older_file_and_refuses_a_newer_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("console.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    for statement in [include_str!("../../src/store/1.sql"), "PRAGMA user_version = 1", "PRAGMA user_version = 2"] {
        let mut connection = options.connect().await.expect("a connection");
        sqlx::raw_sql(statement).execute(&mut connection).await.expect("it is written");
        connection.close().await.expect("it is closed");
        match (statement, Store::open(&path).await) {
            ("PRAGMA user_version = 1", opened) => opened.expect("it is one of the console").close().await,
            ("PRAGMA user_version = 2", refused) => {
                let error = refused.expect_err("it is newer").to_string();
                assert!(error.contains("version 2") && error.contains("up to 1; use the newer release"), "{error}");
            }
            (_, refused) => {
                let error = refused.expect_err("it has no version").to_string();
                assert!(error.contains("not one of the console"), "{error}");
            }
        }
    }
}
