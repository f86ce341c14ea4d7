//! Rust values of plain expressions, and their JSON as serde's derive would write it.

use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::TagType;
use serde_json::{Map, Value, json};
use syn::{Lit, Path};

use super::generator::ContainerContext;
use super::kind::SchemaKind;
use super::library::wrapped_type;
use super::shape::{AttributeView, FieldShape, ShapeData, TypeShape, TypeShapes};
use super::{SchemaContract, compose};
use crate::text::source_text;
use crate::ty::{DefinitionId, ScopeId, Ty};

/// A Rust value.
#[derive(Clone, Debug)]
pub(super) enum PlainValue {
    Bool(bool),
    Int(i128),
    /// The digits in the source. Their value depends on the type.
    Float(String),
    Text(String),
    Nothing,
    Some(Box<PlainValue>),
    List(Vec<PlainValue>),
    /// Fields by name or index.
    Struct(Vec<(String, PlainValue)>),
    Variant(String, Vec<(String, PlainValue)>),
    /// A value of a library type, as JSON.
    Written(Value),
}

/// The scope in which an expression is evaluated.
#[derive(Clone)]
pub(super) struct EvaluationScope {
    pub(super) scope: ScopeId,
    pub(super) generics: Vec<(String, Ty)>,
    /// The type `Self`.
    pub(super) this: Option<Ty>,
    /// The number of functions and constants that were followed.
    pub(super) depth: usize,
}

impl EvaluationScope {
    pub(super) fn in_container(context: &ContainerContext) -> Self {
        Self { scope: context.scope(), generics: context.generics.clone(), this: Some(context.ty()), depth: 0 }
    }

    pub(super) fn deeper(&self, scope: ScopeId) -> Result<Self, String> {
        if self.depth > 16 {
            return Err("the calls are nested too deeply".into());
        }
        Ok(Self { scope, generics: Vec::new(), this: None, depth: self.depth + 1 })
    }
}

