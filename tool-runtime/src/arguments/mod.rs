//! From the model's text to the handler's typed arguments, in one pass.

mod duplicate;
mod integer;
mod missing;
mod place;
mod read;
mod repair;
mod slot;
mod verdict;

pub(crate) use read::{Problem, Reader, read};
pub use repair::{Repair, RepairReason};
pub(crate) use repair::{Repaired, repair};
use slot::Reason;
pub use slot::{
    Ask, Decode, Lend, LendUndecoded, LendUndescribed, LendUnsized, OptionalText, Undecodable, Undecoded, Undescribed,
    lend,
};
pub(crate) use verdict::Schemas;
