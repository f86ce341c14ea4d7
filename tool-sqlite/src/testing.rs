//! Helpers for tests of stores that run out of disk space.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with which [`on_small_disk`] passes the mount point to the process that it starts.
const MOUNT: &str = "TOOL_SQLITE_SMALL_DISK";

/// Runs an ignored test of the same binary again, in a process of its own that has a file system of `megabytes` for
/// itself. The test finds it with [`SmallDisk::mounted`]. Where such a file system may not be mounted, which takes Linux,
/// `unshare` and a user namespace, it says that the test was skipped.
///
/// # Panics
/// If the test fails there, or no folder can be made.
pub fn on_small_disk(test: &str, megabytes: u32) {
    let script = r#"mount -t tmpfs -o size="$0" tmpfs "$1" && echo mounted && shift && exec "$@""#;
    let binary = std::env::current_exe().expect("the path of this binary");
    let name = format!("small-disk-{}-{}", std::process::id(), test.replace("::", "-"));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).expect("a folder to mount it on");
    // The mount is seen by the new process alone.
    let ended = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, &format!("{megabytes}m")])
        .args([&folder, &binary])
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(MOUNT, &folder)
        .output();
    std::fs::remove_dir(&folder).expect("the folder is empty");
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return skip(&format!("`unshare` cannot be run: {error}")),
    };
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if !told.starts_with("mounted\n") {
        return skip(&format!("a small file system cannot be mounted: {errors}"));
    }
    assert!(ended.status.success() && told.contains("1 passed"), "{told}{errors}");
}

/// Says that a test was skipped, or fails if `SMALL_DISK=required` is set.
fn skip(reason: &str) {
    assert!(std::env::var("SMALL_DISK").as_deref() != Ok("required"), "{reason}");
    println!("skipped, {reason}");
}

/// The small file system of a test that [`on_small_disk`] has started.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Returns the file system; `None` if the test was started in another way.
    #[must_use]
    pub fn mounted() -> Option<Self> {
        std::env::var_os(MOUNT).map(|path| Self(path.into()))
    }

    /// Its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Takes all of the space that is left.
    ///
    /// # Panics
    /// If the file system fails in another way than by being full.
    pub fn fill(&self) {
        let mut file = File::options().append(true).create(true).open(self.filler()).expect("a file to fill the disk");
        // Whole pages first, then whatever is left.
        for size in [1 << 16, 1 << 12, 1] {
            let full = std::iter::repeat_with(|| file.write_all(&vec![1; size])).find_map(Result::err);
            assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::StorageFull));
        }
    }

    /// Makes room again.
    ///
    /// # Panics
    /// If the file that fills it cannot be removed.
    pub fn free(&self) {
        std::fs::remove_file(self.filler()).expect("the file that fills the disk");
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, Sqlite, Transaction};

    use super::*;
    use crate::{Database, Kind, primary_code};

    const NOTES: Kind = Kind {
        application: *b"note",
        name: "the file of notes",
        others: "none of notes",
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
    fn a_full_disk_heals() {
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
            // Also one that is dropped without a word, and one that is rolled back.
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
    fn a_transaction_that_the_disk_has_ended_is_known_to_be_over() {
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

    /// What [`Kind::open`]'s pools let go of is what sqlx takes for a transaction and SQLite does not.
    #[tokio::test]
    async fn a_connection_that_lost_its_transaction_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = NOTES.open(folder.path().join("notes.db")).await.expect("a new file");
        for pool in [&notes.writer, &notes.readers] {
            let mut transaction = pool.begin().await.expect("a transaction");
            // As SQLite does by itself when it runs out of space or memory.
            sqlx::raw_sql("ROLLBACK").execute(&mut *transaction).await.expect("it is open");
            drop(transaction);
            let connection = pool.acquire().await.expect("a connection");
            assert!(!connection.is_in_transaction());
        }
        write(&notes).await.expect("it can be written");
    }
}
