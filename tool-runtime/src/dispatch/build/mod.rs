//! Building a dispatcher: the builder, and the tools bound to what they need.

pub(super) mod bind;
pub(super) mod builder;
mod check_definition;
pub(super) mod dependencies;
mod match_manifest;
pub(super) mod problem;
