//! The schemas of fields, and of what consists of fields.

use serde_derive_internals::attr::Default as SerdeDefault;
use serde_json::{Value, json};
use syn::spanned::Spanned;
use tool_model::compatibility::ALIASES;

use super::compose;
use super::generator::{Generator, Inside};
use super::shape::Field;
use super::{Contract, Loss};

impl Generator<'_> {
    /// Whether something with these attributes is there at all under the contract.
    pub(super) fn is_there(&self, skip_deserializing: bool, skip_serializing: bool) -> bool {
        !match self.contract {
            Contract::Deserialize => skip_deserializing,
            Contract::Serialize => skip_serializing,
        }
    }

    /// The fields that are there under the contract.
    fn present<'f>(&self, fields: &'f [Field]) -> Vec<&'f Field> {
        let is_there = |field: &&Field| self.is_there(field.attrs.skip_deserializing(), field.attrs.skip_serializing());
        fields.iter().filter(is_there).collect()
    }

    /// The schema of a field as it stands in a struct or variant.
    pub(super) fn field(&mut self, field: &Field, inside: &Inside, default: Option<Value>) -> Value {
        let ty = self.field_type(field, inside);
        let schema = if field.validation.required { self.present_schema_for(&ty) } else { self.subschema_for(&ty) };
        self.finish_field(field, schema, inside, default)
    }

    /// The schema of the one field of an internally tagged variant: where a reference would refuse the tag, it is
    /// written out.
    pub(super) fn field_beside_tag(&mut self, field: &Field, inside: &Inside) -> Value {
        let ty = self.field_type(field, inside);
        let schema = if field.validation.required {
            self.present_schema_for(&ty)
        } else {
            let mut schema = self.schema_for(&ty);
            let changed = compose::allow_unknown_below(&mut schema);
            let written_out = self.is_inline_type(&ty) || changed || compose::refuses_tag(&schema);
            if written_out { schema } else { self.subschema_for(&ty) }
        };
        self.finish_field(field, schema, inside, None)
    }

    fn finish_field(&mut self, field: &Field, mut schema: Value, inside: &Inside, default: Option<Value>) -> Value {
        self.add_field_facts(&mut schema, field);
        self.describe(&field.common, &mut schema, inside);
        self.validate(&field.validation, &mut schema, inside);
        if field.attrs.skip_deserializing() {
            compose::insert(&mut schema, "readOnly", true);
        }
        if field.attrs.skip_serializing() {
            compose::insert(&mut schema, "writeOnly", true);
        }
        if let Some(default) = default {
            compose::insert(&mut schema, "default", default);
        }
        self.extend(&field.common, &mut schema, inside);
        schema
    }

    pub(super) fn tuple(&mut self, fields: &[Field], inside: &Inside) -> Value {
        let present = self.present(fields);
        let items: Vec<Value> = present.into_iter().map(|field| self.field(field, inside, None)).collect();
        let length = items.len();
        let mut schema = json!({"type": "array", "maxItems": length});
        if length > 0 {
            compose::insert(&mut schema, "prefixItems", items);
            compose::insert(&mut schema, "minItems", length);
        }
        schema
    }

    /// The schema of named fields.
    pub(super) fn properties(
        &mut self,
        fields: &[Field],
        inside: &Inside,
        default: &SerdeDefault,
        denies_unknown: bool,
    ) -> Value {
        let mut schema = json!({"type": "object"});
        if denies_unknown {
            compose::insert(&mut schema, "additionalProperties", false);
        }
        for field in self.present(fields) {
            if field.attrs.flatten() {
                let ty = self.field_type(field, inside);
                let required = field.validation.required;
                let mut flattened = self.present_schema_for(&ty);
                compose::prepare_flatten(&mut flattened, self.is_option(&ty) && !required);
                compose::flatten(&mut schema, flattened);
                continue;
            }
            let value = self.field_default(field, inside, default);
            let mut property = self.field(field, inside, value);
            let optional = self.is_optional(field, inside, !default.is_none());
            let name = self.written_name(field.attrs.name()).to_owned();
            self.add_aliases(&mut property, ALIASES, &name, field.attrs.aliases());
            compose::insert_property(&mut schema, &name, optional, property);
        }
        schema
    }

    /// A name of serde under the contract.
    pub(super) fn written_name<'n>(&self, name: &'n serde_derive_internals::name::MultiName) -> &'n str {
        match self.contract {
            Contract::Deserialize => &name.deserialize_name().value,
            Contract::Serialize => &name.serialize_name().value,
        }
    }

    fn is_optional(&mut self, field: &Field, inside: &Inside, of_container: bool) -> bool {
        let has_default = of_container || !field.attrs.default().is_none();
        let may_be_skipped = field.attrs.skip_serializing_if().is_some();
        match self.contract {
            Contract::Serialize => may_be_skipped,
            Contract::Deserialize => {
                let ty = self.field_type(field, inside);
                has_default || (!field.validation.required && self.is_option(&ty))
            }
        }
    }

    /// The default that a field is shown with. One that cannot be seen is left out.
    fn field_default(&mut self, field: &Field, inside: &Inside, of_container: &SerdeDefault) -> Option<Value> {
        let own = field.attrs.default();
        if field.attrs.skip_serializing() || (own.is_none() && of_container.is_none()) {
            return None;
        }
        self.move_to(field.ty.span());
        match self.shapes.field_default(field, inside, of_container) {
            Ok(value) => value,
            Err(why) => {
                let what = format!("the default of `{}`", field.member);
                self.report(what, why, Loss::Detail);
                None
            }
        }
    }
}
