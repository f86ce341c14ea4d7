//! Categories that users have assigned to programs.

use std::collections::BTreeMap;

use super::Session;

/// Reads and writes categories in the session of one call.
#[derive(Clone)]
pub struct CategoryRepository {
    session: Session,
}

impl CategoryRepository {
    /// Creates a repository in this session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// Returns all assigned categories by program.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn all(&self) -> sqlx::Result<BTreeMap<String, String>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT program, category FROM categories").fetch_all(&mut *connection).await?;
        Ok(rows.into_iter().collect())
    }

    /// Assigns a category to a program.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn assign(&self, program: &str, category: &str) -> sqlx::Result<()> {
        let mut connection = self.session.connection().await?;
        sqlx::query("INSERT OR REPLACE INTO categories (program, category) VALUES (?, ?)")
            .bind(program)
            .bind(category)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }

    /// Removes the category of a program. Returns `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn forget(&self, program: &str) -> sqlx::Result<bool> {
        let mut connection = self.session.connection().await?;
        let done =
            sqlx::query("DELETE FROM categories WHERE program = ?").bind(program).execute(&mut *connection).await?;
        Ok(done.rows_affected() > 0)
    }
}
