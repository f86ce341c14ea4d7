//! Facts for comparing two versions of a tool, added to schemas on request.
//!
//! A schema does not show the width of a 64-bit integer, that a string is parsed, or the aliases of a field. See
//! [`tool_model::compatibility`], which reads the keywords.

use std::collections::BTreeSet;

use serde_derive_internals::name::Name;
use serde_json::Value;
use tool_model::compatibility::{RUST_TYPE, VARIANT_ALIASES};

use super::SchemaContract;
use super::compose;
use super::generator::{ContainerContext, SchemaGenerator};
use super::library::PlainType;
use super::shape::{FieldShape, VariantShape};
use crate::text::source_text;

impl SchemaGenerator<'_> {
    fn has_facts(&self) -> bool {
        self.shapes.with_facts && self.contract == SchemaContract::Deserialize
    }

    /// Returns the schema of a type without parameters.
    pub(super) fn plain(&self, plain: &PlainType) -> Value {
        let mut schema = (plain.schema)(self.contract);
        if self.has_facts()
            && let Some(name) = rust_type(plain, &schema)
        {
            compose::insert(&mut schema, RUST_TYPE, name);
        }
        schema
    }

    pub(super) fn add_rust_type(&self, schema: &mut Value, name: impl FnOnce() -> String) {
        if self.has_facts() {
            compose::insert(schema, RUST_TYPE, name());
        }
    }

    /// Adds the name of a struct or enum that converts the value itself and may refuse it.
    pub(super) fn add_container_facts(&mut self, schema: &mut Value, context: &ContainerContext) {
        let shape = &context.shape;
        self.has_own_rules |= shape.overrides_serde || shape.with.is_some() || !shape.common.extensions.is_empty();
        let definition = &context.definition;
        let by_hand = definition.implements("Deserialize") || definition.derives("DeserializeFromStr");
        if by_hand || shape.attrs.type_try_from().is_some() {
            self.add_rust_type(schema, || definition.item.ident.to_string());
        }
    }

    /// Adds the type of a field with `deserialize_with`.
    pub(super) fn add_field_facts(&mut self, schema: &mut Value, field: &FieldShape) {
        let has_own_schema = field.with.is_some() || !field.common.extensions.is_empty();
        self.has_own_rules |= has_own_schema || !field.validation.is_empty();
        if field.attrs.deserialize_with().is_some() {
            self.add_rust_type(schema, || source_text(&field.ty));
        }
    }

    /// Adds the names besides `name` under which a field or a variant is read.
    pub(super) fn add_aliases(&self, schema: &mut Value, keyword: &str, name: &str, aliases: &BTreeSet<Name>) {
        if !self.has_facts() {
            return;
        }
        let others: Vec<&str> =
            aliases.iter().map(|alias| alias.value.as_str()).filter(|alias| *alias != name).collect();
        if !others.is_empty() {
            compose::insert(schema, keyword, others);
        }
    }

    /// Adds the aliases of the variants that a schema lists.
    pub(super) fn add_variant_aliases<'v>(
        &self,
        schema: &mut Value,
        variants: impl IntoIterator<Item = &'v VariantShape>,
    ) {
        let aliases = |variant: &'v VariantShape| {
            let name = self.written_name(variant.attrs.name());
            variant.attrs.aliases().iter().map(|alias| alias.value.as_str()).filter(move |alias| *alias != name)
        };
        if self.has_facts() {
            let others: Vec<&str> = variants.into_iter().flat_map(aliases).collect();
            if !others.is_empty() {
                compose::insert(schema, VARIANT_ALIASES, others);
            }
        }
    }
}

/// Returns the name of a number type or of a type that is read from a string.
fn rust_type(plain: &PlainType, schema: &Value) -> Option<&'static str> {
    let format = schema.get("format").and_then(Value::as_str);
    Some(match (schema.get("type")?.as_str()?, format) {
        ("integer" | "number", Some(format)) => match format {
            "float" => "f32",
            "double" => "f64",
            "int8" => "i8",
            "int16" => "i16",
            "int32" => "i32",
            "int64" => "i64",
            "int128" => "i128",
            "int" => "isize",
            "uint8" => "u8",
            "uint16" => "u16",
            "uint32" => "u32",
            "uint64" => "u64",
            "uint128" => "u128",
            "uint" => "usize",
            _ => return None,
        },
        // The list of values shows the type.
        ("string", _) if schema.get("enum").is_some() => return None,
        ("string", _) if plain.name == "Character" => return None,
        ("string", None) => plain.parsed.unwrap_or("String"),
        ("string", Some(_)) => plain.parsed.unwrap_or(plain.name),
        _ => return None,
    })
}
