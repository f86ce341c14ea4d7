//! What can be told of source text without parsing it.
//!
//! Parsing is a hundred times slower than looking for a word, so it is done only where something is to be found: in
//! files with an annotation, and there only what stands outside of function bodies.

mod lexer;
mod nesting;
mod outline;
mod search;
mod source_text;

pub(crate) use nesting::{NestingError, check_nesting};
pub(crate) use outline::{modules_only, without_bodies};
pub(crate) use search::{annotations, includes, may_be_attribute, may_declare_modules};
pub(crate) use source_text::source_text;
