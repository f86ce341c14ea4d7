#![doc = include_str!("../README.md")]
#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arguments;
mod assert_manifest;
mod call_stage;
#[cfg(feature = "cli")]
mod cli;
mod concurrency;
pub mod confirm;
mod context;
mod detach_on_drop;
pub mod diagnostics;
mod dispatch;
pub mod display;
mod effect;
pub mod events;
mod formatted_result;
mod handler_error;
mod handler_failure;
mod handler_future;
mod handler_result;
pub mod inject;
pub mod journal;
mod json;
pub mod limits;
#[cfg(feature = "log")]
mod log_arguments;
pub mod manifest;
#[cfg(feature = "metrics")]
mod metrics;
mod notes;
mod outcome;
pub mod output;
mod panics;
mod progress;
mod prompt;
mod redact;
mod registry;
mod retry_after;
mod runtime_tool;
pub mod search;
mod selection;
mod shim;
mod stream;
#[cfg(test)]
mod testing;
mod tool_call;
mod tool_error;
mod tool_result;

#[doc(hidden)]
pub mod private;

#[doc = include_str!("../docs/classes.md")]
pub mod classes {}

#[doc = include_str!("../docs/mistakes.md")]
pub mod mistakes {}

#[cfg(feature = "cli")]
pub use cli::Cli;
pub use confirm::policy::Policy;
pub use context::Context;
pub use dispatch::{BuildError, Builder, Call, Dispatcher, Turn};
pub use effect::Effect;
pub use handler_error::HandlerError;
pub use handler_failure::FailedCall;
pub use inject::scope::Scope;
pub use outcome::CallOutcome;
pub use progress::Progress;
pub use registry::{Registry, RegistryChanges};
pub use runtime_tool::RuntimeTool;
pub use selection::{NameCase, Selection};
pub use tokio_util::sync::CancellationToken;
pub use tool_call::ToolCall;
pub use tool_dialect as dialect;
pub use tool_error::{ErrorKind, ToolError};
pub use tool_macros::{tool, tool_class, tools};
pub use tool_model::{Manifest, ToolDefinition};
pub use tool_result::{Metadata, ToolResult};
