//! Built-in tools for agents: files, commands, the web, messages and sub-agents.
//!
//! Each group of tools is a service that an application registers with one line. Linking the crate registers nothing.
//!
//! ```
//! use tool_builtins::exec::Exec;
//! use tool_builtins::files::Files;
//! use tool_builtins::message::{Messages, Outbox};
//! use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
//! use tool_builtins::web::Web;
//! use tool_runtime::Dispatcher;
//! use tool_runtime::confirm::Terminal;
//!
//! /// A spawner that runs no sub-agents.
//! struct NoAgents;
//!
//! impl Spawner for NoAgents {
//!     async fn run(&self, _: Task) -> Result<String, SpawnError> {
//!         Err(SpawnError::new("Sub-agents are not available."))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let workspace = directory.path();
//! let (outbox, inbox) = Outbox::new(64);
//! let tools = Dispatcher::builder()
//!     .service(Files::new(workspace)?)
//!     .service(Exec::new(workspace)?.deny(["sudo"]).without_network())
//!     .service(Web::new().search_from_env()?)
//!     .service(Messages::new(outbox))
//!     .service(Spawn::new(NoAgents))
//!     .confirm(Terminal::default())
//!     .build()?;
//! assert_eq!(tools.manifest().iter().count(), 13);
//! # drop(inbox);
//! # Ok(())
//! # }
//! ```
//!
//! | service | tools | feature |
//! |---|---|---|
//! | [`files::Files`] | `read_file`, `write_file`, `edit_file`, `apply_patch`, `delete_file`, `move_file`, `list_files`, `search_files` | `files` |
//! | [`exec::Exec`] | `run_command`, on Linux | `exec` |
//! | [`web::Web`] | `web_fetch`, `web_search` | `web` |
//! | [`message::Messages`] | `message` | |
//! | [`spawn::Spawn`] | `spawn` | |
//!
//! All features but `cli` are enabled by default. `cli` builds the program `tool-builtins`, which serves the file,
//! command and web tools of a workspace and reads one call per line.
//!
//! A service always registers all of its tools. [`Files::unusable`](files::Files::unusable) and
//! [`Web::unusable`](web::Web::unusable) name the ones that cannot succeed with the current configuration, such as
//! `web_search` without a search provider, so that an application can hide them.
//!
//! Tools that change something are `sensitive`: the dispatcher asks for approval before they run, and rejects the call
//! without a confirmer. The question includes a preview; for a write, that is its diff. By default a service stays
//! inside its workspace and reaches public addresses only. Each module documents these guarantees and their limits.

#[cfg(any(feature = "files", feature = "web"))]
mod bytes;
#[cfg(any(feature = "exec", feature = "files", feature = "web"))]
mod count;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub mod exec;
#[cfg(feature = "files")]
pub mod files;
pub mod message;
pub mod spawn;
#[cfg(feature = "web")]
pub mod web;
