//! What a model is given to read: cleaned of control sequences, and shortened where it is long.

#[cfg_attr(not(test), expect(dead_code, reason = "the pipeline is to call it"))]
mod clean;
mod folder;
mod memory;
mod results;
mod slice;
mod spill;
mod store;

#[expect(unused_imports, reason = "the pipeline is to call it")]
pub(crate) use clean::clean;
pub use folder::FolderStore;
pub use memory::MemoryStore;
pub use results::{Conversation, Results};
pub use spill::{Spill, Spilled};
pub use store::{SpillKey, SpillStore};
