#![doc = include_str!("../docs/crate.md")]

mod answer;
mod arguments;
mod assert;
mod call;
mod dispatch;
mod effect;
mod guard;
mod handler_error;
mod inject;
mod manifest;
mod outcome;
mod progress;
mod result;
mod shim;
mod stream;

#[doc(hidden)]
pub mod private;

#[doc = include_str!("../docs/mistakes.md")]
pub mod mistakes {}

pub use call::ToolCall;
pub use dispatch::{BuildError, Builder, Call, Check, Dispatcher, Explanation, Problem, ToolExplanation, Watch};
pub use effect::Effect;
pub use futures_core::Stream;
pub use handler_error::HandlerError;
pub use inject::{Finished, InjectError, Scope};
pub use manifest::IntoManifest;
pub use outcome::Outcome;
pub use progress::Progress;
pub use result::{ArgumentError, ErrorKind, Metadata, ToolError, ToolResult};
pub use stream::Streamed;
pub use tokio_util::sync::CancellationToken;
pub use tool_macros::{tool, tool_class};
pub use tool_model::{Argument, EmbeddedManifest, Manifest, ManifestError, ToolDefinition};
