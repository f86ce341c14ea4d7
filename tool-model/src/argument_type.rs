//! What the type system says of a parameter, type-erased so that one function can read it for every tool.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::scalar::Scalar;

/// The Rust type of one argument.
#[derive(Clone, Copy)]
pub struct ArgumentType {
    /// The type's full name.
    pub type_name: &'static str,
    /// Its schema; without one the argument is `any`.
    pub schema: Option<TypeSchema>,
    /// Whether the type itself accepts a missing value, as `Option` does.
    pub optional: bool,
    /// The variants of an enum in the order of declaration, empty for all else.
    pub variants: &'static [&'static str],
}

/// The schema of a type, made when it is asked for.
#[derive(Clone, Copy)]
pub enum TypeSchema {
    /// From the type's `JsonSchema`.
    Derived(fn(&mut SchemaGenerator) -> Schema),
    /// A string that the type parses itself, with its format if it has one.
    Text(Option<&'static str>),
    /// An array of such strings.
    Texts(Option<&'static str>),
}

impl ArgumentType {
    /// What the type is, if it is one of those that need no generated schema.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        if matches!(self.schema, Some(TypeSchema::Derived(_))) { Scalar::or_list_of(self.type_name) } else { None }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.scalar().is_some()
    }
}

impl TypeSchema {
    /// The schema of a type that derives it.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        Self::Derived(SchemaGenerator::subschema_for::<T>)
    }
}

impl fmt::Debug for TypeSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Derived(_) => "Derived",
            Self::Text(_) => "Text",
            Self::Texts(_) => "Texts",
        })
    }
}
