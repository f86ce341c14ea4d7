//! Arguments: decoding of the model's text into a handler's types, errors, repairs and redaction.

mod absent;
mod argument_error;
mod decode_error;
mod duplicate;
mod explain;
mod integer;
mod json_slot;
mod location;
pub(crate) mod message;
mod number;
mod read;
mod repair;
mod schemas;
pub(crate) mod slot;
#[cfg(test)]
mod tests;
mod trial;

pub use argument_error::{ArgumentError, ArgumentErrorKind};
pub(crate) use decode_error::refused_by_type;
pub(crate) use duplicate::duplicate_key;
pub(crate) use json_slot::read_values;
pub(crate) use number::{are_exact, beyond_64_bits};
pub(crate) use read::{ArgumentProblem, ArgumentReader, read};
pub use repair::{Repair, RepairReason};
pub(crate) use repair::{RepairedArguments, repair};
pub(crate) use schemas::ArgumentSchemas;
pub(crate) use slot::{Decode, Undecodable};
pub use tool_model::validate::Constraint;

pub use crate::redact::redact;
