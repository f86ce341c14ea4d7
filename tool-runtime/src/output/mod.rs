//! Outputs of tools: long results, streams and the types that handlers return.
//!
//! Every output is sanitized before a model reads it: escape sequences, control characters and bidirectional overrides
//! are removed. With [`Builder::spill`](crate::Builder::spill), a long output is also shortened: the model receives its
//! beginning, its end and a handle, and reads the rest with the tool `read_result`. A [`SpillStore`] holds the whole
//! output, in memory or in a directory, for the model and for
//! [`Dispatcher::whole_output`](crate::Dispatcher::whole_output).
//!
//! ```
//! use serde_json::json;
//! use tool_runtime::output::Spill;
//! use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let log = |()| async { (1..=500).map(|line| format!("line {line}\n")).collect::<String>() };
//! let log = RuntimeTool::new("log", "Returns the log.", log);
//! let tools = Dispatcher::builder().tool(log).spill(Spill::over(1_000)).build()?;
//!
//! let result = tools.call(ToolCall::from_text("log", "{}").conversation("chat-7")).await;
//! assert!(result.output.starts_with("line 1\n") && result.output.ends_with("line 500\n"));
//! assert!(result.output.contains("Read them with `read_result`"));
//!
//! let handle = &result.metadata.get("spilled").unwrap()["handle"];
//! let read = ToolCall::new("read_result", json!({"handle": handle, "offset": 400, "limit": 2}));
//! let rest = tools.call(read.conversation("chat-7")).await;
//! assert!(rest.output.starts_with("line 401\nline 402\n"));
//! # Ok(())
//! # }
//! ```

mod directory_store;
mod memory_store;
mod result_reader;
mod sanitize;
mod spill;
mod spill_store;
mod text_slice;

pub use directory_store::DirectorySpillStore;
pub use memory_store::MemorySpillStore;
pub(crate) use result_reader::{READ_RESULT, ResultReader};
pub(crate) use sanitize::sanitize;
pub use spill::Spill;
pub use spill_store::{SpillKey, SpillStore};

pub use futures_core::Stream;

pub use crate::runtime_tool::IntoToolResult;
pub use crate::stream::Streamed;
