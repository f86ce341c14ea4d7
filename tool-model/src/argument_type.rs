//! Types of parameters, type-erased so that one function handles every tool.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::scalar::Scalar;
use crate::trace::TracedType;

/// The Rust type of one argument.
#[derive(Clone, Copy)]
pub struct ArgumentType {
    /// The type's full name.
    pub type_name: &'static str,
    /// The schema; `None` for `any`.
    pub schema: Option<TypeSchema>,
    /// `true` if the type itself accepts a missing value, like `Option`.
    pub optional: bool,
    /// The variants of an enum in the order of declaration; empty for other types.
    pub variants: &'static [&'static str],
}

/// The schema of a type, generated on demand.
#[derive(Clone, Copy)]
pub enum TypeSchema {
    /// From the type's `JsonSchema`.
    Derived(fn(&mut SchemaGenerator) -> Schema),
    /// From the type's `Deserialize`.
    Traced(fn() -> TracedType),
    /// A string that the type parses, with its format if it has one.
    Text(Option<&'static str>),
    /// An array of such strings.
    Texts(Option<&'static str>),
}

impl ArgumentType {
    /// Returns the scalar type, if it needs no generated schema.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        if matches!(self.schema, Some(TypeSchema::Derived(_))) {
            Scalar::from_type_name_or_list(self.type_name)
        } else {
            None
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.scalar().is_some()
    }
}

impl TypeSchema {
    /// Returns the schema of a type that implements `JsonSchema`.
    #[must_use]
    pub fn from_type<T: JsonSchema>() -> Self {
        Self::Derived(SchemaGenerator::subschema_for::<T>)
    }
}

impl fmt::Debug for TypeSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Derived(_) => "Derived",
            Self::Traced(_) => "Traced",
            Self::Text(_) => "Text",
            Self::Texts(_) => "Texts",
        })
    }
}
