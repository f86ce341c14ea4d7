use tool_sqlite::{FileKind, OpenError, primary_code};

use crate::support::{Folder, NOTES};

#[tokio::test]
async fn refuses_a_newer_file() {
    let folder = Folder::new();
    NOTES.open(folder.notes()).await.unwrap().close().await;
    folder.run("PRAGMA user_version = 3").await;
    let error = folder.refused(NOTES).await;
    assert!(matches!(error, OpenError::Incompatible(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the file of notes has version 3, but this program supports versions up to 2; use the newer release that wrote it, \
         or open another file"
    );
}

#[tokio::test]
async fn another_programs_file_is_refused_and_left_alone() {
    let unmarked = FileKind { application: [0; 4], ..NOTES };
    for (theirs, kind) in [
        ("CREATE TABLE customers (name TEXT)", NOTES),
        ("CREATE TABLE customers (name TEXT)", unmarked),
        ("PRAGMA user_version = 1", NOTES),
        ("PRAGMA user_version = -1", unmarked),
        ("PRAGMA application_id = 7", NOTES),
        ("PRAGMA application_id = 7; PRAGMA user_version = 1", unmarked),
    ] {
        let folder = Folder::new();
        folder.run(theirs).await;
        let before = std::fs::read(folder.notes()).unwrap();
        let error = folder.refused(kind).await;
        let words = "the file is a SQLite database, but not a file of notes; open another file";
        assert_eq!(error.to_string(), words, "{theirs}");
        assert!(std::fs::read(folder.notes()).unwrap() == before && folder.names() == ["notes.db"], "{theirs}");
    }
}

#[tokio::test]
async fn refuses_a_file_that_is_not_a_database() {
    let folder = Folder::new();
    std::fs::write(folder.notes(), "not a database\n".repeat(1000)).unwrap();
    let OpenError::Unread(_, error) = folder.refused(NOTES).await else { panic!("it was read") };
    assert_eq!(primary_code(&error), Some(26));
}

#[tokio::test]
async fn names_a_missing_directory() {
    let folder = Folder::new();
    let path = folder.0.path().join("nowhere/notes.db");
    let error = NOTES.open(&path).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("{} cannot be opened", path.display())), "{error}");
    assert!(error.ends_with("its directory must exist and be writable"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let mode = |name: &str| std::fs::metadata(folder.0.path().join(name)).unwrap().permissions().mode() & 0o777;
    let notes = NOTES.open(folder.notes()).await.unwrap();
    assert_eq!(folder.names().len(), 3, "SQLite has made two beside it");
    for name in folder.names() {
        assert_eq!(mode(&name), 0o600, "{name}");
    }
    notes.close().await;
}
