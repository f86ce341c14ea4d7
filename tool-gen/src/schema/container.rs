//! Schemas of structs and enums, their fields and variants.

use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::{Default as SerdeDefault, TagType};
use serde_json::{Value, json};
use syn::spanned::Spanned;
use tool_model::compatibility::ALIASES;

use super::attributes::SchemaOverride;
use super::generator::{ContainerContext, SchemaGenerator};
use super::shape::{FieldShape, ShapeData, VariantShape};
use super::value::EvaluationScope;
use super::{LossKind, SchemaContract, compose};
use crate::text::source_text;
use crate::ty::Ty;

impl SchemaGenerator<'_> {
    pub(super) fn container(&mut self, inside: &ContainerContext) -> Value {
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

    fn plain_container(&mut self, inside: &ContainerContext) -> Value {
        let shape = &inside.shape;
        if let Some(with) = &shape.with {
            let ty = self.type_with(with, inside);
            return self.schema_for(&ty);
        }
        if let Some(field) = shape.transparent() {
            return self.field(field, inside, None);
        }
        let converted = match self.contract {
            SchemaContract::Deserialize => shape.attrs.type_from().or(shape.attrs.type_try_from()),
            SchemaContract::Serialize => shape.attrs.type_into(),
        };
        if let Some(ty) = converted {
            let ty = self.resolve(ty, inside);
            return self.schema_for(&ty);
        }
        match &shape.data {
            ShapeData::Struct(Style::Unit, _) => json!({"type": "null"}),
            ShapeData::Struct(Style::Newtype, fields) => self.field(&fields[0], inside, None),
            ShapeData::Struct(Style::Tuple, fields) => self.tuple(fields, inside),
            ShapeData::Struct(Style::Struct, fields) => {
                let denies = shape.attrs.deny_unknown_fields();
                self.properties(fields, inside, shape.attrs.default(), denies)
            }
            ShapeData::Enum(variants) => self.variants(variants, inside),
        }
    }

    /// Returns the schema of an enum that is written as its discriminants.
    fn numbers(&mut self, inside: &ContainerContext) -> Value {
        let mut values = Vec::new();
        if let ShapeData::Enum(variants) = &inside.shape.data {
            for variant in variants {
                values.push(self.number(variant, values.last(), inside));
            }
        }
        json!({"type": "integer", "enum": values})
    }

    fn number(&mut self, variant: &VariantShape, previous: Option<&Value>, inside: &ContainerContext) -> Value {
        let Some((_, number)) = &variant.original.discriminant else {
            return previous.and_then(Value::as_i64).map_or(0, |previous| previous + 1).into();
        };
        let scene = EvaluationScope::in_container(inside);
        match self.shapes.literal(number, &scene) {
            Ok(value) => value,
            Err(why) => {
                self.report(source_text(number), why, LossKind::Type);
                Value::Null
            }
        }
    }

    /// Resolves a type inside of a definition.
    pub(super) fn resolve(&self, ty: &syn::Type, inside: &ContainerContext) -> Ty {
        self.shapes.types.resolve(ty, inside.scope(), &inside.generics)
    }

    pub(super) fn type_with(&mut self, with: &SchemaOverride, inside: &ContainerContext) -> Ty {
        match with {
            SchemaOverride::Type(ty) => self.resolve(ty, inside),
            SchemaOverride::Function(function) => {
                self.report(function.clone(), "its schema comes from a function", LossKind::Type);
                Ty::Tuple(Vec::new())
            }
        }
    }

    /// Returns the type that describes a field.
    pub(super) fn field_type(&mut self, field: &FieldShape, inside: &ContainerContext) -> Ty {
        self.set_place(field.ty.span());
        match &field.with {
            Some(with) => self.type_with(with, inside),
            None => self.resolve(&field.ty, inside),
        }
    }
}

