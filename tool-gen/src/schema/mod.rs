//! What schemars' derive would say at run time, computed from source alone.
//!
//! Schemars and serde decide from a type and its attributes how it is written in JSON. This module decides the same,
//! without compiling anything. What cannot be seen is never guessed: it is reported as [`UnseenPart`].

mod argument;
mod attributes;
mod compose;
mod container;
mod default;
mod describe;
mod evaluate;
mod facts;
mod generator;
mod kind;
mod library;
mod shape;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use argument::{DecodedForm, argument, returns};
pub(crate) use generator::SchemaGenerator;
pub(crate) use shape::TypeShapes;

use proc_macro2::Span;

use crate::ty::DefinitionId;

/// Whether a schema says how a type is read or how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaContract {
    /// As an argument is.
    Deserialize,
    /// As a result is.
    Serialize,
}

/// Something that the source does not tell.
#[derive(Clone, Debug)]
pub(crate) struct UnseenPart {
    /// The type or the expression as it is written.
    pub(crate) what: String,
    /// Why it cannot be seen.
    pub(crate) why: String,
    /// The struct or enum it stands in, if it is not the argument itself.
    pub(crate) inside: Option<DefinitionId>,
    /// Where in the file of that definition.
    pub(crate) at: Span,
    /// What is lost by it.
    pub(crate) loss: LossKind,
}

/// What is lost by something that was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// The schema as a whole: the argument is `any`.
    Type,
    /// The schema, and with it the program: schemars does not come to an end either.
    Program,
    /// One keyword, such as a default.
    Detail,
}