impl TypeShapes<'_> {
    /// Returns `true` if a type is `Serialize`. All known library types are if their arguments are.
    pub(super) fn is_serializable(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Defined { definition, .. } => {
                let definition = self.types.definition(*definition);
                definition.derives("Serialize")
                    || definition.derives("Serialize_repr")
                    || definition.derives("SerializeDisplay")
                    || definition.implements("Serialize")
            }
            Ty::Library { arguments, .. } => arguments.iter().all(|argument| self.is_serializable(argument)),
            Ty::Tuple(items) => items.iter().all(|item| self.is_serializable(item)),
            Ty::Array(item, _) | Ty::Slice(item) | Ty::Reference(item) => self.is_serializable(item),
            Ty::Constant(_) | Ty::Unknown(_) => true,
        }
    }

    /// Returns a value of a type as JSON.
    pub(super) fn json(&self, value: &PlainValue, ty: &Ty) -> Result<Value, String> {
        let ty = unwrapped(ty);
        if let Ty::Defined { definition, arguments } = ty {
            return self.defined_json(value, *definition, arguments);
        }
        match value {
            PlainValue::Written(value) => Ok(value.clone()),
            PlainValue::Bool(value) if self.is_written_as(ty, "boolean") => Ok((*value).into()),
            PlainValue::Int(number) if self.is_written_as(ty, "integer") => integer(*number),
            // `5 as f64` is written as `5.0`.
            PlainValue::Int(number) if self.is_written_as(ty, "number") => {
                self.json(&PlainValue::Float(number.to_string()), ty)
            }
            PlainValue::Float(digits) if self.is_written_as(ty, "number") => {
                let parsed = match ty.library() {
                    Some((_, "f32")) => digits.parse::<f32>().map(Value::from),
                    _ => digits.parse::<f64>().map(Value::from),
                };
                parsed.map_err(|error| error.to_string())
            }
            PlainValue::Bool(_) | PlainValue::Int(_) | PlainValue::Float(_) => {
                Err(format!("the JSON form of `{}` is unknown", self.type_name(ty)))
            }
            PlainValue::Text(text) => match self.kind(ty) {
                // A converted string may be written differently.
                SchemaKind::Plain(plain)
                    if plain.name == "string" || matches!(ty.library(), Some((_, "char" | "Uuid"))) =>
                {
                    Ok(text.clone().into())
                }
                _ => Err(format!("the JSON form of a string in `{}` is unknown", self.type_name(ty))),
            },
            PlainValue::Nothing => Ok(Value::Null),
            PlainValue::Some(inner) => match self.kind(ty) {
                SchemaKind::Option(ty) => self.json(inner, &ty),
                _ => Err("it is not an `Option`".into()),
            },
            PlainValue::List(items) => match (self.kind(ty), ty) {
                (SchemaKind::Map(..), _) if items.is_empty() => Ok(json!({})),
                (SchemaKind::Unit, _) => Ok(Value::Null),
                (SchemaKind::Tuple(types), _) => {
                    items.iter().zip(&types).map(|(item, ty)| self.json(item, ty)).collect()
                }
                (SchemaKind::List(ty) | SchemaKind::Array(ty, _), _) => {
                    items.iter().map(|item| self.json(item, &ty)).collect()
                }
                (SchemaKind::Set(_), _) if items.is_empty() => Ok(json!([])),
                (_, Ty::Array(item, _)) => items.iter().map(|value| self.json(value, item)).collect(),
                _ => Err(format!("the items of `{}` are unknown", self.type_name(ty))),
            },
            PlainValue::Struct(_) | PlainValue::Variant(..) => {
                Err(format!("the JSON form of `{}` is unknown", self.type_name(ty)))
            }
        }
    }

    /// Returns `true` if all values of a library type have this JSON type.
    fn is_written_as(&self, ty: &Ty, name: &str) -> bool {
        match self.kind(ty) {
            SchemaKind::Plain(plain) => {
                (plain.schema)(SchemaContract::Serialize).get("type").is_some_and(|found| found == name)
            }
            _ => false,
        }
    }

    fn defined_json(&self, value: &PlainValue, id: DefinitionId, arguments: &[Ty]) -> Result<Value, String> {
        let definition = self.types.definition(id);
        if !definition.derives("Serialize") {
            return Err(format!("`{}` does not derive `Serialize`", definition.item.ident));
        }
        let shape = self.shape(id, AttributeView::Serialize)?;
        if shape.attrs.type_into().is_some() || shape.attrs.remote().is_some() {
            return Err(format!("`{}` is serialized as another type", definition.item.ident));
        }
        let env = self.inner_env(id, arguments);
        match (&shape.data, value) {
            (ShapeData::Struct(style, fields), PlainValue::Struct(values)) => {
                if let Some(field) = shape.transparent() {
                    return self.field_json(field, values, &env)?.ok_or_else(|| "it is skipped".into());
                }
                let written = self.content_json(*style, fields, values, &env)?;
                Ok(match (shape.attrs.tag(), written) {
                    (TagType::Internal { tag }, Value::Object(fields)) => {
                        let mut tagged = Map::new();
                        tagged.insert(tag.clone(), shape.attrs.name().serialize_name().value.clone().into());
                        tagged.extend(fields);
                        Value::Object(tagged)
                    }
                    (_, written) => written,
                })
            }
            (ShapeData::Enum(_), PlainValue::Variant(name, values)) => self.variant_json(&shape, name, values, &env),
            _ => Err(format!("it is not a `{}`", definition.item.ident)),
        }
    }

    fn variant_json(
        &self,
        shape: &TypeShape,
        ident: &str,
        values: &[(String, PlainValue)],
        env: &EvaluationScope,
    ) -> Result<Value, String> {
        let ShapeData::Enum(variants) = &shape.data else { return Err("it is not an enum".into()) };
        let variant = variants.iter().find(|variant| variant.ident == ident).ok_or("there is no such variant")?;
        if variant.attrs.serialize_with().is_some() || variant.attrs.skip_serializing() {
            return Err("it has its own serialization function".into());
        }
        let name = &variant.attrs.name().serialize_name().value;
        let content = self.content_json(variant.style, &variant.fields, values, env)?;
        Ok(match shape.attrs.tag() {
            _ if variant.attrs.untagged() => content,
            TagType::None => content,
            TagType::External if variant.is_unit() => name.clone().into(),
            TagType::External => json!({name: content}),
            TagType::Internal { tag } => {
                let mut tagged = json!({tag: name});
                if let (Value::Object(fields), Value::Object(tagged)) = (content, &mut tagged) {
                    tagged.extend(fields);
                }
                tagged
            }
            TagType::Adjacent { tag, .. } if variant.is_unit() => json!({tag: name}),
            TagType::Adjacent { tag, content: key } => json!({tag: name, key: content}),
        })
    }

    fn content_json(
        &self,
        style: Style,
        fields: &[FieldShape],
        values: &[(String, PlainValue)],
        env: &EvaluationScope,
    ) -> Result<Value, String> {
        let field_json = |field: &FieldShape| self.field_json(field, values, env);
        match style {
            Style::Unit => Ok(Value::Null),
            Style::Newtype => field_json(&fields[0])?.ok_or_else(|| "it is skipped".into()),
            Style::Tuple => fields.iter().filter_map(|field| field_json(field).transpose()).collect(),
            Style::Struct => {
                let mut object = json!({});
                for field in fields {
                    match field_json(field)? {
                        Some(Value::Object(inner)) if field.attrs.flatten() => {
                            compose::object(&mut object).extend(inner)
                        }
                        Some(Value::Null) if field.attrs.flatten() => {}
                        Some(_) if field.attrs.flatten() => return Err("a flattened field is not an object".into()),
                        Some(value) => compose::insert(&mut object, &field.attrs.name().serialize_name().value, value),
                        None => {}
                    }
                }
                Ok(object)
            }
        }
    }

    /// Returns a field as JSON, or `None` if it is skipped.
    fn field_json(
        &self,
        field: &FieldShape,
        values: &[(String, PlainValue)],
        env: &EvaluationScope,
    ) -> Result<Option<Value>, String> {
        if field.attrs.skip_serializing() {
            return Ok(None);
        }
        let (_, value) = values.iter().find(|(name, _)| *name == field.member).ok_or("a field is missing")?;
        if let Some(predicate) = field.attrs.skip_serializing_if()
            && is_skipped(value, &predicate.path)?
        {
            return Ok(None);
        }
        if field.attrs.serialize_with().is_some() {
            return Err("it has its own serialization function".into());
        }
        let ty = self.types.resolve(&field.ty, env.scope, &env.generics);
        self.json(value, &ty).map(Some)
    }
}

