//! Tools whose sessions, repositories and settings come from the application.

use std::sync::{Arc, Mutex};

use tool_runtime::{tool, tool_class};

/// The database: its committed points, and the number of sessions that were opened.
#[derive(Clone, Default)]
pub struct Database(Arc<Mutex<Tables>>);

#[derive(Default)]
struct Tables {
    points: Vec<i64>,
    opened: usize,
}

impl Database {
    /// Opens a session.
    pub fn open(&self) -> Session {
        self.lock().opened += 1;
        Session { database: self.clone(), written: Arc::default() }
    }

    /// Returns the number of sessions that were opened.
    pub fn opened(&self) -> usize {
        self.lock().opened
    }

    /// Returns the committed points.
    pub fn points(&self) -> Vec<i64> {
        self.lock().points.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A session, whose points are in the database once it is committed.
#[derive(Clone)]
pub struct Session {
    database: Database,
    written: Arc<Mutex<Vec<i64>>>,
}

impl Session {
    /// Writes a point.
    pub fn write(&self, point: i64) {
        self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(point);
    }

    /// Commits the points.
    pub fn commit(self) {
        let written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.database.lock().points.extend(written.iter());
    }
}

/// A repository over a session.
#[derive(Clone)]
pub struct MetricPointRepository(pub Session);

/// Write a point in the session of the call.
#[tool(name = "points.write")]
pub async fn write(point: i64, session: &Session) -> Result<i64, String> {
    session.write(point);
    if point < 0 { Err("a point is not negative".to_owned()) } else { Ok(point) }
}

/// Write a point both in the session and through the repository.
#[tool(name = "points.write_twice")]
pub fn write_twice(point: i64, session: &Session, repository: &MetricPointRepository) -> i64 {
    session.write(point);
    repository.0.write(point);
    point
}

/// Return the address that connections are checked with.
#[tool(name = "internet.target")]
pub fn target(#[inject] ping_host: String) -> String {
    ping_host
}

/// Statistics over a repository.
pub struct StatisticsService {
    repository: MetricPointRepository,
}

#[tool_class]
impl StatisticsService {
    /// Creates the service of one call.
    pub fn new(repository: MetricPointRepository) -> Self {
        Self { repository }
    }

    /// Write a point and count those that are committed.
    pub fn count(&self, point: i64) -> usize {
        self.repository.0.write(point);
        self.repository.0.database.points().len()
    }
}
