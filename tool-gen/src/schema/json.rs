//! How a value is written in JSON, as serde's derive would write it.

use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::TagType;
use serde_json::{Map, Value, json};

use super::Contract;
use super::compose;
use super::kind::Kind;
use super::shape::{Abilities, Data, Field, Shape, Shapes, View};
use super::value::{Plain, Scene, integer, unwrapped};
use crate::text::written;
use crate::ty::{DefinitionId, Ty};

impl Shapes<'_> {
    /// Whether a type is `Serialize`. All known library types are if what they hold is.
    pub(super) fn serialises(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Defined { definition, .. } => {
                let definition = self.types.definition(*definition);
                definition.derives("Serialize")
                    || definition.derives("Serialize_repr")
                    || definition.derives("SerializeDisplay")
                    || definition.implements("Serialize")
            }
            Ty::Library { arguments, .. } => arguments.iter().all(|argument| self.serialises(argument)),
            Ty::Tuple(items) => items.iter().all(|item| self.serialises(item)),
            Ty::Array(item, _) | Ty::Slice(item) | Ty::Reference(item) => self.serialises(item),
            Ty::Constant(_) | Ty::Unknown(_) => true,
        }
    }

    /// A value of a type in JSON.
    pub(super) fn json(&self, value: &Plain, ty: &Ty) -> Result<Value, String> {
        let ty = unwrapped(ty);
        if let Ty::Defined { definition, arguments } = ty {
            return self.defined_json(value, *definition, arguments);
        }
        match value {
            Plain::Written(value) => Ok(value.clone()),
            Plain::Bool(value) if self.is_written_as(ty, "boolean") => Ok((*value).into()),
            Plain::Int(number) if self.is_written_as(ty, "integer") => integer(*number),
            // `5 as f64` is written as `5.0`.
            Plain::Int(number) if self.is_written_as(ty, "number") => self.json(&Plain::Float(number.to_string()), ty),
            Plain::Float(digits) if self.is_written_as(ty, "number") => {
                let parsed = match ty.library() {
                    Some((_, "f32")) => digits.parse::<f32>().map(Value::from),
                    _ => digits.parse::<f64>().map(Value::from),
                };
                parsed.map_err(|error| error.to_string())
            }
            Plain::Bool(_) | Plain::Int(_) | Plain::Float(_) => {
                Err(format!("how `{}` is written is not known here", self.written(ty)))
            }
            Plain::Text(text) => match self.kind(ty) {
                // A text that became something else may be written in another way.
                Kind::Plain(plain) if plain.name == "string" || matches!(ty.library(), Some((_, "char" | "Uuid"))) => {
                    Ok(text.clone().into())
                }
                _ => Err(format!("a text that becomes `{}` is not known here", self.written(ty))),
            },
            Plain::Nothing => Ok(Value::Null),
            Plain::Some(inner) => match self.kind(ty) {
                Kind::Option(ty) => self.json(inner, &ty),
                _ => Err("it is no `Option`".into()),
            },
            Plain::List(items) => match (self.kind(ty), ty) {
                (Kind::Map(..), _) if items.is_empty() => Ok(json!({})),
                (Kind::Unit, _) => Ok(Value::Null),
                (Kind::Tuple(types), _) => items.iter().zip(&types).map(|(item, ty)| self.json(item, ty)).collect(),
                (Kind::List(ty) | Kind::Array(ty, _), _) => items.iter().map(|item| self.json(item, &ty)).collect(),
                (Kind::Set(_), _) if items.is_empty() => Ok(json!([])),
                (_, Ty::Array(item, _)) => items.iter().map(|value| self.json(value, item)).collect(),
                _ => Err(format!("the items of `{}` are not known here", self.written(ty))),
            },
            Plain::Struct(_) | Plain::Variant(..) => Err(format!("`{}` is not known here", self.written(ty))),
        }
    }

    /// Whether all values of a library type have this type of JSON.
    fn is_written_as(&self, ty: &Ty, name: &str) -> bool {
        match self.kind(ty) {
            Kind::Plain(plain) => (plain.schema)(Contract::Serialize).get("type").is_some_and(|found| found == name),
            _ => false,
        }
    }

    fn defined_json(&self, value: &Plain, id: DefinitionId, arguments: &[Ty]) -> Result<Value, String> {
        let definition = self.types.definition(id);
        if !definition.derives("Serialize") {
            return Err(format!("how `{}` is written is not derived", definition.item.ident));
        }
        let shape = self.of(id, View::Serialize)?;
        if shape.attrs.type_into().is_some() || shape.attrs.remote().is_some() {
            return Err(format!("`{}` is written as another type", definition.item.ident));
        }
        let scene = self.inner_scene(id, arguments);
        match (&shape.data, value) {
            (Data::Struct(style, fields), Plain::Struct(values)) => {
                if let Some(field) = shape.transparent() {
                    return self.field_json(field, values, &scene)?.ok_or_else(|| "it is skipped".into());
                }
                let written = self.content_json(*style, fields, values, &scene)?;
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
            (Data::Enum(_), Plain::Variant(name, values)) => self.variant_json(&shape, name, values, &scene),
            _ => Err(format!("it is no `{}`", definition.item.ident)),
        }
    }

    fn variant_json(
        &self,
        shape: &Shape,
        ident: &str,
        values: &[(String, Plain)],
        scene: &Scene,
    ) -> Result<Value, String> {
        let Data::Enum(variants) = &shape.data else { return Err("it is no enum".into()) };
        let variant = variants.iter().find(|variant| variant.ident == ident).ok_or("there is no such variant")?;
        if variant.attrs.serialize_with().is_some() || variant.attrs.skip_serializing() {
            return Err("a function of its own writes it".into());
        }
        let name = &variant.attrs.name().serialize_name().value;
        let content = self.content_json(variant.style, &variant.fields, values, scene)?;
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
        fields: &[Field],
        values: &[(String, Plain)],
        scene: &Scene,
    ) -> Result<Value, String> {
        let field_json = |field: &Field| self.field_json(field, values, scene);
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
                        Some(_) if field.attrs.flatten() => return Err("what is flattened is no object".into()),
                        Some(value) => compose::insert(&mut object, &field.attrs.name().serialize_name().value, value),
                        None => {}
                    }
                }
                Ok(object)
            }
        }
    }

    /// A field in JSON, or nothing if it is left out.
    fn field_json(&self, field: &Field, values: &[(String, Plain)], scene: &Scene) -> Result<Option<Value>, String> {
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
            return Err("a function of its own writes it".into());
        }
        let ty = self.types.resolve(&field.ty, scene.scope, &scene.generics);
        self.json(value, &ty).map(Some)
    }
}

/// What `skip_serializing_if` says of a value.
pub(super) fn is_skipped(value: &Plain, predicate: &syn::Path) -> Result<bool, String> {
    let names: Vec<String> = predicate.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let last = names.last().map(String::as_str).unwrap_or_default();
    let is_method = names.len() > 1;
    match (last, value) {
        ("is_none", Plain::Nothing) if is_method => Ok(true),
        ("is_none", Plain::Some(_)) if is_method => Ok(false),
        ("is_some", Plain::Nothing) if is_method => Ok(false),
        ("is_some", Plain::Some(_)) if is_method => Ok(true),
        ("is_empty", Plain::List(items)) if is_method => Ok(items.is_empty()),
        ("is_empty", Plain::Text(text)) if is_method => Ok(text.is_empty()),
        ("not", Plain::Bool(value)) if is_method => Ok(!value),
        _ => Err(format!("what `{}` says of it cannot be seen", written(predicate))),
    }
}
