//! Schemas of arguments and results.
//!
//! The runtime uses the type system to find out whether a type implements `Deserialize` and `JsonSchema`, `Deserialize`
//! alone, or only `FromStr`. This module looks at its derives and `impl`s instead.

use proc_macro2::Span;
use serde_json::{Map, Value, json};
use tool_model::trace::{TracedForm, TracedType, UnknownPart};
use tool_syntax::{ArgumentConversion, ArgumentForm, Container};

use super::generator::SchemaGenerator;
use super::library::wrapped_type;
use super::shape::{AttributeView, TypeShapes};
use super::traced::traced;
use super::{LossKind, SchemaContract, UnseenPart};
use crate::ty::{DefinitionId, Ty};

/// An argument as the runtime describes it.
#[derive(Debug, Default)]
pub(crate) struct SeenArgument {
    /// The schema, or `None` for `any`.
    pub(crate) schema: Option<Value>,
    /// The form of a type without `JsonSchema`, whose schema is added after those of all other arguments.
    pub(crate) traced: Option<TracedType>,
    /// The parts of it whose form the program does not know either.
    pub(crate) unknown: Vec<UnknownPart>,
    /// `true` if the type accepts a missing value.
    pub(crate) optional: bool,
    /// The variants of an enum in the order of declaration.
    pub(crate) variants: Vec<String>,
    /// The parts that could not be read. If the type is among them, the argument is `any`.
    pub(crate) unseen: Vec<UnseenPart>,
}

/// The form in which the macros decode an argument.
#[derive(Clone, Debug)]
pub(crate) enum DecodedForm {
    /// The type itself.
    Owned(Ty),
    /// The owned form of a borrowed type.
    Lent(Ty),
    /// An `Option` of the owned form of a borrowed type.
    OptionLent(Ty),
}

impl DecodedForm {
    /// Resolves the type that the macros decode for a form of argument.
    pub(crate) fn from_form(form: &ArgumentForm, resolve: impl FnOnce(&syn::Type) -> Ty) -> Self {
        match form {
            ArgumentForm::Owned(ty) => Self::Owned(resolve(ty)),
            ArgumentForm::Lent(ty) | ArgumentForm::AsRef(ty) => Self::Lent(resolve(ty)),
            ArgumentForm::LentSlice(item) | ArgumentForm::AsRefSlice(item) | ArgumentForm::Iter(item) => {
                Self::Owned(list_of(resolve(item)))
            }
            ArgumentForm::OptionLent(ty) | ArgumentForm::OptionAsRef(ty) => Self::OptionLent(resolve(ty)),
            ArgumentForm::OptionLentSlice(item) => Self::Owned(option_of(list_of(resolve(item)))),
            ArgumentForm::LentReferences(item)
            | ArgumentForm::References(item)
            | ArgumentForm::IterReferences(item) => Self::Owned(list_of(resolve(&item.owned))),
        }
    }

    /// Resolves the type that describes a converted argument: what the macros decode before they convert it.
    pub(crate) fn from_conversion(conversion: &ArgumentConversion, resolve: impl FnOnce(&syn::Type) -> Ty) -> Self {
        let described = match conversion.described() {
            Some(ty) => resolve(&ty),
            None => Ty::Library { path: "serde_json::Value".into(), arguments: Vec::new() },
        };
        let decoded = conversion.containers.iter().rev().fold(described, |inner, container| match container {
            Container::Option => option_of(inner),
            Container::List => list_of(inner),
        });
        Self::Owned(decoded)
    }
}

fn list_of(item: Ty) -> Ty {
    Ty::Library { path: "std::vec::Vec".into(), arguments: vec![item] }
}

fn option_of(inner: Ty) -> Ty {
    Ty::Library { path: "std::option::Option".into(), arguments: vec![inner] }
}

/// Describes an argument.
pub(crate) fn argument(generator: &mut SchemaGenerator<'_>, decoded: &DecodedForm) -> SeenArgument {
    let (ty, is_lent) = match decoded {
        DecodedForm::Owned(ty) => (ty.clone(), false),
        DecodedForm::Lent(ty) => (ty.clone(), true),
        DecodedForm::OptionLent(ty) => (option_of(ty.clone()), true),
    };
    match tier(generator.shapes, &ty, is_lent) {
        DecodeTier::Described => described(generator, &ty),
        DecodeTier::Undescribed => {
            let (traced, unseen) = traced(generator.shapes, &ty);
            let unseen = if matches!(traced.root, TracedForm::Unknown { .. }) { of_whole_type(unseen) } else { unseen };
            SeenArgument {
                optional: is_optional(generator.shapes, &ty),
                variants: variants(generator.shapes, &ty),
                unknown: traced.unknown_parts(),
                traced: Some(traced),
                unseen,
                ..SeenArgument::default()
            }
        }
        DecodeTier::Text { ty, is_list, is_optional } => {
            let mut text = json!({"type": "string"});
            generator.add_rust_type(&mut text, || ty);
            let schema = if is_list { json!({"type": "array", "items": text}) } else { text };
            SeenArgument { schema: Some(schema), optional: is_optional, ..SeenArgument::default() }
        }
        DecodeTier::Undecodable(what) => {
            any(what, "it cannot be read from JSON; derive `Deserialize`, or implement `FromStr`")
        }
    }
}

