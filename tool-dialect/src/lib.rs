//! Tools in every model provider's form.
//!
//! Providers differ in how they are told of tools, in how a model's calls come back and in how results are returned;
//! and each has rules of its own for names and schemas, of which breaking one fails the whole request. A [`Dialect`]
//! knows them. It makes an [`Offer`] of a set of tools: their definitions, stable to the byte, and the way back from the
//! provider's response to plain calls. An application with its own HTTP client needs nothing else.
//!
//! ```
//! use tool_dialect::Dialect;
//! use tool_model::Manifest;
//!
//! let manifest = Manifest::from_json(
//!     r#"{"metrics.newest": {
//!       "description": "The newest points.", "handler": "app::newest",
//!       "arguments": {"host": {"type": "string", "required": true}, "limit": {"type": "integer", "required": false, "minimum": 1}}
//!     }}"#,
//! )?;
//! for dialect in Dialect::ALL {
//!     let offer = dialect.offer(manifest.iter())?;
//!     let encoded = offer.encoded("metrics.newest").unwrap();
//!     assert_eq!(offer.decoded(encoded), "metrics.newest");
//! }
//!
//! // Strictly, where the provider can: the bound is in the description now, and the report says so.
//! let offer = Dialect::Anthropic.strict().offer(manifest.iter())?;
//! assert_eq!(offer.definitions()[0]["strict"], true);
//! assert_eq!(offer.definitions()[0]["input_schema"]["properties"]["limit"]["description"], "At least 1.");
//! assert_eq!(Dialect::Anthropic.strict().report(manifest.iter()).findings[0].path, "limit");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is said, and what is not
//!
//! The portable form is that of every provider's non-strict mode. Types are written out where they are used; only those
//! that contain themselves stay behind a `$ref`. There are no boolean schemas, no lists of types and no formats of
//! machine numbers, every list has its `items`, and an optional argument is simply not required. Strict modes and Gemini
//! take less: what restricts a value and cannot be said goes into the description, in words. A tool that a strict mode
//! cannot take is offered without it. [`Form::report`] says all of this, tool by tool and argument by argument.
//!
//! Names get what the provider takes: a dot becomes `__`, a name that is too long keeps its tail. Two tools of one name
//! are an error that names both. Arguments that a provider does not take by their names get others, and calls are read
//! back, as is the `null` that OpenAI's strict mode asks for in the place of what is left out.
//!
//! This crate knows nothing of how a tool is called.

mod call;
mod definition;
mod dialect;
mod names;
mod offer;
mod plan;
mod report;
mod restore;
mod rules;
mod schema;
mod stream;
mod wire;

pub use call::{Answer, Malformed, Requested, ResponseError};
pub use dialect::{Dialect, Form, UnknownDialect};
pub use names::NameClash;
pub use offer::Offer;
pub use report::{Finding, Level, Report};
pub use stream::{Received, Stream};
