//! The schema of a struct or an enum.

use serde_derive_internals::ast::Style;
use serde_json::{Value, json};
use syn::spanned::Spanned;

use super::attributes::With;
use super::generator::{Generator, Inside};
use super::shape::{Abilities, Data, Field, Variant};
use super::value::Scene;
use super::{Contract, Loss};
use crate::text::written;
use crate::ty::Ty;

impl Generator<'_> {
    pub(super) fn container(&mut self, inside: &Inside) -> Value {
        let mut schema = if inside.definition.derives("JsonSchema_repr") {
            self.numbers(inside)
        } else {
            self.plain_container(inside)
        };
        self.add_container_facts(&mut schema, inside);
        self.describe(&inside.shape.common, &mut schema, inside);
        self.extend(&inside.shape.common, &mut schema, inside);
        schema
    }

    fn plain_container(&mut self, inside: &Inside) -> Value {
        let shape = &inside.shape;
        if let Some(with) = &shape.with {
            let ty = self.type_with(with, inside);
            return self.schema_for(&ty);
        }
        if let Some(field) = shape.transparent() {
            return self.field(field, inside, None);
        }
        let converted = match self.contract {
            Contract::Deserialize => shape.attrs.type_from().or(shape.attrs.type_try_from()),
            Contract::Serialize => shape.attrs.type_into(),
        };
        if let Some(ty) = converted {
            let ty = self.resolve(ty, inside);
            return self.schema_for(&ty);
        }
        match &shape.data {
            Data::Struct(Style::Unit, _) => json!({"type": "null"}),
            Data::Struct(Style::Newtype, fields) => self.field(&fields[0], inside, None),
            Data::Struct(Style::Tuple, fields) => self.tuple(fields, inside),
            Data::Struct(Style::Struct, fields) => {
                let denies = shape.attrs.deny_unknown_fields();
                self.properties(fields, inside, shape.attrs.default(), denies)
            }
            Data::Enum(variants) => self.variants(variants, inside),
        }
    }

    /// An enum that is written as its numbers.
    fn numbers(&mut self, inside: &Inside) -> Value {
        let mut values = Vec::new();
        if let Data::Enum(variants) = &inside.shape.data {
            for variant in variants {
                values.push(self.number(variant, values.last(), inside));
            }
        }
        json!({"type": "integer", "enum": values})
    }

    fn number(&mut self, variant: &Variant, previous: Option<&Value>, inside: &Inside) -> Value {
        let Some((_, number)) = &variant.original.discriminant else {
            return previous.and_then(Value::as_i64).map_or(0, |previous| previous + 1).into();
        };
        let scene = Scene::of(inside);
        match self.shapes.literal(number, &scene) {
            Ok(value) => value,
            Err(why) => {
                self.report(written(number), why, Loss::Type);
                Value::Null
            }
        }
    }

    /// What a type means inside of a definition.
    pub(super) fn resolve(&self, ty: &syn::Type, inside: &Inside) -> Ty {
        self.shapes.types.resolve(ty, inside.scope(), &inside.generics)
    }

    pub(super) fn type_with(&mut self, with: &With, inside: &Inside) -> Ty {
        match with {
            With::Type(ty) => self.resolve(ty, inside),
            With::Function(function) => {
                self.report(function.clone(), "a function writes the schema", Loss::Type);
                Ty::Tuple(Vec::new())
            }
        }
    }

    /// The type that describes a field.
    pub(super) fn field_type(&mut self, field: &Field, inside: &Inside) -> Ty {
        self.move_to(field.ty.span());
        match &field.with {
            Some(with) => self.type_with(with, inside),
            None => self.resolve(&field.ty, inside),
        }
    }
}
