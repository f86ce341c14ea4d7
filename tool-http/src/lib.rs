#![doc = include_str!("../docs/crate.md")]

mod answer;
mod api;
mod body;
mod extract;
mod feed;
mod given;
mod guard;
mod headers;
mod idempotency;
mod openapi;
mod problem;
mod routes;
mod streaming;

pub use api::Api;
pub use guard::{Guard, Guarded, InvalidName, Token, WeakToken};
pub use headers::{SecurityHeaders, WithHeaders};
pub use problem::Problem;

/// A router over these tools as it is: it serves this machine only, which it can tell if it is served with
/// `into_make_service_with_connect_info::<SocketAddr>()`, as [above](crate). [`Api`] has the options.
pub fn router<S: Clone + Send + Sync + 'static>(tools: tool_runtime::Dispatcher) -> axum::Router<S> {
    Api::new(tools).into_router()
}
