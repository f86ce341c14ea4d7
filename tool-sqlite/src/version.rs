//! Schema versions and migrations.

use sqlx::SqliteConnection;

use crate::{Database, FileKind, OpenError};

impl FileKind {
    /// Migrates the file to the current version in one exclusive transaction.
    pub(crate) async fn migrate(&self, database: &Database) -> Result<(), OpenError> {
        let unwritten = |error| OpenError::Unwritten("create its tables", error);
        let transaction = database.exclusive().await;
        let mut transaction = transaction.map_err(|error| OpenError::Unwritten("lock the file for writing", error))?;
        let missing = self.missing(&mut transaction).await?;
        for migration in missing {
            sqlx::raw_sql(*migration).execute(&mut *transaction).await.map_err(unwritten)?;
        }
        if !missing.is_empty() {
            let (application, version) = (self.application(), self.migrations.len());
            let marks = format!("PRAGMA application_id = {application}; PRAGMA user_version = {version}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(marks)).execute(&mut *transaction).await.map_err(unwritten)?;
        }
        transaction.commit().await.map_err(unwritten)
    }

    /// Returns the migrations that the file lacks: all of them if it is empty. Fails if the file is not of this kind.
    pub(crate) async fn missing(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<&'static [&'static str], OpenError> {
        let (application, version, tables): (i32, i32, i32) = sqlx::query_as(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) \
             FROM pragma_application_id, pragma_user_version",
        )
        .fetch_one(connection)
        .await
        .map_err(|error| OpenError::Unread("its version", error))?;
        match usize::try_from(version) {
            Ok(0) if application == 0 && tables == 0 => Ok(self.migrations),
            Ok(version @ 1..) if application == self.application() => {
                self.migrations.get(version..).ok_or_else(|| self.newer(version))
            }
            _ => Err(OpenError::Incompatible(format!(
                "the file is a SQLite database, but {}; open another file",
                self.others
            ))),
        }
    }

    fn newer(&self, version: usize) -> OpenError {
        let (name, known) = (self.name, self.migrations.len());
        OpenError::Incompatible(format!(
            "{name} has version {version}, but this program supports versions up to {known}; use the newer release that \
             wrote it, or open another file"
        ))
    }

    fn application(&self) -> i32 {
        i32::from_be_bytes(self.application)
    }
}