/// Returns a type without the wrappers around it.
pub(super) fn unwrapped(mut ty: &Ty) -> &Ty {
    while let Some(inner) = wrapped_type(ty) {
        ty = inner;
    }
    ty
}

pub(super) fn integer(number: i128) -> Result<Value, String> {
    let small = i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    small.map_err(|_| "the number is too large for JSON".to_owned())
}

pub(super) fn literal(lit: &Lit) -> Option<PlainValue> {
    Some(match lit {
        Lit::Str(text) => PlainValue::Text(text.value()),
        Lit::Char(character) => PlainValue::Text(character.value().to_string()),
        Lit::Bool(value) => PlainValue::Bool(value.value),
        Lit::Int(number) if matches!(number.suffix(), "f32" | "f64") => {
            PlainValue::Float(number.base10_digits().to_owned())
        }
        Lit::Int(number) => PlainValue::Int(number.base10_parse().ok()?),
        Lit::Float(number) => PlainValue::Float(number.base10_digits().to_owned()),
        _ => return None,
    })
}

/// Evaluates constants such as `u8::MAX`.
pub(super) fn limit(ty: &str, name: &str) -> Option<PlainValue> {
    macro_rules! limits {
        ($($number:ident)*) => {
            match (ty, name) {
                $((stringify!($number), "MIN") => i128::try_from($number::MIN).ok(),
                (stringify!($number), "MAX") => i128::try_from($number::MAX).ok(),)*
                _ => None,
            }
        };
    }
    limits!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize).map(PlainValue::Int)
}

/// Returns `true` if a primitive type represents a number exactly.
pub(super) fn fits(number: i128, ty: &str) -> bool {
    let bound = |name| match limit(ty, name) {
        Some(PlainValue::Int(bound)) => Some(bound),
        _ => None,
    };
    match ty {
        // All integers up to these are exact floats.
        "f32" => number.unsigned_abs() <= 1 << f32::MANTISSA_DIGITS,
        "f64" => number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS,
        _ => bound("MIN").is_some_and(|least| number >= least && number <= bound("MAX").unwrap_or(i128::MAX)),
    }
}

/// Returns the path without its last segment.
pub(super) fn owner(path: &Path) -> Option<Path> {
    let count = path.segments.len().checked_sub(1).filter(|count| *count > 0)?;
    Some(Path { leading_colon: path.leading_colon, segments: path.segments.iter().take(count).cloned().collect() })
}

/// Evaluates `skip_serializing_if` for a value.
pub(super) fn is_skipped(value: &PlainValue, predicate: &syn::Path) -> Result<bool, String> {
    let names: Vec<String> = predicate.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let last = names.last().map(String::as_str).unwrap_or_default();
    let is_method = names.len() > 1;
    match (last, value) {
        ("is_none", PlainValue::Nothing) if is_method => Ok(true),
        ("is_none", PlainValue::Some(_)) if is_method => Ok(false),
        ("is_some", PlainValue::Nothing) if is_method => Ok(false),
        ("is_some", PlainValue::Some(_)) if is_method => Ok(true),
        ("is_empty", PlainValue::List(items)) if is_method => Ok(items.is_empty()),
        ("is_empty", PlainValue::Text(text)) if is_method => Ok(text.is_empty()),
        ("not", PlainValue::Bool(value)) if is_method => Ok(!value),
        _ => Err(format!("`{}` cannot be evaluated", source_text(predicate))),
    }
}
