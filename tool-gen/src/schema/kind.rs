//! What a type is to a schema: all that stands for something else is followed to what it stands for.

use super::library::{Plain, of_library, wrapped};
use super::shape::{Abilities, Shapes, View};
use crate::ty::{DefinitionId, Ty};

/// A type as schemas know it. `Box<T>` is `T` here, and a slice is a list like any other.
pub(super) enum Kind {
    Plain(Plain),
    Unit,
    Option(Ty),
    List(Ty),
    Set(Ty),
    Map(Ty, Ty),
    Tuple(Vec<Ty>),
    Array(Ty, u64),
    Result(Ty, Ty),
    Bound(Ty),
    Range(Ty),
    Defined(DefinitionId, Vec<Ty>),
    /// A type that stands for itself, by its name.
    Endless(String),
    /// What it is called, and why it cannot be seen.
    Unseen(String, String),
}

/// A type that stands for itself or others without end.
const TOO_DEEP: usize = 64;

impl Shapes<'_> {
    pub(super) fn kind(&self, ty: &Ty) -> Kind {
        let mut ty = ty.clone();
        for _ in 0..TOO_DEEP {
            if let Some(inner) = wrapped(&ty) {
                ty = inner.clone();
                continue;
            }
            match ty {
                Ty::Defined { definition, ref arguments } => match self.stands_for(definition, arguments) {
                    Ok(Some(inner)) => ty = inner,
                    Ok(None) => return Kind::Defined(definition, arguments.clone()),
                    Err(why) => return Kind::Unseen(self.written(&ty), why),
                },
                ref other => {
                    return of_library(other).unwrap_or_else(|why| Kind::Unseen(self.written(other), why.to_owned()));
                }
            }
        }
        Kind::Endless(self.written(&ty))
    }

    /// The type that a transparent one stands for.
    fn stands_for(&self, id: DefinitionId, arguments: &[Ty]) -> Result<Option<Ty>, String> {
        let definition = self.types.definition(id);
        let generics = &definition.item.generics;
        if !definition.derives("JsonSchema") && !definition.derives("JsonSchema_repr") {
            let by_hand = definition.implements("JsonSchema");
            return Err(if by_hand {
                "its `JsonSchema` is written by hand"
            } else {
                "it does not derive `JsonSchema`"
            }
            .into());
        }
        if generics.const_params().next().is_some() {
            return Err("it has a constant parameter".into());
        }
        if definition
            .item
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "serde_as"))
        {
            return Err("`serde_as` rewrites it".into());
        }
        let shape = self.of(id, View::JsonSchema)?;
        let resolve = |ty| self.types.resolve(ty, definition.scope, &self.generics(id, arguments));
        Ok(shape.stands_for().map(resolve))
    }

    /// Returns the names that have a meaning of their own inside a definition: its type parameters with what is filled
    /// in for them, and `Self`.
    pub(super) fn generics(&self, id: DefinitionId, arguments: &[Ty]) -> Vec<(String, Ty)> {
        let definition = self.types.definition(id);
        let names = definition.item.generics.type_params().map(|parameter| parameter.ident.to_string());
        let this = Ty::Defined { definition: id, arguments: arguments.to_vec() };
        names.zip(arguments.iter().cloned()).chain([("Self".to_owned(), this)]).collect()
    }

    /// A type as reports call it.
    pub(super) fn written(&self, ty: &Ty) -> String {
        let list = |items: &[Ty]| items.iter().map(|item| self.written(item)).collect::<Vec<_>>().join(", ");
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
            Ty::Array(item, Some(length)) => format!("[{}; {length}]", self.written(item)),
            Ty::Array(item, None) => format!("[{}; _]", self.written(item)),
            Ty::Slice(item) => format!("[{}]", self.written(item)),
            Ty::Reference(inner) => format!("&{}", self.written(inner)),
            Ty::Constant(value) => value.to_string(),
            Ty::Unknown(text) => text.clone(),
        }
    }
}
