//! The route handlers, one file per resource.

pub(crate) mod call;
pub(crate) mod dialects;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod journal;
pub(crate) mod openapi;
pub(crate) mod pending;
pub(crate) mod tools;

use std::sync::Arc;

use axum::extract::State;

use crate::api::ApiState;

/// The state extractor of the handlers.
pub(crate) type SharedState = State<Arc<ApiState>>;
