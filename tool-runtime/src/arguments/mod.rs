//! From the model's text to the handler's typed arguments, in one pass.

mod duplicate;
mod integer;
mod missing;
mod number;
mod place;
mod read;
mod repair;
mod slot;
mod trial;
mod values;
mod verdict;

pub(crate) use duplicate::duplicate_key;
pub(crate) use number::{are_exact, beyond_64_bits};
pub(crate) use read::{Problem, Reader, read};
pub use repair::{Repair, RepairReason};
pub(crate) use repair::{Repaired, repair};
use slot::Reason;
pub use slot::{
    Aliased, Ask, Decode, Lend, LendUndecoded, LendUndescribed, LendUnsized, NoReference, OptionalText, Undecodable,
    Undecoded, Undescribed, lend,
};
pub(crate) use values::read_values;
pub(crate) use verdict::{Schemas, in_words, place_of};
