//! What is on record.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::journal::{EntryQuery, JournalEntry, JournalError};

use super::Api;
use crate::Problem;
use crate::extract::Asked;
use crate::openapi::mirror;

/// The most entries of a page.
const MOST: u32 = 1_000;

/// Which entries.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct JournalQuery {
    /// Those of this conversation.
    conversation: Option<String>,
    /// Those of this tool, by the name under which it was registered.
    tool: Option<String>,
    /// Those before this one: `next` of the page before.
    before: Option<u64>,
    /// So many at most: 50 unless said, and up to 1,000.
    limit: Option<u32>,
}

/// A page of the journal.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JournalPage {
    /// The newest first.
    #[schemars(with = "Vec<mirror::Entry>")]
    entries: Vec<JournalEntry>,
    /// For `before`, to have the next page; nothing if there is none.
    next: Option<u64>,
}

pub(crate) async fn list(
    State(api): Api,
    parts: Parts,
    Asked(asked): Asked<JournalQuery>,
) -> Result<Json<JournalPage>, Problem> {
    let Some(journal) = &api.journal else { return Err(unreadable()) };
    let limit = asked.limit.unwrap_or(50).clamp(1, MOST);
    let mut query = EntryQuery::newest(limit);
    query.conversation = api.conversation(&parts, asked.conversation.as_deref())?;
    (query.tool, query.before) = (asked.tool, asked.before);
    let entries = journal.entries(query).await.map_err(|error: JournalError| {
        tracing::error!(%error, "the journal cannot be read");
        unreadable()
    })?;
    let is_full = entries.len() == limit as usize;
    let next = entries.last().filter(|_| is_full).map(|entry| entry.sequence);
    Ok(Json(JournalPage { entries, next }))
}

fn unreadable() -> Problem {
    let detail = "The journal cannot be read now: the server's log says why.";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "journal", detail)
}
