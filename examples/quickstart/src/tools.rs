//! The dispatcher, with providers for everything that the tools inject.

use sqlx::SqlitePool;
use tool_runtime::confirm::{self, Decision, Question};
use tool_runtime::inject::InjectError;
use tool_runtime::{BuildError, Dispatcher};

use crate::report::ReportService;
use crate::repository::PointRepository;
use crate::session::Session;
use crate::user::CurrentUser;

pub fn dispatcher(pool: SqlitePool) -> Result<Dispatcher, BuildError> {
    Dispatcher::builder()
        .manifest(tool_runtime::manifest!())
        .service(ReportService { high: 80.0 })
        .provide("session", move |_| {
            let pool = pool.clone();
            async move { Session::begin(&pool).await }
        })
        .finish("session", |session: Session, outcome| async move { session.end(outcome.is_success()).await })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(PointRepository::new(scope.get("session").await?))
        })
        .per_call::<CurrentUser>()
        .confirm(confirm::from_fn(operator))
        .value("domain", String::from("example.org"))
        .build()
}

/// Confirms sensitive calls: approves deleting points and refuses everything else. A program with a terminal would use
/// `Terminal::default()`.
async fn operator(question: Question) -> Decision {
    match question.tool.as_str() {
        "metrics.purge" => Decision::Run,
        _ => Decision::refuse("only points may be deleted"),
    }
}
