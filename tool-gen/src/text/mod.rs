//! Scanning of source text without parsing it.
//!
//! Parsing is a hundred times slower than searching for a word. So only files with an annotation are parsed, and those
//! without their function bodies.

mod lexer;
mod nesting;
mod outline;
mod search;
mod source_text;

pub(crate) use nesting::{NestingError, check_nesting};
pub(crate) use outline::{modules_only, without_bodies};
#[cfg(feature = "cli")]
pub(crate) use search::group_behind;
pub(crate) use search::{annotations, includes, may_be_attribute, may_declare_modules};
pub(crate) use source_text::source_text;
