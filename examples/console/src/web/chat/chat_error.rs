//! Errors of chat requests, shown by the page.

use std::fmt;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tool_runtime::confirm::EditError;

/// An error response with a status and a message.
pub(in crate::web) struct ChatError(StatusCode, String);

impl ChatError {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self(status, detail.into())
    }

    /// Too many subscribers.
    pub(super) fn crowded() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open: close some.")
    }

    /// An internal error.
    pub(super) fn failed(error: &impl fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for ChatError {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"detail": self.1}))).into_response()
    }
}

/// A run is in progress already.
#[derive(Debug)]
pub(super) struct RunInProgress;

impl fmt::Display for RunInProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("A response is in progress: wait for it, or stop it.")
    }
}

impl From<RunInProgress> for ChatError {
    fn from(busy: RunInProgress) -> Self {
        Self::new(StatusCode::CONFLICT, busy.to_string())
    }
}

/// Error of edited arguments.
#[derive(Debug)]
pub(super) enum EditedArgumentsError {
    /// The call is not pending any more.
    NotWaiting,
    /// The text cannot be parsed.
    Unreadable(EditError),
}

impl fmt::Display for EditedArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting => f.write_str("This call is not pending any more."),
            Self::Unreadable(error) => write!(f, "The arguments are invalid: {error}."),
        }
    }
}

impl From<EditedArgumentsError> for ChatError {
    fn from(wrong: EditedArgumentsError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, wrong.to_string())
    }
}
