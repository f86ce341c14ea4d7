//! Conversion of a tool's arguments to the JSON Schema subset that a provider supports.
//!
//! A [`SchemaProfile`] describes the supported subset. A [`SchemaWriter`] writes a schema in that subset, directly as
//! text. A [`LossSink`] receives everything that the subset cannot express.

mod adapt;
mod body;
mod definitions;
mod json_text;
mod keyword;
mod losses;
mod merge;
mod node;
mod profile;
mod references;
mod sentences;
mod type_set;
mod writer;

pub(crate) use definitions::ToolDefs;
pub(crate) use json_text::JsonText;
pub(crate) use losses::{IgnoredLosses, LossRecorder, LossSink, SchemaLoss};
pub(crate) use node::SchemaNode;
pub(crate) use profile::{ANTHROPIC_STRICT, GEMINI, OPENAI_STRICT, PORTABLE, RESULT, SchemaProfile};
pub(crate) use writer::{SchemaCounts, SchemaWriter};
