#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
pub use docs::stale_argument_docs;
pub use generics::{MissingGeneric, missing_generics};
pub use included::{IncludedFiles, inline_docs};
pub use parameter::{ArgumentParameter, InjectedParameter, Parameter};
pub use preview::{Preview, PreviewMethod};
pub use report::Report;
pub use signature::{Delivery, Receiver};
pub use tool::{ParsedTool, read_function};
pub use ty::{ArgumentForm, InjectedForm, ListItem};
