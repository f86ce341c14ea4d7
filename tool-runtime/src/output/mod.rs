//! What a model is given to read: cleaned of control sequences, and shortened where it is long.

mod clean;
mod directory_store;
mod memory_store;
mod result_reader;
mod slice;
mod spill;
mod spill_store;

pub(crate) use clean::clean;
pub use directory_store::DirectorySpillStore;
pub use memory_store::MemorySpillStore;
pub(crate) use result_reader::READ_RESULT;
pub use result_reader::ResultReader;
pub use spill::{Spill, SpillSummary};
pub use spill_store::{SpillKey, SpillStore};

pub use futures_core::Stream;

pub use crate::runtime_tool::IntoToolResult;
pub use crate::stream::Streamed;
