#![doc = include_str!("../README.md")]
#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod body;
mod call_values;
mod extract;
mod feed;

mod guard;
mod headers;
mod idempotency;
mod openapi;
mod problem;
mod response;
mod routes;
mod streaming;

pub use api::Api;
pub use guard::{Guard, GuardService, InvalidName, Token, WeakToken};
pub use headers::{SecurityHeaders, SecurityHeadersService};
pub use problem::Problem;

/// Returns a router over these tools with the default options, which serves requests from this machine only.
///
/// Serve it with `into_make_service_with_connect_info::<SocketAddr>()`, as [above](crate): otherwise the peer address
/// is unknown and every request is refused. Use [`Api`] to set options.
pub fn router<S: Clone + Send + Sync + 'static>(tools: tool_runtime::Dispatcher) -> axum::Router<S> {
    Api::new(tools).into_router()
}
