//! The schemas of enums, in each way that serde tells variants apart.

use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::{Default as SerdeDefault, TagType};
use serde_json::{Value, json};
use tool_model::compatibility::ALIASES;

use super::compose;
use super::generator::{Generator, Inside};
use super::shape::Variant;

impl Generator<'_> {
    pub(super) fn variants(&mut self, variants: &[Variant], inside: &Inside) -> Value {
        if variants.is_empty() {
            return Value::Bool(false);
        }
        let (bare, others): (Vec<&Variant>, Vec<&Variant>) = match inside.shape.attrs.tag() {
            TagType::External => variants.iter().partition(|variant| {
                let is_plain = variant.common.is_empty() && variant.with.is_none();
                variant.is_unit() && is_plain && !variant.attrs.untagged() && !inside.shape.ref_variants
            }),
            _ => (Vec::new(), variants.iter().collect()),
        };
        let mut forms = Vec::new();
        if !bare.is_empty() {
            let known: Vec<_> = bare.into_iter().filter(|variant| self.is_variant_there(variant)).collect();
            let names: Vec<&str> = known.iter().map(|variant| self.written_name(variant.attrs.name())).collect();
            let mut list = json!({"type": "string", "enum": names});
            self.add_variant_aliases(&mut list, known);
            if others.is_empty() {
                return list;
            }
            forms.push(list);
        }
        let are_all_bare = variants.iter().all(|variant| variant.is_unit() && !variant.attrs.untagged());
        let overlap = others.iter().any(|variant| variant.attrs.untagged());
        for variant in others {
            if self.is_variant_there(variant) {
                forms.push(self.variant_form(variant, inside));
            }
        }
        let keyword = if overlap || matches!(inside.shape.attrs.tag(), TagType::None) { "anyOf" } else { "oneOf" };
        let mut schema = json!({keyword: forms});
        if are_all_bare && matches!(inside.shape.attrs.tag(), TagType::External) {
            // The manifest makes one list of the variants, with or without documentation.
            self.add_variant_aliases(&mut schema, variants);
        }
        schema
    }

    fn is_variant_there(&self, variant: &Variant) -> bool {
        self.is_there(variant.attrs.skip_deserializing(), variant.attrs.skip_serializing())
    }

    fn variant_form(&mut self, variant: &Variant, inside: &Inside) -> Value {
        if !inside.shape.ref_variants {
            return self.variant(variant, inside);
        }
        let name = &variant.attrs.name().deserialize_name().value;
        let id = format!("_SchemarsRefVariant/{}::{name}", self.id(&inside.ty()));
        self.refer(id, name, |generator| generator.variant(variant, inside))
    }

    fn variant(&mut self, variant: &Variant, inside: &Inside) -> Value {
        let denies = inside.shape.attrs.deny_unknown_fields();
        let name = self.written_name(variant.attrs.name()).to_owned();
        let has_content = !variant.is_unit() || variant.with.is_some();
        let mut schema = match inside.shape.attrs.tag() {
            _ if variant.attrs.untagged() => self.content(variant, inside),
            TagType::None => self.content(variant, inside),
            TagType::External if !has_content => self.constant_name(&name, variant),
            TagType::External => {
                let mut content = self.content(variant, inside);
                self.add_aliases(&mut content, ALIASES, &name, variant.attrs.aliases());
                compose::externally_tagged(&name, content)
            }
            TagType::Internal { tag } => {
                let mut schema = self.content_beside_tag(variant, inside);
                compose::tag_internally(&mut schema, tag, self.constant_name(&name, variant), denies);
                schema
            }
            TagType::Adjacent { tag, content } => {
                let mut schema = json!({"type": "object"});
                compose::insert_property(&mut schema, tag, false, self.constant_name(&name, variant));
                if has_content {
                    let inner = self.content(variant, inside);
                    compose::insert_property(&mut schema, content, false, inner);
                }
                if denies {
                    compose::insert(&mut schema, "additionalProperties", false);
                }
                schema
            }
        };
        self.describe(&variant.common, &mut schema, inside);
        self.extend(&variant.common, &mut schema, inside);
        schema
    }

    /// The schema of a variant's name.
    fn constant_name(&self, name: &str, variant: &Variant) -> Value {
        let mut schema = json!({"type": "string", "const": name});
        self.add_variant_aliases(&mut schema, [variant]);
        schema
    }

    /// What a variant holds.
    fn content(&mut self, variant: &Variant, inside: &Inside) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, inside);
            return self.subschema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field(&variant.fields[0], inside, None),
            _ => self.fields_of(variant, inside),
        }
    }

    /// What a variant holds, where the tag stands among it.
    fn content_beside_tag(&mut self, variant: &Variant, inside: &Inside) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, inside);
            return self.schema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field_beside_tag(&variant.fields[0], inside),
            _ => self.fields_of(variant, inside),
        }
    }

    fn fields_of(&mut self, variant: &Variant, inside: &Inside) -> Value {
        let denies = inside.shape.attrs.deny_unknown_fields();
        match variant.style {
            Style::Unit => json!({"type": "null"}),
            Style::Tuple | Style::Newtype => self.tuple(&variant.fields, inside),
            Style::Struct => self.properties(&variant.fields, inside, &SerdeDefault::None, denies),
        }
    }
}
