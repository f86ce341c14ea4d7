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
    pub(super) fn container(&mut self, context: &ContainerContext) -> Value {
        let mut schema = if context.definition.derives("JsonSchema_repr") {
            self.numbers(context)
        } else {
            self.plain_container(context)
        };
        self.add_container_facts(&mut schema, context);
        self.describe(&context.shape.common, &mut schema, context);
        self.extend(&context.shape.common, &mut schema, context);
        schema
    }

    fn plain_container(&mut self, context: &ContainerContext) -> Value {
        let shape = &context.shape;
        if let Some(with) = &shape.with {
            let ty = self.type_with(with, context);
            return self.schema_for(&ty);
        }
        if let Some(field) = shape.transparent() {
            return self.field(field, context, None);
        }
        let converted = match self.contract {
            SchemaContract::Deserialize => shape.attrs.type_from().or(shape.attrs.type_try_from()),
            SchemaContract::Serialize => shape.attrs.type_into(),
        };
        if let Some(ty) = converted {
            let ty = self.resolve(ty, context);
            return self.schema_for(&ty);
        }
        match &shape.data {
            ShapeData::Struct(Style::Unit, _) => json!({"type": "null"}),
            ShapeData::Struct(Style::Newtype, fields) => self.field(&fields[0], context, None),
            ShapeData::Struct(Style::Tuple, fields) => self.tuple(fields, context),
            ShapeData::Struct(Style::Struct, fields) => {
                let denies = shape.attrs.deny_unknown_fields();
                self.properties(fields, context, shape.attrs.default(), denies)
            }
            ShapeData::Enum(variants) => self.variants(variants, context),
        }
    }

    /// Returns the schema of an enum that is written as its discriminants.
    fn numbers(&mut self, context: &ContainerContext) -> Value {
        let mut values = Vec::new();
        if let ShapeData::Enum(variants) = &context.shape.data {
            for variant in variants {
                values.push(self.number(variant, values.last(), context));
            }
        }
        json!({"type": "integer", "enum": values})
    }

    fn number(&mut self, variant: &VariantShape, previous: Option<&Value>, context: &ContainerContext) -> Value {
        let Some((_, number)) = &variant.original.discriminant else {
            return previous.and_then(Value::as_i64).map_or(0, |previous| previous + 1).into();
        };
        let env = EvaluationScope::in_container(context);
        match self.shapes.literal(number, &env) {
            Ok(value) => value,
            Err(why) => {
                self.report(source_text(number), why, LossKind::Type);
                Value::Null
            }
        }
    }

    /// Resolves a type inside of a definition.
    pub(super) fn resolve(&self, ty: &syn::Type, context: &ContainerContext) -> Ty {
        self.shapes.types.resolve(ty, context.scope(), &context.generics)
    }

    pub(super) fn type_with(&mut self, with: &SchemaOverride, context: &ContainerContext) -> Ty {
        match with {
            SchemaOverride::Type(ty) => self.resolve(ty, context),
            SchemaOverride::Function(function) => {
                self.report(function.clone(), "its schema comes from a function", LossKind::Type);
                Ty::Tuple(Vec::new())
            }
        }
    }

    /// Returns the type that describes a field.
    pub(super) fn field_type(&mut self, field: &FieldShape, context: &ContainerContext) -> Ty {
        self.set_place(field.ty.span());
        match &field.with {
            Some(with) => self.type_with(with, context),
            None => self.resolve(&field.ty, context),
        }
    }

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
    pub(super) fn field(&mut self, field: &FieldShape, context: &ContainerContext, default: Option<Value>) -> Value {
        let ty = self.field_type(field, context);
        let schema = if field.validation.required { self.present_schema_for(&ty) } else { self.subschema_for(&ty) };
        self.finish_field(field, schema, context, default)
    }

    /// Returns the schema of the only field of an internally tagged variant. It is written out where a reference would
    /// refuse the tag.
    pub(super) fn field_beside_tag(&mut self, field: &FieldShape, context: &ContainerContext) -> Value {
        let ty = self.field_type(field, context);
        let schema = if field.validation.required {
            self.present_schema_for(&ty)
        } else {
            let mut schema = self.schema_for(&ty);
            let changed = compose::allow_unknown_below(&mut schema);
            let written_out = self.is_inline_type(&ty) || changed || compose::refuses_tag(&schema);
            if written_out { schema } else { self.subschema_for(&ty) }
        };
        self.finish_field(field, schema, context, None)
    }

    fn finish_field(
        &mut self,
        field: &FieldShape,
        mut schema: Value,
        context: &ContainerContext,
        default: Option<Value>,
    ) -> Value {
        self.add_field_facts(&mut schema, field);
        self.describe(&field.common, &mut schema, context);
        self.validate(&field.validation, &mut schema, context);
        if field.attrs.skip_deserializing() {
            compose::insert(&mut schema, "readOnly", true);
        }
        if field.attrs.skip_serializing() {
            compose::insert(&mut schema, "writeOnly", true);
        }
        if let Some(default) = default {
            compose::insert(&mut schema, "default", default);
        }
        self.extend(&field.common, &mut schema, context);
        schema
    }

    pub(super) fn tuple(&mut self, fields: &[FieldShape], context: &ContainerContext) -> Value {
        let present = self.included_fields(fields);
        let items: Vec<Value> = present.into_iter().map(|field| self.field(field, context, None)).collect();
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
        context: &ContainerContext,
        default: &SerdeDefault,
        denies_unknown: bool,
    ) -> Value {
        let mut schema = json!({"type": "object"});
        if denies_unknown {
            compose::insert(&mut schema, "additionalProperties", false);
        }
        for field in self.included_fields(fields) {
            if field.attrs.flatten() {
                let ty = self.field_type(field, context);
                let required = field.validation.required;
                let mut flattened = self.present_schema_for(&ty);
                compose::prepare_flatten(&mut flattened, self.is_option(&ty) && !required);
                compose::flatten(&mut schema, flattened);
                continue;
            }
            let value = self.field_default(field, context, default);
            let mut property = self.field(field, context, value);
            let optional = self.is_optional(field, context, !default.is_none());
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

    fn is_optional(&mut self, field: &FieldShape, context: &ContainerContext, of_container: bool) -> bool {
        let has_default = of_container || !field.attrs.default().is_none();
        let may_be_skipped = field.attrs.skip_serializing_if().is_some();
        match self.contract {
            SchemaContract::Serialize => may_be_skipped,
            SchemaContract::Deserialize => {
                let ty = self.field_type(field, context);
                has_default || (!field.validation.required && self.is_option(&ty))
            }
        }
    }

    /// Returns the default of a field. One that cannot be evaluated is left out.
    fn field_default(
        &mut self,
        field: &FieldShape,
        context: &ContainerContext,
        of_container: &SerdeDefault,
    ) -> Option<Value> {
        let own = field.attrs.default();
        if field.attrs.skip_serializing() || (own.is_none() && of_container.is_none()) {
            return None;
        }
        self.set_place(field.ty.span());
        match self.shapes.field_default(field, context, of_container) {
            Ok(value) => value,
            Err(why) => {
                let what = format!("the default of `{}`", field.member);
                self.report(what, why, LossKind::Detail);
                None
            }
        }
    }

    pub(super) fn variants(&mut self, variants: &[VariantShape], context: &ContainerContext) -> Value {
        if variants.is_empty() {
            return Value::Bool(false);
        }
        let (bare, others): (Vec<&VariantShape>, Vec<&VariantShape>) = match context.shape.attrs.tag() {
            TagType::External => variants.iter().partition(|variant| {
                let is_plain = variant.common.is_empty() && variant.with.is_none();
                variant.is_unit() && is_plain && !variant.attrs.untagged() && !context.shape.ref_variants
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
                forms.push(self.variant_form(variant, context));
            }
        }
        let keyword = if overlap || matches!(context.shape.attrs.tag(), TagType::None) { "anyOf" } else { "oneOf" };
        let mut schema = json!({keyword: forms});
        if are_all_bare && matches!(context.shape.attrs.tag(), TagType::External) {
            // The manifest has one list of the variants, with or without documentation.
            self.add_variant_aliases(&mut schema, variants);
        }
        schema
    }

    fn is_variant_included(&self, variant: &VariantShape) -> bool {
        self.is_included(variant.attrs.skip_deserializing(), variant.attrs.skip_serializing())
    }

    fn variant_form(&mut self, variant: &VariantShape, context: &ContainerContext) -> Value {
        if !context.shape.ref_variants {
            return self.variant(variant, context);
        }
        let name = &variant.attrs.name().deserialize_name().value;
        let id = format!("_SchemarsRefVariant/{}::{name}", self.shapes.id(&context.ty()));
        self.refer(id, name, |generator| generator.variant(variant, context))
    }

    fn variant(&mut self, variant: &VariantShape, context: &ContainerContext) -> Value {
        let denies = context.shape.attrs.deny_unknown_fields();
        let name = self.written_name(variant.attrs.name()).to_owned();
        let has_content = !variant.is_unit() || variant.with.is_some();
        let mut schema = match context.shape.attrs.tag() {
            _ if variant.attrs.untagged() => self.content(variant, context),
            TagType::None => self.content(variant, context),
            TagType::External if !has_content => self.constant_name(&name, variant),
            TagType::External => {
                let mut content = self.content(variant, context);
                self.add_aliases(&mut content, ALIASES, &name, variant.attrs.aliases());
                compose::externally_tagged(&name, content)
            }
            TagType::Internal { tag } => {
                let mut schema = self.content_beside_tag(variant, context);
                compose::tag_internally(&mut schema, tag, self.constant_name(&name, variant), denies);
                schema
            }
            TagType::Adjacent { tag, content } => {
                let mut schema = json!({"type": "object"});
                compose::insert_property(&mut schema, tag, false, self.constant_name(&name, variant));
                if has_content {
                    let inner = self.content(variant, context);
                    compose::insert_property(&mut schema, content, false, inner);
                }
                if denies {
                    compose::insert(&mut schema, "additionalProperties", false);
                }
                schema
            }
        };
        self.describe(&variant.common, &mut schema, context);
        self.extend(&variant.common, &mut schema, context);
        schema
    }

    /// Returns the schema of a variant's name.
    fn constant_name(&self, name: &str, variant: &VariantShape) -> Value {
        let mut schema = json!({"type": "string", "const": name});
        self.add_variant_aliases(&mut schema, [variant]);
        schema
    }

    /// Returns the schema of a variant's content.
    fn content(&mut self, variant: &VariantShape, context: &ContainerContext) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, context);
            return self.subschema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field(&variant.fields[0], context, None),
            _ => self.fields_of(variant, context),
        }
    }

    /// Returns the schema of a variant's content beside the tag.
    fn content_beside_tag(&mut self, variant: &VariantShape, context: &ContainerContext) -> Value {
        if let Some(with) = &variant.with {
            let ty = self.type_with(with, context);
            return self.schema_for(&ty);
        }
        match variant.style {
            Style::Newtype => self.field_beside_tag(&variant.fields[0], context),
            _ => self.fields_of(variant, context),
        }
    }

    fn fields_of(&mut self, variant: &VariantShape, context: &ContainerContext) -> Value {
        let denies = context.shape.attrs.deny_unknown_fields();
        match variant.style {
            Style::Unit => json!({"type": "null"}),
            Style::Tuple | Style::Newtype => self.tuple(&variant.fields, context),
            Style::Struct => self.properties(&variant.fields, context, &SerdeDefault::None, denies),
        }
    }
}
