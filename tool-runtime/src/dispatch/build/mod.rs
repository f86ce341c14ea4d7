//! Building a dispatcher: the builder, the values to inject, and the binding of tools to them.

pub(super) mod bind;
pub(super) mod bound_tool;
pub(super) mod builder;
mod check_definition;
pub(super) mod dependencies;
mod match_manifest;
pub(super) mod problem;
mod shown_arguments;
pub(super) mod warnings;

use dependencies::{Dependencies, ValueSource};
