//! The database of the console, a SQLite file in the data directory.

mod alerts;
mod categories;
mod events;
mod points;
mod session;

use std::path::Path;
use std::time::Duration;

use tool_sqlite::{Database, FileKind, OpenError};

pub use alerts::{Alert, AlertRepository, AlertState};
pub use categories::CategoryRepository;
pub use events::{InternetEvent, InternetEventRepository, Outage};
pub use points::{MetricName, MetricPoint, MetricPointRepository, MetricSummary};
pub use session::Session;

const CONSOLE: FileKind = FileKind {
    // Files never had an application id, and existing ones must open.
    application: [0; 4],
    name: "the file",
    others: "not one of the console",
    migrations: &[include_str!("1.sql")],
    // A power failure may lose the last points, but nothing else.
    pragmas: &[("synchronous", "NORMAL")],
    queue: Duration::from_secs(10),
};

/// The database. Clones share it.
#[derive(Clone, Debug)]
pub struct Store(Database);

impl Store {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be written, is not a database of the console, or was written by a newer version.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        CONSOLE.open(path).await.map(Self)
    }

    /// Returns a session, which begins a transaction with its first statement.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.0.clone())
    }

    /// Writes the write-ahead log to the file and closes it.
    pub async fn close(self) {
        self.0.close().await;
    }
}
