//! What people say programs are.

use std::collections::BTreeMap;

use super::Session;

/// Reads and writes what people say, in the session of one call.
#[derive(Clone)]
pub struct CategoryRepository {
    session: Session,
}

impl CategoryRepository {
    /// What people have said, as this session sees it.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// All programs that somebody has said something about.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all(&self) -> sqlx::Result<BTreeMap<String, String>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT program, category FROM categories").fetch_all(&mut *connection).await?;
        Ok(rows.into_iter().collect())
    }

    /// Says what a program is.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn assign(&self, program: &str, category: &str) -> sqlx::Result<()> {
        let mut connection = self.session.connection().await?;
        sqlx::query("INSERT OR REPLACE INTO categories (program, category) VALUES (?, ?)")
            .bind(program)
            .bind(category)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }

    /// Forgets what was said of a program; false if nothing was.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget(&self, program: &str) -> sqlx::Result<bool> {
        let mut connection = self.session.connection().await?;
        let done =
            sqlx::query("DELETE FROM categories WHERE program = ?").bind(program).execute(&mut *connection).await?;
        Ok(done.rows_affected() > 0)
    }
}