impl SchemaGenerator<'_> {
    /// Returns `true` unless the attributes skip a field or variant in this direction.
    pub(super) fn is_included(&self, skip_deserializing: bool, skip_serializing: bool) -> bool {
        !match self.contract {
            SchemaContract::Deserialize => skip_deserializing,
            SchemaContract::Serialize => skip_serializing,
        }
    }

    /// Returns the fields that are not skipped.
    fn included_fields<'f>(&self, fields: &'f [FieldShape]) -> Vec<&'f FieldShape> {
        let is_included =
            |field: &&FieldShape| self.is_included(field.attrs.skip_deserializing(), field.attrs.skip_serializing());
        fields.iter().filter(is_included).collect()
    }

    /// Returns the schema of a field of a struct or variant.
    pub(super) fn field(&mut self, field: &FieldShape, inside: &ContainerContext, default: Option<Value>) -> Value {
        let ty = self.field_type(field, inside);
        let schema = if field.validation.required { self.present_schema_for(&ty) } else { self.subschema_for(&ty) };
        self.finish_field(field, schema, inside, default)
    }

    /// Returns the schema of the only field of an internally tagged variant. It is written out where a reference would
    /// refuse the tag.
    pub(super) fn field_beside_tag(&mut self, field: &FieldShape, inside: &ContainerContext) -> Value {
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

    fn finish_field(
        &mut self,
        field: &FieldShape,
        mut schema: Value,
        inside: &ContainerContext,
        default: Option<Value>,
    ) -> Value {
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

    pub(super) fn tuple(&mut self, fields: &[FieldShape], inside: &ContainerContext) -> Value {
        let present = self.included_fields(fields);
        let items: Vec<Value> = present.into_iter().map(|field| self.field(field, inside, None)).collect();
        let length = items.len();
        let mut schema = json!({"type": "array", "maxItems": length});
        if length > 0 {
            compose::insert(&mut schema, "prefixItems", items);
            compose::insert(&mut schema, "minItems", length);
        }
        schema
    }

    /// Returns the schema of named fields.
    pub(super) fn properties(
        &mut self,
        fields: &[FieldShape],
        inside: &ContainerContext,
        default: &SerdeDefault,
        denies_unknown: bool,
    ) -> Value {
        let mut schema = json!({"type": "object"});
        if denies_unknown {
            compose::insert(&mut schema, "additionalProperties", false);
        }
        for field in self.included_fields(fields) {
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

    /// Returns the name that serde uses in this direction.
    pub(super) fn written_name<'n>(&self, name: &'n serde_derive_internals::name::MultiName) -> &'n str {
        match self.contract {
            SchemaContract::Deserialize => &name.deserialize_name().value,
            SchemaContract::Serialize => &name.serialize_name().value,
        }
    }

    fn is_optional(&mut self, field: &FieldShape, inside: &ContainerContext, of_container: bool) -> bool {
        let has_default = of_container || !field.attrs.default().is_none();
        let may_be_skipped = field.attrs.skip_serializing_if().is_some();
        match self.contract {
            SchemaContract::Serialize => may_be_skipped,
            SchemaContract::Deserialize => {
                let ty = self.field_type(field, inside);
                has_default || (!field.validation.required && self.is_option(&ty))
            }
        }
    }

    /// Returns the default of a field. One that cannot be evaluated is left out.
    fn field_default(
        &mut self,
        field: &FieldShape,
        inside: &ContainerContext,
        of_container: &SerdeDefault,
    ) -> Option<Value> {
        let own = field.attrs.default();
        if field.attrs.skip_serializing() || (own.is_none() && of_container.is_none()) {
            return None;
        }
        self.set_place(field.ty.span());
        match self.shapes.field_default(field, inside, of_container) {
            Ok(value) => value,
            Err(why) => {
                let what = format!("the default of `{}`", field.member);
                self.report(what, why, LossKind::Detail);
                None
            }
        }
    }
}

impl SchemaGenerator<'_> {
    pub(super) fn variants(&mut self, variants: &[VariantShape], inside: &ContainerContext) -> Value {
        if variants.is_empty() {
            return Value::Bool(false);
        }
        let (bare, others): (Vec<&VariantShape>, Vec<&VariantShape>) = match inside.shape.attrs.tag() {
            TagType::External => variants.iter().partition(|variant| {
                let is_plain = variant.common.is_empty() && variant.with.is_none();
                variant.is_unit() && is_plain && !variant.attrs.untagged() && !inside.shape.ref_variants
            }),
            _ => (Vec::new(), variants.iter().collect()),
        };
        let mut forms = Vec::new();
        if !bare.is_empty() {
            let known: Vec<_> = bare.into_iter().filter(|variant| self.is_variant_included(variant)).collect();
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
            if self.is_variant_included(variant) {
                forms.push(self.variant_form(variant, inside));
            }
        }
        let keyword = if overlap || matches!(inside.shape.attrs.tag(), TagType::None) { "anyOf" } else { "oneOf" };
        let mut schema = json!({keyword: forms});
        if are_all_bare && matches!(inside.shape.attrs.tag(), TagType::External) {
            // The manifest has one list of the variants, with or without documentation.
            self.add_variant_aliases(&mut schema, variants);
        }
        schema
    }

    fn is_variant_included(&self, variant: &VariantShape) -> bool {
        self.is_included(variant.attrs.skip_deserializing(), variant.attrs.skip_serializing())
    }

    fn variant_form(&mut self, variant: &VariantShape, inside: &ContainerContext) -> Value {
        if !inside.shape.ref_variants {
            return self.variant(variant, inside);
        }
        let name = &variant.attrs.name().deserialize_name().value;
        let id = format!("_SchemarsRefVariant/{}::{name}", self.shapes.id(&inside.ty()));
        self.refer(id, name, |generator| generator.variant(variant, inside))
    }

    fn variant(&mut self, variant: &VariantShape, inside: &ContainerContext) -> Value {
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

    /// Returns the schema of a variant's name.
    fn constant_name(&self, name: &str, variant: &VariantShape) -> Value {
        let mut schema = json!({"type": "string", "const": name});
        self.add_variant_aliases(&mut schema, [variant]);
        schema
    }

    /// Returns the schema of a variant's content.
    fn content(&mut self, variant: &VariantShape, inside: &ContainerContext) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, inside);
            return self.subschema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field(&variant.fields[0], inside, None),
            _ => self.fields_of(variant, inside),
        }
    }

    /// Returns the schema of a variant's content beside the tag.
    fn content_beside_tag(&mut self, variant: &VariantShape, inside: &ContainerContext) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, inside);
            return self.schema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field_beside_tag(&variant.fields[0], inside),
            _ => self.fields_of(variant, inside),
        }
    }

    fn fields_of(&mut self, variant: &VariantShape, inside: &ContainerContext) -> Value {
        let denies = inside.shape.attrs.deny_unknown_fields();
        match variant.style {
            Style::Unit => json!({"type": "null"}),
            Style::Tuple | Style::Newtype => self.tuple(&variant.fields, inside),
            Style::Struct => self.properties(&variant.fields, inside, &SerdeDefault::None, denies),
        }
    }
}
