//! Reports about a dispatcher: its problems, the origin of its parts, and the log.
//!
//! [`BuildError`](crate::BuildError) holds a [`BuildProblem`] for each tool that cannot be bound.
//! [`Dispatcher::check`](crate::Dispatcher::check) runs every provider once, and
//! [`Dispatcher::explain`](crate::Dispatcher::explain) lists the source of each handler, instance and injected value.
//!
//! ```
//! use tool_runtime::{Dispatcher, RuntimeTool};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let list = RuntimeTool::new("list", "Lists everything.", |()| async { "nothing" });
//! let tools = Dispatcher::builder().tool(list).build()?;
//! tools.check().await?;
//! assert_eq!(tools.explain().tools[0].name, "list");
//! # Ok(())
//! # }
//! ```

pub use crate::dispatch::{BuildProblem, Explanation, ProviderCheck, ToolExplanation};
#[cfg(feature = "log")]
pub use crate::log_arguments::{LogArguments, LogFormat};