fn any(what: String, why: &str) -> SeenArgument {
    let unseen = UnseenPart { what, why: why.to_owned(), inside: None, at: Span::call_site(), loss: LossKind::Type };
    SeenArgument { unseen: vec![unseen], ..SeenArgument::default() }
}

/// Marks unseen parts as those of the whole argument.
fn of_whole_type(unseen: Vec<UnseenPart>) -> Vec<UnseenPart> {
    let whole = |part: UnseenPart| match part.loss {
        LossKind::Leaf => UnseenPart { loss: LossKind::Type, ..part },
        _ => part,
    };
    unseen.into_iter().map(whole).collect()
}

fn described(generator: &mut SchemaGenerator<'_>, ty: &Ty) -> SeenArgument {
    let mark = generator.snapshot();
    let before = generator.take_unseen();
    let schema = generator.subschema_for(ty);
    let unseen = generator.take_unseen();
    generator.unseen = before;
    let is_seen = unseen.iter().all(|unseen| matches!(unseen.loss, LossKind::Detail | LossKind::Leaf));
    if !is_seen {
        generator.restore(mark);
    }
    let unseen = if schema == Value::Bool(true) { of_whole_type(unseen) } else { unseen };
    SeenArgument {
        schema: Some(schema).filter(|schema| is_seen && *schema != Value::Bool(true)),
        optional: is_optional(generator.shapes, ty),
        variants: variants(generator.shapes, ty),
        unseen,
        ..SeenArgument::default()
    }
}

/// A result as the runtime describes it.
#[derive(Debug, Default)]
pub(crate) struct SeenResult {
    /// The schema with the definitions it refers to, if there is one.
    pub(crate) schema: Option<(Value, Map<String, Value>)>,
    /// The parts that could not be read. If the type is among them, there is no schema.
    pub(crate) unseen: Vec<UnseenPart>,
}

/// Describes a result: the success type of a `Result`, or else the type itself.
pub(crate) fn returns(shapes: &TypeShapes<'_>, ty: &Ty) -> SeenResult {
    let ty = success_type(ty);
    let is_described = |ty: &Ty| match ty {
        Ty::Defined { definition, .. } => has_schema(shapes, *definition),
        _ => true,
    };
    if *ty == Ty::Tuple(Vec::new()) || !component_types(ty).into_iter().all(is_described) {
        return SeenResult::default();
    }
    let mut generator = SchemaGenerator::new(shapes, SchemaContract::Serialize);
    let schema = generator.subschema_for(ty);
    let unseen = generator.take_unseen();
    let is_seen = unseen.iter().all(|unseen| matches!(unseen.loss, LossKind::Detail | LossKind::Leaf));
    let is_seen = is_seen && schema != Value::Bool(true);
    SeenResult { schema: is_seen.then(|| (schema, generator.into_definitions())), unseen }
}

/// Returns the success type of a `Result`, or of a library type with such a name.
fn success_type(ty: &Ty) -> &Ty {
    match ty {
        Ty::Library { arguments, .. } if ty.library().is_some_and(|(_, name)| name.ends_with("Result")) => {
            arguments.first().unwrap_or(ty)
        }
        ty => ty,
    }
}

/// The way in which the runtime decodes a type.
enum DecodeTier {
    Described,
    Undescribed,
    Text {
        /// The type that is parsed.
        ty: String,
        is_list: bool,
        is_optional: bool,
    },
    /// The type cannot be decoded.
    Undecodable(String),
}

