//! Helpers for tests of stores that run out of disk space.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with which [`on_small_disk`] passes the mount point to the process that it starts.
const MOUNT: &str = "TOOL_SQLITE_SMALL_DISK";

/// Runs an ignored test of the same binary in a new process with its own file system of `megabytes`, which the test finds
/// with [`SmallDisk::mounted`]. Prints that the test was skipped if such a file system cannot be mounted, which needs
/// Linux, `unshare` and a user namespace.
///
/// # Panics
/// If the test fails, or the mount point cannot be created.
pub fn on_small_disk(test: &str, megabytes: u32) {
    let script = r#"mount -t tmpfs -o size="$0" tmpfs "$1" && echo mounted && shift && exec "$@""#;
    let binary = std::env::current_exe().expect("the path of this binary");
    let name = format!("small-disk-{}-{}", std::process::id(), test.replace("::", "-"));
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir(&directory).expect("create the mount point");
    // The mount is visible to the new process only.
    let ended = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, &format!("{megabytes}m")])
        .args([&directory, &binary])
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(MOUNT, &directory)
        .output();
    std::fs::remove_dir(&directory).expect("remove the mount point");
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return skip(&format!("`unshare` cannot be run: {error}")),
    };
    let (output, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if !output.starts_with("mounted\n") {
        return skip(&format!("a small file system cannot be mounted: {errors}"));
    }
    assert!(ended.status.success() && output.contains("1 passed"), "{output}{errors}");
}

/// Prints that a test was skipped, or panics if `SMALL_DISK=required` is set.
fn skip(reason: &str) {
    assert!(std::env::var("SMALL_DISK").as_deref() != Ok("required"), "{reason}");
    println!("skipped, {reason}");
}

/// The small file system of a test that [`on_small_disk`] has started.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Returns the file system, or `None` if [`on_small_disk`] did not start this process.
    #[must_use]
    pub fn mounted() -> Option<Self> {
        std::env::var_os(MOUNT).map(|path| Self(path.into()))
    }

    /// Returns the mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Fills the file system.
    ///
    /// # Panics
    /// If writing fails with an error other than `StorageFull`.
    pub fn fill(&self) {
        let mut file = File::options().append(true).create(true).open(self.filler()).expect("a file to fill the disk");
        // Large blocks first, then single bytes.
        for size in [1 << 16, 1 << 12, 1] {
            let full = std::iter::repeat_with(|| file.write_all(&vec![1; size])).find_map(Result::err);
            assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::StorageFull));
        }
    }

    /// Frees the space again.
    ///
    /// # Panics
    /// If the filler file cannot be removed.
    pub fn free(&self) {
        std::fs::remove_file(self.filler()).expect("the file that fills the disk");
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, Sqlite, Transaction};

    use super::*;
    use crate::{Database, FileKind, primary_code};

    const NOTES: FileKind = FileKind {
        application: *b"note",
        name: "the file of notes",
        others: "not a file of notes",
        migrations: &["CREATE TABLE notes (text TEXT NOT NULL)"],
        pragmas: &[],
        queue: std::time::Duration::from_secs(10),
    };

    const FULL: i32 = 13;

    async fn insert(transaction: &mut Transaction<'static, Sqlite>) -> sqlx::Result<()> {
        let long = "x".repeat(100_000);
        sqlx::query("INSERT INTO notes VALUES (?)").bind(long).execute(&mut **transaction).await.map(drop)
    }

    async fn write(notes: &Database) -> sqlx::Result<()> {
        let mut transaction = notes.exclusive().await?;
        insert(&mut transaction).await?;
        transaction.commit().await
    }

    async fn count(notes: &Database) -> i64 {
        let counted = sqlx::query_as("SELECT count(*) FROM notes").fetch_one(&notes.readers).await;
        let (count,): (i64,) = counted.expect("a count");
        count
    }

    #[test]
    fn writes_succeed_once_a_full_disk_has_space_again() {
        on_small_disk("testing::tests::fills_the_disk", 4);
    }

    #[tokio::test]
    #[ignore = "a process that another test starts"]
    async fn fills_the_disk() {
        let Some(disk) = SmallDisk::mounted() else { return };
        let notes = NOTES.open(disk.path().join("notes.db")).await.expect("a new file");
        write(&notes).await.expect("there is room");
        for round in 0..3 {
            disk.fill();
            for _ in 0..3 {
                let error = write(&notes).await.expect_err("the disk is full");
                assert_eq!(primary_code(&error), Some(FULL), "{error:?}");
            }
            // Also a transaction that is dropped, and one that is rolled back.
            let mut dropped = notes.exclusive().await.expect("it is not written yet");
            drop(insert(&mut dropped).await);
            drop(dropped);
            let mut rolled_back = notes.exclusive().await.expect("it is not written yet");
            drop(insert(&mut rolled_back).await);
            drop(rolled_back.rollback().await);
            disk.free();
            write(&notes).await.expect("there is room again");
            assert_eq!(count(&notes).await, round + 2, "nothing of what failed is kept");
        }
        notes.close().await;
    }

    #[test]
    fn reports_a_transaction_that_sqlite_has_rolled_back() {
        on_small_disk("testing::tests::fills_the_disk_in_a_transaction", 4);
    }

    #[tokio::test]
    #[ignore = "a process that another test starts"]
    async fn fills_the_disk_in_a_transaction() {
        let Some(disk) = SmallDisk::mounted() else { return };
        let notes = NOTES.open(disk.path().join("notes.db")).await.expect("a new file");
        let mut transaction = notes.exclusive().await.expect("a transaction");
        let failed = loop {
            assert!(!notes.is_rolled_back(), "the control: there is room");
            // More than SQLite keeps in memory.
            if let Err(error) = insert(&mut transaction).await {
                break error;
            }
        };
        assert_eq!(primary_code(&failed), Some(FULL), "{failed:?}");
        assert!(notes.is_rolled_back());
        drop(transaction);
        write(&notes).await.expect("there is room, since nothing was kept");
        assert!(!notes.is_rolled_back());
        assert_eq!(count(&notes).await, 1);
        notes.close().await;
    }

    /// The pools of [`FileKind::open`] close connections for which sqlx counts a transaction that SQLite has ended.
    #[tokio::test]
    async fn a_connection_that_lost_its_transaction_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let notes = NOTES.open(directory.path().join("notes.db")).await.expect("a new file");
        for pool in [&notes.writer, &notes.readers] {
            let mut transaction = pool.begin().await.expect("a transaction");
            // SQLite does this itself when it runs out of space or memory.
            sqlx::raw_sql("ROLLBACK").execute(&mut *transaction).await.expect("it is open");
            drop(transaction);
            let connection = pool.acquire().await.expect("a connection");
            assert!(!connection.is_in_transaction());
        }
        write(&notes).await.expect("it can be written");
    }
}
