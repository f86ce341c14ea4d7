//! From the model's text to the handler's typed arguments, in one pass.

mod duplicate;
mod integer;
mod missing;
mod number;
mod place;
mod read;
mod repair;
pub(crate) mod slot;
mod trial;
mod values;
mod verdict;

pub(crate) use duplicate::duplicate_key;
pub(crate) use number::{are_exact, beyond_64_bits};
pub(crate) use read::{Problem, Reader, read};
pub use repair::{Repair, RepairReason};
pub(crate) use repair::{Repaired, repair};
use slot::Reason;
pub(crate) use slot::{Decode, Undecodable};
pub(crate) use values::read_values;
pub(crate) use verdict::{Schemas, in_words, place_of};

pub use crate::redact::redact;
pub use crate::tool_error::ArgumentError;
