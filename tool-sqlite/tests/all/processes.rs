use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use sqlx::Connection;
use tool_sqlite::{OpenError, primary_code};

use crate::support::{Folder, NOTES};

const FOLDER: &str = "NOTES_FOLDER";
const FILES: u32 = 20;

/// Waits for a signal, then opens many files and writes to each.
#[test]
#[ignore = "a process that other tests start"]
fn opens_many() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for number in 0..FILES {
            let path = std::path::Path::new(&folder).join(number.to_string());
            let notes = NOTES.open(path).await.unwrap();
            sqlx::query("INSERT INTO notes VALUES ('here', 0)").execute(&notes.writer).await.unwrap();
            notes.close().await;
        }
    });
}

fn child(folder: &Folder) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::opens_many", "--ignored", "--nocapture"])
        .env(FOLDER, folder.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the child ended early");
    child
}

#[tokio::test]
async fn processes_can_create_a_file_concurrently() {
    let folder = Folder::new();
    let mut children = [(); 3].map(|()| child(&folder));
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    for number in 0..FILES {
        let notes = NOTES.open(folder.0.path().join(number.to_string())).await.unwrap();
        let written: (u32,) = sqlx::query_as("SELECT count(*) FROM notes").fetch_one(&notes.readers).await.unwrap();
        assert_eq!(written, (3,), "file {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_process_can_create_a_file_concurrently() {
    for _ in 0..5 {
        let folder = Folder::new();
        let opening = (0..8).map(|_| tokio::spawn(NOTES.open(folder.notes())));
        for opened in opening.collect::<Vec<_>>() {
            opened.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn waits_for_a_locked_file_with_a_timeout() {
    let folder = Folder::new();
    let mut holder = folder.connect().await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut holder).await.unwrap();
    let OpenError::Unread(_, error) = folder.refused(NOTES).await else { panic!("it was locked") };
    assert_eq!(primary_code(&error), Some(5), "{error}");

    let opening = tokio::spawn(NOTES.open(folder.notes()));
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!opening.is_finished(), "it is locked still");
    holder.close().await.unwrap();
    opening.await.unwrap().unwrap();
}
