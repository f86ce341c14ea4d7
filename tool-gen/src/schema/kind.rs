//! The kinds of types that schemas distinguish, with the names and ids that schemars gives them.

use super::library::{PlainType, library_kind, wrapped_type};
use super::shape::{AttributeView, TypeShapes};
use crate::ty::{DefinitionId, Ty};

/// The longest chain of replacements.
const TOO_DEEP: usize = 64;

/// A type as schemas distinguish it. `Box<T>` is `T`, and a slice is a list.
pub(super) enum SchemaKind {
    Plain(PlainType),
    Unit,
    Option(Ty),
    List(Ty),
    Set(Ty),
    Map(Ty, Ty),
    Tuple(Vec<Ty>),
    Array(Ty, u64),
    Result(Ty, Ty),
    Either(Ty, Ty),
    Bound(Ty),
    Range(Ty),
    Defined(DefinitionId, Vec<Ty>),
    /// A type whose chain of replacements does not end, by its name.
    Endless(String),
    /// A type that could not be read: its name and the reason.
    Unseen(String, String),
}

impl TypeShapes<'_> {
    pub(super) fn kind(&self, ty: &Ty) -> SchemaKind {
        let mut ty = ty.clone();
        for _ in 0..TOO_DEEP {
            if let Some(inner) = wrapped_type(&ty) {
                ty = inner.clone();
                continue;
            }
            match ty {
                Ty::Defined { definition, ref arguments } => match self.replacement(definition, arguments) {
                    Ok(Some(inner)) => ty = inner,
                    Ok(None) => return SchemaKind::Defined(definition, arguments.clone()),
                    Err(why) => return SchemaKind::Unseen(self.type_name(&ty), why),
                },
                ref other => {
                    return library_kind(other)
                        .unwrap_or_else(|why| SchemaKind::Unseen(self.type_name(other), why.to_owned()));
                }
            }
        }
        SchemaKind::Endless(self.type_name(&ty))
    }

    /// Returns the type that replaces a transparent type.
    fn replacement(&self, id: DefinitionId, arguments: &[Ty]) -> Result<Option<Ty>, String> {
        let definition = self.types.definition(id);
        let generics = &definition.item.generics;
        if !definition.derives("JsonSchema") && !definition.derives("JsonSchema_repr") {
            let by_hand = definition.implements("JsonSchema");
            return Err(
                if by_hand { "it implements `JsonSchema` by hand" } else { "it does not derive `JsonSchema`" }.into()
            );
        }
        if generics.const_params().next().is_some() {
            return Err("it has a const parameter".into());
        }
        if definition
            .item
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "serde_as"))
        {
            return Err("`serde_as` rewrites it".into());
        }
        let shape = self.shape(id, AttributeView::JsonSchema)?;
        let resolve = |ty| self.types.resolve(ty, definition.scope, &self.generics(id, arguments));
        Ok(shape.replacement().map(resolve))
    }

    /// Returns the names with a special meaning inside of a definition: its type parameters with their arguments, and
    /// `Self`.
    pub(super) fn generics(&self, id: DefinitionId, arguments: &[Ty]) -> Vec<(String, Ty)> {
        let definition = self.types.definition(id);
        let names = definition.item.generics.type_params().map(|parameter| parameter.ident.to_string());
        let this = Ty::Defined { definition: id, arguments: arguments.to_vec() };
        names.zip(arguments.iter().cloned()).chain([("Self".to_owned(), this)]).collect()
    }

    /// Returns the name of a type for messages.
    pub(crate) fn type_name(&self, ty: &Ty) -> String {
        let list = |items: &[Ty]| items.iter().map(|item| self.type_name(item)).collect::<Vec<_>>().join(", ");
        let with = |name: String, arguments: &[Ty]| {
            if arguments.is_empty() { name } else { format!("{name}<{}>", list(arguments)) }
        };
        match ty {
            Ty::Library { path, arguments } => {
                let is_std = matches!(ty.library(), Some(("std", _)));
                let name = if is_std { path.rsplit("::").next().unwrap_or(path) } else { path };
                with(name.to_owned(), arguments)
            }
            Ty::Defined { definition, arguments } => {
                with(self.types.definition(*definition).item.ident.to_string(), arguments)
            }
            Ty::Tuple(items) => format!("({})", list(items)),
            Ty::Array(item, Some(length)) => format!("[{}; {length}]", self.type_name(item)),
            Ty::Array(item, None) => format!("[{}; _]", self.type_name(item)),
            Ty::Slice(item) => format!("[{}]", self.type_name(item)),
            Ty::Reference(inner) => format!("&{}", self.type_name(inner)),
            Ty::Constant(value) => value.to_string(),
            Ty::Unknown(text) => text.clone(),
        }
    }

    /// Returns the name that schemars gives to the schema of a type.
    pub(super) fn name(&self, ty: &Ty) -> String {
        self.name_of(&self.kind(ty))
    }

    pub(super) fn name_of(&self, kind: &SchemaKind) -> String {
        let name = |ty| self.name(ty);
        match kind {
            SchemaKind::Plain(plain) => plain.name.to_owned(),
            SchemaKind::Unit => "null".to_owned(),
            SchemaKind::Option(inner) => format!("Nullable_{}", name(inner)),
            SchemaKind::List(item) => format!("Array_of_{}", name(item)),
            SchemaKind::Set(item) => format!("Set_of_{}", name(item)),
            SchemaKind::Map(key, value) if self.id(key) == "string" => format!("Map_of_{}", name(value)),
            SchemaKind::Map(key, value) => format!("Map_from_{}_to_{}", name(key), name(value)),
            SchemaKind::Tuple(items) => {
                format!("Tuple_of_{}", items.iter().map(name).collect::<Vec<_>>().join("_and_"))
            }
            SchemaKind::Array(_, 0) => "EmptyArray".to_owned(),
            SchemaKind::Array(item, length) => format!("Array_size_{length}_of_{}", name(item)),
            SchemaKind::Result(success, error) => format!("Result_of_{}_or_{}", name(success), name(error)),
            SchemaKind::Either(left, right) => format!("Either_{}_or_{}", name(left), name(right)),
            SchemaKind::Bound(limit) => format!("Bound_of_{}", name(limit)),
            SchemaKind::Range(limit) => format!("Range_of_{}", name(limit)),
            SchemaKind::Defined(id, arguments) => self.defined_name(*id, arguments),
            SchemaKind::Endless(what) | SchemaKind::Unseen(what, _) => what.clone(),
        }
    }

    fn defined_name(&self, id: DefinitionId, arguments: &[Ty]) -> String {
        let Ok(shape) = self.shape(id, AttributeView::JsonSchema) else { return String::new() };
        if !shape.is_name_format || !shape.name.contains('{') {
            return shape.name.clone();
        }
        // Literal braces are doubled.
        let mut name = shape.name.replace("{{", "\u{1}").replace("}}", "\u{2}");
        for (parameter, ty) in self.generics(id, arguments) {
            let place = format!("{{{parameter}}}");
            if name.contains(&place) {
                name = name.replace(&place, &self.name(&ty));
            }
        }
        name.replace('\u{1}', "{").replace('\u{2}', "}")
    }

    /// Returns the id that distinguishes types of the same name.
    pub(super) fn id(&self, ty: &Ty) -> String {
        self.id_of(&self.kind(ty))
    }

    pub(super) fn id_of(&self, kind: &SchemaKind) -> String {
        let id = |ty| self.id(ty);
        match kind {
            SchemaKind::Plain(plain) => plain.id.to_owned(),
            SchemaKind::Unit => "null".to_owned(),
            SchemaKind::Option(inner) => format!("Option<{}>", id(inner)),
            SchemaKind::List(item) => format!("[{}]", id(item)),
            SchemaKind::Set(item) => format!("Set<{}>", id(item)),
            SchemaKind::Map(key, value) if id(key) == "string" => format!("Map<{}>", id(value)),
            SchemaKind::Map(key, value) => format!("Map<{}, {}>", id(key), id(value)),
            SchemaKind::Tuple(items) => format!("({})", items.iter().map(id).collect::<Vec<_>>().join(",")),
            SchemaKind::Array(_, 0) => "[]".to_owned(),
            SchemaKind::Array(item, length) => format!("[{length}; {}]", id(item)),
            SchemaKind::Result(success, error) => format!("Result<{}, {}>", id(success), id(error)),
            SchemaKind::Either(left, right) => format!("either::Either<{}, {}>", id(left), id(right)),
            SchemaKind::Bound(limit) => format!("Bound<{}>", id(limit)),
            SchemaKind::Range(limit) => format!("Range<{}>", id(limit)),
            SchemaKind::Defined(definition, arguments) => self.defined_id(*definition, arguments),
            SchemaKind::Endless(what) | SchemaKind::Unseen(what, _) => what.clone(),
        }
    }

    fn defined_id(&self, id: DefinitionId, arguments: &[Ty]) -> String {
        let Ok(shape) = self.shape(id, AttributeView::JsonSchema) else { return String::new() };
        let module = &self.types.definition(id).module;
        let filled = self.generics(id, arguments);
        let relevant: Vec<String> = shape
            .relevant
            .iter()
            .filter_map(|parameter| filled.iter().find(|(name, _)| name == parameter))
            .map(|(_, ty)| self.id(ty))
            .collect();
        if relevant.is_empty() {
            format!("{module}::{}", shape.name)
        } else {
            format!("{module}::{}<{}>", shape.name, relevant.concat())
        }
    }
}
