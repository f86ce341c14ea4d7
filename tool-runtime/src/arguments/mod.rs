//! Arguments: reading, validation, repair and redaction.
//!
//! The JSON text of a call is read once, and each value is decoded straight into the handler's type. Arguments that do
//! not match fail the call with [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments);
//! [`ToolError::arguments`](crate::ToolError::arguments) has one [`ArgumentError`] per violation, with its path, the
//! received value and the expectation.
//!
//! Arguments that are wrong but unambiguous, such as `"5"` for an integer, are repaired before they are rejected, unless
//! [`Builder::repair`](crate::Builder::repair) is off. Each [`Repair`] is recorded in the result's metadata under
//! `repairs`. [`redact()`] hides the secrets of arguments that are shown or stored.
//!
//! ```standalone_crate
//! use tool_runtime::{Dispatcher, ToolCall, tool};
//!
//! /// Set the volume.
//! #[tool]
//! fn set_volume(#[arg(max = 10)] level: u8) -> String {
//!     format!("volume {level}")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Dispatcher::builder().build()?;
//! let repaired = tools.call(ToolCall::from_text("set_volume", r#"{"level": "5"}"#)).await;
//! assert_eq!(repaired.output, "volume 5");
//! assert_eq!(repaired.metadata.get("repairs").unwrap()[0]["path"], "level");
//!
//! let rejected = tools.call(ToolCall::from_text("set_volume", r#"{"level": 11}"#)).await;
//! let violation = &rejected.error.unwrap().arguments[0];
//! assert_eq!((violation.path.as_str(), violation.received.as_deref()), ("level", Some("11")));
//! # Ok(())
//! # }
//! ```

mod absent;
mod argument_error;
pub(crate) mod converted;
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
