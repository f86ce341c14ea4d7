#![doc = include_str!("../docs/crate.md")]

mod answer;
mod arguments;
mod assert;
mod call;
mod concurrency;
pub mod confirm;
mod context;
mod dispatch;
pub mod display;
mod effect;
mod events;
mod guard;
mod handler_error;
mod inject;
pub mod journal;
mod limits;
mod manifest;
#[cfg(feature = "metrics")]
mod measure;
mod outcome;
mod output;
mod progress;
mod redact;
mod result;
mod shim;
mod stream;
#[cfg(test)]
mod testing;

#[doc(hidden)]
pub mod private;

#[doc = include_str!("../docs/mistakes.md")]
pub mod mistakes {}

pub use arguments::{Repair, RepairReason};
pub use call::ToolCall;
pub use concurrency::{Busy, Concurrency, Permit};
pub use confirm::{Confirm, Decision, Pending, Policy, Question, Terminal, Verdict};
#[cfg(feature = "deferred")]
pub use confirm::{Deferred, PendingCall, PendingStore, TokenError};
pub use context::{Context, Deadline};
pub use dispatch::{
    BuildError, Builder, Call, Check, Dispatcher, Explanation, Problem, Retries, ToolExplanation, Turn, Watch,
};
pub use effect::Effect;
pub use events::{CallInfo, Event, Events, Subscriber, Update, Watched, What};
pub use futures_core::Stream;
pub use handler_error::HandlerError;
pub use inject::{Finished, InjectError, Scope};
pub use limits::{Exceeded, Limit, Limiter};
pub use manifest::IntoManifest;
pub use outcome::Outcome;
pub use output::{FolderStore, MemoryStore, Results, Spill, SpillKey, SpillStore, Spilled};
pub use progress::Progress;
pub use redact::redact;
pub use result::{ArgumentError, ErrorKind, Metadata, ToolError, ToolResult};
pub use stream::Streamed;
pub use tokio_util::sync::CancellationToken;
pub use tool_macros::{tool, tool_class};
pub use tool_model::{Argument, EmbeddedManifest, Manifest, ManifestError, ToolDefinition};
