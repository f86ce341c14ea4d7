//! `GET /journal`: pages of journal entries.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::journal::{EntryQuery, JournalEntry, JournalError};

use super::SharedState;
use crate::Problem;
use crate::extract::QueryParams;
use crate::openapi::mirror;

/// Maximum number of entries per page.
const MAX_LIMIT: u32 = 1_000;

/// Query parameters of the journal.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct JournalQuery {
    /// Only entries of this conversation.
    conversation: Option<String>,
    /// Only entries of the tool with this registered name.
    tool: Option<String>,
    /// Only entries before this number: `next` of the previous page.
    before: Option<u64>,
    /// Maximum number of entries. The default is 50, the maximum 1,000.
    limit: Option<u32>,
}

/// A page of the journal.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JournalPage {
    /// The entries, newest first.
    #[schemars(with = "Vec<mirror::EntrySchema>")]
    entries: Vec<JournalEntry>,
    /// The value of `before` for the next page; `null` on the last page.
    next: Option<u64>,
}

pub(crate) async fn list(
    State(api): SharedState,
    parts: Parts,
    QueryParams(params): QueryParams<JournalQuery>,
) -> Result<Json<JournalPage>, Problem> {
    let Some(journal) = &api.journal else { return Err(unreadable()) };
    let limit = params.limit.unwrap_or(50).clamp(1, MAX_LIMIT);
    let mut query = EntryQuery::newest(limit);
    query.conversation = api.conversation(&parts, params.conversation.as_deref())?;
    (query.tool, query.before) = (params.tool, params.before);
    let entries = journal.entries(query).await.map_err(|error: JournalError| {
        tracing::error!(%error, "failed to read the journal");
        unreadable()
    })?;
    let is_full = entries.len() == limit as usize;
    let next = entries.last().filter(|_| is_full).map(|entry| entry.sequence);
    Ok(Json(JournalPage { entries, next }))
}

fn unreadable() -> Problem {
    let detail = "Failed to read the journal; see the server's log.";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "journal", detail)
}
