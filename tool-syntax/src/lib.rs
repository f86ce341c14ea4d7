//! Parser for annotated Rust items: attributes, signatures, docs and types, one item at a time.
//!
//! [`read_function`] reads a `#[tool]` function, [`read_class`] a `#[tool_class]` impl block, [`read_trait`] a trait and
//! [`read_declared_class`] a block of `tools!`. They return what they could read together with a [`Report`] of every error, each with its span. The macros emit code from the result and the
//! generator a manifest, so both apply the same rules.

mod attrs;
mod check;
mod class;
mod constructor;
mod conversion;
mod declared;
mod docs;
mod explicit;
mod generics;
mod impl_trait;
mod included;
mod instances;
mod literal;
mod object;
mod parameter;
mod preview;
mod report;
mod rewrite;
mod signature;
mod tool;
mod ty;
mod value_kind;

pub use attrs::{DefaultValue, hides_tool, is_helper, is_tool, marker};
pub use class::{ClassKind, ParsedClass, read_class, read_declared_class, read_trait};
pub use constructor::ClassConstructor;
pub use conversion::{ArgumentConversion, Container, ConversionKind, ResultConversion, ResultFormat};
pub use declared::{DeclaredClass, parse_declared};
pub use generics::{MissingGeneric, missing_generics};
pub use included::{IncludedFiles, inline_docs};
pub use parameter::{ArgumentParameter, InjectedParameter, Parameter};
pub use preview::{Preview, PreviewMethod};
pub use report::Report;
pub use signature::{Delivery, Receiver};
pub use tool::{ParsedTool, read_function};
pub use ty::{ArgumentForm, InjectedForm, ListItem};
