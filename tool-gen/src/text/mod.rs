//! What can be told of source text without parsing it.
//!
//! Parsing is a hundred times slower than looking for a word, so it is done only where something is to be found: in
//! files with an annotation, and there only what stands outside of function bodies.

mod blank;
mod lexer;
mod modules;
mod nesting;
mod outline;
mod search;
mod written;

pub(crate) use modules::modules_only;
pub(crate) use nesting::{TooDeep, check_nesting};
pub(crate) use outline::without_bodies;
pub(crate) use search::{annotations, includes, may_be_attribute, may_declare_modules};
pub(crate) use written::written;
