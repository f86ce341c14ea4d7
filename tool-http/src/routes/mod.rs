//! What is served, a file for each noun.

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

use crate::api::Shared;

/// What handlers are given of the router.
pub(crate) type Api = State<Arc<Shared>>;
