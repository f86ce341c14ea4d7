//! Sub-agents: the tool `spawn`.
//!
//! What a sub-agent is, with which model, tools and limits of its own it works, is for a [`Spawner`] to say. How deep
//! they may nest, how many may run and for how long is kept here.
//!
//! ```standalone_crate
//! use serde_json::json;
//! use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
//! use tool_runtime::{Dispatcher, ToolCall};
//!
//! struct Echo;
//!
//! impl Spawner for Echo {
//!     async fn run(&self, task: Task) -> Result<String, SpawnError> {
//!         task.progress.report(json!({"step": 1}));
//!         Ok(format!("{} is done, at depth {}", task.task, task.depth))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Dispatcher::builder().service(Spawn::new(Echo)).build()?;
//! let call = ToolCall::new("spawn", json!({"task": "The survey"})).conversation("chat-7");
//! assert_eq!(tools.call(call).await.output, "The survey is done, at depth 1");
//! # Ok(())
//! # }
//! ```

mod family;
mod service;
mod spawner;

pub use service::Spawn;
pub use spawner::{SpawnError, Spawner, Task};
