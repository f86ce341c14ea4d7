//! What the console keeps, in a SQLite file of its data folder.

mod alerts;
mod categories;
mod events;
mod points;
mod session;

use std::path::Path;
use std::time::Duration;

use tool_sqlite::{Database, Kind, OpenError};

pub use alerts::{Alert, AlertRepository, AlertState};
pub use categories::CategoryRepository;
pub use events::{InternetEvent, InternetEventRepository, Outage};
pub use points::{MetricName, MetricPoint, MetricPointRepository, MetricSummary};
pub use session::Session;

const CONSOLE: Kind = Kind {
    // It never had a mark, and those that exist are to be opened.
    application: [0; 4],
    name: "the file",
    others: "none of the console",
    migrations: &[include_str!("1.sql")],
    // A power cut may take the last points with it, and nothing else.
    pragmas: &[("synchronous", "NORMAL")],
    queue: Duration::from_secs(10),
};

/// The file. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Store(Database);

impl Store {
    /// Opens the file, and makes it if there is none.
    ///
    /// # Errors
    /// When it cannot be written, is no database or another program's, or was written by a newer version.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        CONSOLE.open(path).await.map(Self)
    }

    /// A session, which becomes a transaction with its first statement.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.0.clone())
    }

    /// Writes everything to the file itself and closes it.
    pub async fn close(self) {
        self.0.close().await;
    }
}
