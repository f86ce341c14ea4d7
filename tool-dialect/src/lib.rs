//! Tool definitions, calls and results in the format of each model provider.
//!
//! Providers differ in how they receive tool definitions, how they send a model's calls and how they expect results.
//! Each one also has rules for names and schemas, and breaking a rule fails the whole request. A [`Dialect`] knows
//! those rules. It turns a set of tools into a [`ToolOffer`]: their definitions, byte-for-byte stable, and the mapping
//! from the provider's response back to plain calls. An application with its own HTTP client needs nothing else.
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
//! // In strict mode the bound moves into the description, and the report says so.
//! let offer = Dialect::Anthropic.strict().offer(manifest.iter())?;
//! assert_eq!(offer.definitions()[0]["strict"], true);
//! assert_eq!(offer.definitions()[0]["input_schema"]["properties"]["limit"]["description"], "At least 1.");
//! assert_eq!(Dialect::Anthropic.strict().report(manifest.iter()).findings[0].path, "limit");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Schemas
//!
//! The portable profile works in every provider's non-strict mode. Types are inlined where they are used; only
//! recursive types stay behind a `$ref`. There are no boolean schemas, no lists of types and no machine-number formats,
//! every array has `items`, and an optional argument is simply not required. Strict modes and Gemini support less: a
//! constraint that the provider cannot read moves into the description as a sentence. A tool that a strict mode cannot
//! express is offered without it. [`DialectForm::report`] lists all of this per tool and argument.
//!
//! Names are encoded to what the provider accepts: a dot becomes `__`, and a name that is too long keeps its tail. Two
//! tools with the same encoded name are an error that names both. Arguments whose names a provider rejects are renamed,
//! and calls are decoded back. So is the `null` that OpenAI's strict mode requires for a missing argument.
//!
//! This crate does not know how a tool is called.

mod arguments;
mod call;
mod definition;
mod dialect;
mod names;
mod offer;
mod plan;
mod report;
mod rules;
mod schema;
mod stream;
mod wire;

pub use call::{MalformedCall, ProviderResult, RequestedCall, ResponseError};
pub use dialect::{Dialect, DialectForm, UnknownDialect};
pub use names::NameClash;
pub use offer::ToolOffer;
pub use report::{LossFinding, LossLevel, LossReport};
pub use stream::{StreamAssembler, StreamedResponse};
