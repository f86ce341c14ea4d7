//! Retries while another process has the file locked.

use std::time::{Duration, Instant};

use crate::primary_code;

/// Time to wait for another process that is writing.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Delay between attempts to open the file.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Retries `connect` while the file is locked. SQLite's busy timeout does not apply when two processes switch a new file
/// to write-ahead logging at the same time.
pub(crate) async fn retry_while_busy<T, F>(connect: impl Fn() -> F) -> sqlx::Result<T>
where
    F: Future<Output = sqlx::Result<T>>,
{
    let begun = Instant::now();
    loop {
        match connect().await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_TIMEOUT => tokio::time::sleep(RETRY_DELAY).await,
            connected => return connected,
        }
    }
}

/// Returns `true` if the file is locked by another connection.
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

    /// Locks the file exclusively.
    async fn lock(connection: &mut SqliteConnection) -> sqlx::Result<()> {
        sqlx::query("BEGIN EXCLUSIVE").execute(connection).await.map(drop)
    }

    #[tokio::test]
    async fn retries_while_the_file_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new().filename(folder.path().join("a.db")).create_if_missing(true);
        let options = options.busy_timeout(Duration::ZERO);
        let mut holder = options.connect().await.unwrap();
        lock(&mut holder).await.unwrap();
        let (holder, tries) = (Mutex::new(Some(holder)), AtomicU32::new(0));
        retry_while_busy(async || {
            let mut connection = options.connect().await?;
            // The first two attempts find the file locked.
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
    async fn does_not_retry_a_missing_file() {
        let tries = AtomicU32::new(0);
        let options = SqliteConnectOptions::new().filename("/nowhere/a.db");
        let error = retry_while_busy(|| {
            tries.fetch_add(1, Ordering::Relaxed);
            options.connect()
        });
        assert_eq!(primary_code(&error.await.unwrap_err()), Some(14));
        assert_eq!(tries.into_inner(), 1);
    }
}
