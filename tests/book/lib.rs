//! The README and the pages of the book, whose code blocks are tests.

#[doc = include_str!("../../README.md")]
mod readme {}

#[doc = include_str!("../../docs/src/agent.md")]
mod agent {}

#[doc = include_str!("../../docs/src/approvals.md")]
mod approvals {}

#[doc = include_str!("../../docs/src/attributes.md")]
mod attributes {}

#[doc = include_str!("../../docs/src/axum.md")]
mod axum {}

#[doc = include_str!("../../docs/src/builtins.md")]
mod builtins {}

#[doc = include_str!("../../docs/src/callers.md")]
mod callers {}

#[doc = include_str!("../../docs/src/deployment.md")]
mod deployment {}

#[doc = include_str!("../../docs/src/dry-runs.md")]
mod dry_runs {}

#[doc = include_str!("../../docs/src/errors.md")]
mod errors {}

#[doc = include_str!("../../docs/src/existing-service.md")]
mod existing_service {}

#[doc = include_str!("../../docs/src/faq.md")]
mod faq {}

#[doc = include_str!("../../docs/src/first-tool.md")]
mod first_tool {}

#[doc = include_str!("../../docs/src/http-api.md")]
mod http_api {}

#[doc = include_str!("../../docs/src/injection.md")]
mod injection {}

#[doc = include_str!("../../docs/src/introduction.md")]
mod introduction {}

#[doc = include_str!("../../docs/src/journal.md")]
mod journal {}

#[doc = include_str!("../../docs/src/limits.md")]
mod limits {}

#[doc = include_str!("../../docs/src/manifest.md")]
mod manifest {}

#[doc = include_str!("../../docs/src/mcp-client.md")]
mod mcp_client {}

#[doc = include_str!("../../docs/src/mcp-server.md")]
mod mcp_server {}

#[doc = include_str!("../../docs/src/migrating.md")]
mod migrating {}

#[doc = include_str!("../../docs/src/nats.md")]
mod nats {}

#[doc = include_str!("../../docs/src/origins.md")]
mod origins {}

#[doc = include_str!("../../docs/src/performance.md")]
mod performance {}

#[doc = include_str!("../../docs/src/providers.md")]
mod providers {}

#[doc = include_str!("../../docs/src/security.md")]
mod security {}

#[doc = include_str!("../../docs/src/selection.md")]
mod selection {}

#[doc = include_str!("../../docs/src/testing.md")]
mod testing {}

#[doc = include_str!("../../docs/src/troubleshooting.md")]
mod troubleshooting {}

#[doc = include_str!("../../docs/src/types.md")]
mod types {}
