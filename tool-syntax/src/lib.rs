//! Parser for annotated Rust items: attributes, signatures, docs and types, one item at a time.
//!
//! [`read_function`] reads a `#[tool]` function, [`read_class`] a `#[tool_class]` impl block. Both return what they could
//! read together with a [`Report`] of every error, each with its span. The macros emit code from the result and the
//! generator a manifest, so both apply the same rules.

mod attrs;
mod check;
mod class;
mod docs;
mod explicit;
mod included;
mod literal;
mod parameter;
mod preview;
mod report;
mod signature;
mod tool;
mod ty;

pub use attrs::{DefaultValue, hides_tool, is_helper, is_tool, marker};
pub use class::{ClassConstructor, ParsedClass, read_class};
pub use included::{IncludedFiles, with_included_docs, with_included_docs_of_methods};
pub use parameter::{ArgumentParameter, InjectedParameter, Parameter};
pub use preview::{Preview, PreviewMethod};
pub use report::Report;
pub use signature::{Delivery, Receiver};
pub use tool::{ParsedTool, read_function};
pub use ty::{ArgumentForm, InjectedForm};