fn tier(shapes: &TypeShapes<'_>, ty: &Ty, is_lent: bool) -> DecodeTier {
    let defined: Vec<_> = component_types(ty)
        .into_iter()
        .filter_map(|leaf| match leaf {
            Ty::Defined { definition, .. } => Some((*definition, leaf)),
            _ => None,
        })
        .collect();
    if let Some((_, leaf)) = defined.iter().find(|(id, _)| !can_decode(shapes, *id)) {
        let is_text = |ty: &Ty| match ty {
            Ty::Defined { definition, .. } => shapes.types.definition(*definition).implements("FromStr"),
            _ => false,
        };
        let arguments: &[Ty] = if let Ty::Library { arguments, .. } = ty { arguments } else { &[] };
        return match (ty.library(), arguments) {
            _ if is_text(ty) => DecodeTier::Text { ty: shapes.type_name(ty), is_list: false, is_optional: false },
            (Some(("std", "Option")), [inner]) if is_text(inner) => {
                DecodeTier::Text { ty: shapes.type_name(inner), is_list: false, is_optional: true }
            }
            (Some(("std", "Vec")), [inner]) if is_text(inner) && !is_lent => {
                DecodeTier::Text { ty: shapes.type_name(inner), is_list: true, is_optional: false }
            }
            _ => DecodeTier::Undecodable(shapes.type_name(leaf)),
        };
    }
    let is_undescribed = |leaf: &Ty| match leaf {
        Ty::Defined { definition, .. } => !has_schema(shapes, *definition),
        _ => is_never_described(leaf),
    };
    if component_types(ty).into_iter().any(is_undescribed) { DecodeTier::Undescribed } else { DecodeTier::Described }
}

/// Returns `true` for library types without `JsonSchema`, whatever the features of schemars.
fn is_never_described(ty: &Ty) -> bool {
    matches!(
        ty.library(),
        Some(
            ("std", "Saturating" | "RangeFrom" | "RangeTo")
                | ("chrono", "Month")
                | ("semver", "VersionReq")
                | ("time" | "ulid" | "ipnet", _)
        )
    )
}

fn can_decode(shapes: &TypeShapes<'_>, id: DefinitionId) -> bool {
    let definition = shapes.types.definition(id);
    ["Deserialize", "Deserialize_repr", "DeserializeFromStr"].iter().any(|name| definition.derives(name))
        || definition.implements("Deserialize")
}

fn has_schema(shapes: &TypeShapes<'_>, id: DefinitionId) -> bool {
    let definition = shapes.types.definition(id);
    definition.derives("JsonSchema") || definition.derives("JsonSchema_repr") || definition.implements("JsonSchema")
}

/// Returns the type and its generic arguments at any depth, without the fields of structs and enums.
fn component_types(ty: &Ty) -> Vec<&Ty> {
    let inner: Vec<&Ty> = match ty {
        Ty::Library { arguments, .. } => arguments.iter().collect(),
        Ty::Tuple(items) => items.iter().collect(),
        Ty::Array(item, _) | Ty::Slice(item) | Ty::Reference(item) => vec![item],
        Ty::Defined { .. } | Ty::Constant(_) | Ty::Unknown(_) => Vec::new(),
    };
    std::iter::once(ty).chain(inner.into_iter().flat_map(component_types)).collect()
}

/// Returns the type that is decoded in place of a transparent or converted type, or the type itself.
fn decoded_as(shapes: &TypeShapes<'_>, ty: &Ty) -> Ty {
    let mut ty = ty.clone();
    // More than enough for any finite chain.
    for _ in 0..64 {
        let next = match &ty {
            Ty::Defined { definition, arguments } => {
                let scope = shapes.types.definition(*definition).scope;
                let generics = shapes.generics(*definition, arguments);
                let shape = shapes
                    .shape(*definition, AttributeView::Deserialize)
                    .ok()
                    .filter(|_| shapes.types.definition(*definition).derives("Deserialize"));
                shape.and_then(|shape| {
                    let transparent = shape.transparent().map(|field| &field.ty);
                    let converted = shape.attrs.type_from().or(shape.attrs.type_try_from());
                    transparent.or(converted).map(|ty| shapes.types.resolve(ty, scope, &generics))
                })
            }
            other => wrapped_type(other).cloned(),
        };
        match next {
            Some(next) => ty = next,
            None => break,
        }
    }
    ty
}

fn optional_in(shapes: &TypeShapes<'_>, ty: &Ty) -> Option<Ty> {
    let ty = decoded_as(shapes, ty);
    match (ty.library(), &ty) {
        (Some(("std", "Option")), Ty::Library { arguments, .. }) => arguments.first().cloned(),
        _ => None,
    }
}

/// Returns `true` if a missing value can be decoded: for `Option` and types that decode like it.
pub(super) fn is_optional(shapes: &TypeShapes<'_>, ty: &Ty) -> bool {
    optional_in(shapes, ty).is_some()
}

/// Returns the variants of an enum or an optional enum.
fn variants(shapes: &TypeShapes<'_>, ty: &Ty) -> Vec<String> {
    let inner = optional_in(shapes, ty);
    match decoded_as(shapes, inner.as_ref().unwrap_or(ty)) {
        Ty::Defined { definition, .. } if shapes.types.definition(definition).derives("Deserialize") => {
            shapes.shape(definition, AttributeView::Deserialize).map(|shape| shape.variant_names()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
