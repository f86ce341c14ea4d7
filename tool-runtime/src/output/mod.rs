//! What a model is given to read: cleaned of control sequences, and shortened where it is long.

mod clean;
mod folder;
mod memory;
mod results;
mod slice;
mod spill;
mod store;

pub(crate) use clean::clean;
pub use folder::FolderStore;
pub use memory::MemoryStore;
pub(crate) use results::READ_RESULT;
pub use results::Results;
pub use spill::{Spill, Spilled};
pub use store::{SpillKey, SpillStore};
