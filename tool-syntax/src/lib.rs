//! How a tool is *read* from Rust source: one annotated item at a time.
//!
//! [`read_function`] reads a `#[tool]` function, [`read_class`] a `#[tool_class]` impl block. Both give what could be read together with a
//! [`Report`] of everything that is wrong, each error at its own place. The macros emit code from it, the generator
//! a manifest; neither has a rule of its own about what an attribute or a signature means.

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
pub use class::{Class, Constructor, read_class};
pub use included::{IncludedFiles, with_included_docs, with_included_docs_of_methods};
pub use parameter::{ArgumentParameter, InjectedParameter, Parameter};
pub use preview::{Preview, PreviewMethod};
pub use report::Report;
pub use signature::{Delivery, Receiver};
pub use tool::{Tool, read_function};
pub use ty::{ArgumentForm, InjectedForm};
