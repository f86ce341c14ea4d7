#![doc = include_str!("../docs/crate.md")]

mod arguments;
mod assert_manifest;
mod call_permit;
mod call_stage;
#[cfg(feature = "cli")]
mod cli;
mod concurrency;
pub mod confirm;
mod context;
mod detach_on_drop;
mod dispatch;
pub mod display;
mod effect;
mod events;
mod handler_error;
mod handler_future;
mod handler_result;
mod inject;
pub mod journal;
mod json;
mod limits;
mod manifest;
#[cfg(feature = "metrics")]
mod measure;
mod notes;
mod outcome;
mod output;
mod panics;
mod progress;
mod prompt;
mod redact;
mod registry;
mod retry_after;
mod runtime_tool;
mod search;
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

#[doc = include_str!("../docs/mistakes.md")]
pub mod mistakes {}

pub use arguments::{Repair, RepairReason};
pub use call_permit::Place;
#[cfg(feature = "cli")]
pub use cli::{Cli, cli};
pub use concurrency::Concurrency;
pub(crate) use concurrency::Permit;
pub use confirm::{Confirm, Decision, Pending, Policy, Question, Terminal, Verdict};
#[cfg(feature = "deferred")]
pub use confirm::{Deferred, PendingCall, PendingStore, SealedCall, TokenError};
pub use context::{Context, Deadline};
pub use dispatch::{
    BuildError, Builder, Call, Check, Definitions, Dispatcher, Explanation, Problem, Retries, ToolExplanation, Turn,
    Watch,
};
pub use effect::Effect;
pub(crate) use events::Watched;
pub use events::{CallInfo, Event, Events, Subscriber, Update, What};
pub use futures_core::Stream;
pub use handler_error::HandlerError;
pub use inject::{Finished, InjectError, Scope};
pub use limits::{Limit, LimitExceeded, LimitScope, Limiter};
pub use manifest::IntoManifest;
pub use notes::Notes;
pub use outcome::Outcome;
pub use output::{FolderStore, MemoryStore, Results, Spill, SpillKey, SpillStore, Spilled};
pub use progress::Progress;
pub use redact::redact;
pub use registry::{Changes, Registry};
pub use runtime_tool::{IntoAnswer, RuntimeTool};
pub use search::{Found, Shortlist, ToolSearch};
pub use selection::{Case, Selection};
pub use stream::Streamed;
pub use tokio_util::sync::CancellationToken;
pub use tool_call::ToolCall;
pub use tool_dialect as dialect;
pub use tool_error::{ArgumentError, ErrorKind, ToolError};
pub use tool_macros::{tool, tool_class};
pub use tool_model::{Argument, EmbeddedManifest, Manifest, ManifestError, ToolDefinition};
pub use tool_result::{Metadata, ToolResult};
