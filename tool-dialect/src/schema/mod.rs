//! From a tool's arguments to the JSON Schema that a provider reads.
//!
//! A [`Profile`] says what a provider understands, a [`Writer`] writes a schema in that form, straight from the
//! definition to text. What a form cannot say is told to [`Notes`].

mod body;
mod definitions;
mod elsewhere;
mod fit;
mod json;
mod keyword;
mod merge;
mod node;
mod notes;
mod profile;
mod types;
mod words;
mod write;

pub(crate) use definitions::Definitions;
pub(crate) use json::Json;
pub(crate) use node::Node;
pub(crate) use notes::{Loss, Losses, Notes, Silent};
pub(crate) use profile::{ANTHROPIC_STRICT, GEMINI, OPENAI_STRICT, PORTABLE, Profile, RESULT};
pub(crate) use write::{Counts, Writer};
