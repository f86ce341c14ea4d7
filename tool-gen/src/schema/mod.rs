//! Schemas as schemars' derive would generate them at run time, computed from source alone.
//!
//! Schemars and serde derive the JSON form of a type from its definition and attributes. This module does the same
//! without compiling anything. A part that cannot be read is never guessed: it is reported as [`UnseenPart`].

mod argument;
mod attributes;
mod compose;
mod container;
mod default;
mod delegation;
mod describe;
mod evaluate;
mod facts;
mod generator;
mod kind;
mod language_form;
mod library;
mod shape;
mod traced;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use argument::{DecodedForm, argument, returns};
pub(crate) use generator::SchemaGenerator;
pub(crate) use shape::TypeShapes;

use proc_macro2::Span;

use crate::ty::DefinitionId;

/// The direction of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaContract {
    /// Deserialization, for arguments.
    Deserialize,
    /// Serialization, for results.
    Serialize,
}

/// A part of a type that the source does not show.
#[derive(Clone, Debug)]
pub(crate) struct UnseenPart {
    /// The source text of the type or the expression.
    pub(crate) what: String,
    /// The reason.
    pub(crate) why: String,
    /// The struct or enum that contains it, unless it is the argument itself.
    pub(crate) inside: Option<DefinitionId>,
    /// The place in the file of that definition.
    pub(crate) at: Span,
    /// The consequence for the schema.
    pub(crate) loss: LossKind,
}

/// The consequence of an unseen part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// The schema is missing: the argument is `any`.
    Type,
    /// A part has no schema: only that part is `any`.
    Leaf,
    /// The schema is missing, and the program aborts: schemars does not terminate either.
    Program,
    /// A keyword is missing, such as a default.
    Detail,
}
