//! `impl Trait` arguments: the types that are decoded for them.

use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, PathArguments, Type, TypeImplTrait, TypeParamBound, parse_quote};

use crate::ty::{ArgumentForm, ListItem, is_plain_reference, no_borrow, owned_form};

/// Reads `impl Trait`, by the first bound that determines a type to decode.
pub(crate) fn argument_form(bounds: &TypeImplTrait) -> syn::Result<ArgumentForm> {
    if is_json(bounds) {
        return Ok(ArgumentForm::Owned(json_value()));
    }
    for bound in &bounds.bounds {
        let TypeParamBound::Trait(bound) = bound else { continue };
        let Some(segment) = bound.path.segments.last() else { continue };
        let name = segment.ident.to_string();
        if matches!(name.as_str(), "ToString" | "Display") {
            return Ok(ArgumentForm::Owned(parse_quote!(::std::string::String)));
        }
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { continue };
        match (name.as_str(), arguments.args.first()) {
            ("AsRef", Some(GenericArgument::Type(Type::Slice(slice)))) => {
                no_borrow(&slice.elem)?;
                return Ok(ArgumentForm::AsRefSlice((*slice.elem).clone()));
            }
            ("AsRef", Some(GenericArgument::Type(inner))) => {
                no_borrow(inner)?;
                return Ok(ArgumentForm::AsRef(inner.clone()));
            }
            ("Into", Some(GenericArgument::Type(inner))) => {
                no_borrow(inner)?;
                return Ok(ArgumentForm::Owned(inner.clone()));
            }
            (
                "IntoIterator" | "Iterator" | "ExactSizeIterator" | "DoubleEndedIterator",
                Some(GenericArgument::AssocType(item)),
            ) if item.ident == "Item" => {
                return items(&item.ty, name == "IntoIterator");
            }
            _ => {}
        }
    }
    let message = "only `impl AsRef<T>`, `impl Into<T>`, `impl ToString`, `impl Serialize`, `impl Iterator<Item = T>` and \
                   `impl IntoIterator<Item = T>` can be arguments; name the type, or set it with \
                   `#[tool(generics(parameter = Type))]`";
    Err(syn::Error::new_spanned(bounds, message))
}

/// Reads the items of `impl IntoIterator<Item = T>` and `impl Iterator<Item = T>`.
fn items(item: &Type, is_collection: bool) -> syn::Result<ArgumentForm> {
    if let Type::Reference(reference) = item
        && is_plain_reference(reference)
    {
        let item = ListItem::new(&reference.elem);
        return Ok(if is_collection { ArgumentForm::References(item) } else { ArgumentForm::IterReferences(item) });
    }
    let item = match item {
        Type::ImplTrait(bounds) => decoded(bounds)?,
        item => {
            no_borrow(item)?;
            item.clone()
        }
    };
    Ok(match is_collection {
        true => ArgumentForm::Owned(parse_quote!(::std::vec::Vec<#item>)),
        false => ArgumentForm::Iter(item),
    })
}

/// Returns the type that is decoded for an `impl Trait` inside of another type.
fn decoded(bounds: &TypeImplTrait) -> syn::Result<Type> {
    match argument_form(bounds)? {
        ArgumentForm::Owned(inner) => Ok(inner),
        ArgumentForm::AsRef(inner) => Ok(owned_form(&inner)),
        ArgumentForm::AsRefSlice(item) => Ok(parse_quote!(::std::vec::Vec<#item>)),
        _ => Err(syn::Error::new_spanned(bounds, "an argument's type cannot contain this `impl ..`; name the type")),
    }
}

/// Replaces each `impl Trait` inside of a type by the type that is decoded for it.
pub(crate) fn with_decoded_types(ty: &Type) -> syn::Result<Type> {
    struct ReplaceImpls(syn::Result<()>);
    impl VisitMut for ReplaceImpls {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            let Type::ImplTrait(bounds) = ty else { return visit_mut::visit_type_mut(self, ty) };
            match decoded(bounds) {
                Ok(by) => *ty = by,
                Err(error) => self.0 = Err(error),
            }
        }
    }
    let mut ty = ty.clone();
    let mut replace = ReplaceImpls(Ok(()));
    replace.visit_type_mut(&mut ty);
    replace.0.map(|()| ty)
}

/// Returns the type that is decoded for `impl Serialize`: any JSON value. `__tool` is in scope wherever arguments are
/// decoded.
fn json_value() -> Type {
    parse_quote!(__tool::Value)
}

/// Returns `true` for `impl Serialize` whose other bounds a JSON value satisfies, too.
fn is_json(bounds: &TypeImplTrait) -> bool {
    are_met_by_json(&bounds.bounds)
        && bounds.bounds.iter().any(|bound| trait_name(bound).as_deref() == Some("Serialize"))
}

/// Returns `true` if a JSON value satisfies the bounds.
pub(crate) fn are_met_by_json<'b>(bounds: impl IntoIterator<Item = &'b TypeParamBound>) -> bool {
    const SATISFIED: [&str; 13] = [
        "Serialize",
        "Deserialize",
        "DeserializeOwned",
        "Clone",
        "Debug",
        "Default",
        "PartialEq",
        "Eq",
        "Hash",
        "Send",
        "Sync",
        "Sized",
        "Unpin",
    ];
    let mut names = bounds.into_iter().filter_map(trait_name);
    names.all(|name| SATISFIED.contains(&name.as_str()))
}

fn trait_name(bound: &TypeParamBound) -> Option<String> {
    match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}
