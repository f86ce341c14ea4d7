//! The tools that every agent wants, as services that an application offers with one line each. Linking the crate
//! offers nothing.
//!
//! ```
//! use tool_builtins::exec::Exec;
//! use tool_builtins::files::Files;
//! use tool_builtins::message::{Messages, Outbox};
//! use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
//! use tool_builtins::web::Web;
//! use tool_runtime::{Dispatcher, Terminal};
//!
//! /// What runs sub-agents: here, nobody does.
//! struct Nobody;
//!
//! impl Spawner for Nobody {
//!     async fn run(&self, _: Task) -> Result<String, SpawnError> {
//!         Err(SpawnError::new("There are no sub-agents here."))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let workspace = folder.path();
//! let (outbox, inbox) = Outbox::new(64);
//! let tools = Dispatcher::builder()
//!     .service(Files::new(workspace)?)
//!     .service(Exec::new(workspace)?.deny(["sudo"]).without_network())
//!     .service(Web::new().search_from_env()?)
//!     .service(Messages::new(outbox))
//!     .service(Spawn::new(Nobody))
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
//! All features are on but `cli`, which is the program `tool-builtins`: it offers files, commands and the web over a
//! workspace, and reads one call per line.
//!
//! A service has all its tools. Those that can only fail as it is set up, such as a search that asks nobody, are named by
//! [`Files::unusable`](files::Files::unusable) and [`Web::unusable`](web::Web::unusable), so that they need not be offered.
//!
//! What changes something is `sensitive`: a dispatcher asks before it runs, and refuses where there is nobody to ask.
//! Before it is asked there is a preview: a write has its diff. A service does not leave its workspace, and does not
//! reach what is not public, unless it is constructed otherwise by name. Each module says what that means, and what it
//! does not.

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
