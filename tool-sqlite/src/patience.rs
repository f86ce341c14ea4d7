//! Waiting for whoever has the file locked.

use std::time::{Duration, Instant};

use crate::primary_code;

/// How long to wait for another process that is writing.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// How long to wait before another try to open the file.
const RETRY: Duration = Duration::from_millis(10);

/// Tries again while the file is locked. SQLite itself does not wait where two who open a new file both change it to the
/// mode in which readers and writers do not hold each other up.
pub(crate) async fn patiently<T, F>(connect: impl Fn() -> F) -> sqlx::Result<T>
where
    F: Future<Output = sqlx::Result<T>>,
{
    let begun = Instant::now();
    loop {
        match connect().await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY => tokio::time::sleep(RETRY).await,
            connected => return connected,
        }
    }
}

/// Whether somebody else has locked the file at this moment.
fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(5)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions, Connection, SqliteConnection};
    use tokio::sync::Mutex;

    use super::*;

    /// Locks the file, if nobody has.
    async fn lock(connection: &mut SqliteConnection) -> sqlx::Result<()> {
        sqlx::query("BEGIN EXCLUSIVE").execute(connection).await.map(drop)
    }

    #[tokio::test]
    async fn a_locked_file_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new().filename(folder.path().join("a.db")).create_if_missing(true);
        let options = options.busy_timeout(Duration::ZERO);
        let mut holder = options.connect().await.unwrap();
        lock(&mut holder).await.unwrap();
        let (holder, tries) = (Mutex::new(Some(holder)), AtomicU32::new(0));
        patiently(async || {
            let mut connection = options.connect().await?;
            // Whoever does not try again is told that the file is locked.
            if tries.fetch_add(1, Ordering::Relaxed) == 2 {
                holder.lock().await.take().unwrap().close().await?;
            }
            lock(&mut connection).await
        })
        .await
        .unwrap();
        assert_eq!(tries.into_inner(), 3);
    }

    #[tokio::test]
    async fn what_is_not_there_is_not_tried_again() {
        let tries = AtomicU32::new(0);
        let options = SqliteConnectOptions::new().filename("/nowhere/a.db");
        let error = patiently(|| {
            tries.fetch_add(1, Ordering::Relaxed);
            options.connect()
        });
        assert_eq!(primary_code(&error.await.unwrap_err()), Some(14));
        assert_eq!(tries.into_inner(), 1);
    }
}
