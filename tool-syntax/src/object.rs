//! Traits as tool classes, called through `dyn Trait`.

use syn::{
    Attribute, FnArg, GenericParam, ImplItemFn, ItemImpl, ItemTrait, Receiver, ReceiverKind, Signature, TraitItem,
    TraitItemFn, Type, TypeParamBound, WherePredicate, parse_quote,
};

use crate::attrs::{is_tool, last_segment};

/// Converts a trait to the `impl` block of its trait object, with the methods that can be called on one.
pub(crate) fn to_impl(item: &ItemTrait) -> syn::Result<ItemImpl> {
    let reject = |place: &dyn quote::ToTokens, why: &str| {
        let message = format!(
            "`{0}` cannot be called as `dyn {0}`, since {why}; put `#[tool_class]` on an `impl {0} for ..` block instead",
            item.ident
        );
        Err(syn::Error::new_spanned(place, message))
    };
    if let Some(param) = item.generics.params.first() {
        return reject(param, "it is generic");
    }
    let is_async_trait = item.attrs.iter().any(|attribute| last_segment(attribute) == "async_trait");
    let mut methods = Vec::new();
    for member in &item.items {
        match member {
            TraitItem::Fn(method) if is_sized_only(&method.sig) || takes_self_by_value(&method.sig) => {
                if let Some(marker) = method.attrs.iter().find(|attribute| is_tool(attribute)) {
                    let message = "a method that takes `self` by value or has `where Self: Sized` cannot be called on `dyn Trait`";
                    return Err(syn::Error::new_spanned(marker, message));
                }
            }
            TraitItem::Fn(method) => match why_not_callable(&method.sig, is_async_trait) {
                Some((place, why)) => return reject(&place, why),
                None => methods.push(to_method(method)),
            },
            TraitItem::Const(constant) => return reject(&constant.ident, "it has an associated constant"),
            TraitItem::Type(ty) => return reject(&ty.ident, "it has an associated type"),
            _ => {}
        }
    }
    let name = &item.ident;
    let mut block: ItemImpl = parse_quote!(impl dyn #name {});
    block.items = methods.into_iter().map(syn::ImplItem::Fn).collect();
    Ok(block)
}

fn to_method(method: &TraitItemFn) -> ImplItemFn {
    let (attributes, signature): (&[Attribute], &Signature) = (&method.attrs, &method.sig);
    parse_quote!(#(#attributes)* pub #signature {})
}

/// Returns `true` for `where Self: Sized`, with which a method is not part of the trait object.
fn is_sized_only(signature: &Signature) -> bool {
    let predicates = signature.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut bounds = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(bound) if matches!(&bound.bounded_ty, Type::Path(path) if path.path.is_ident("Self")) => {
            Some(&bound.bounds)
        }
        _ => None,
    });
    bounds.any(|bounds| {
        bounds.iter().any(|bound| matches!(bound, TypeParamBound::Trait(bound) if bound.path.is_ident("Sized")))
    })
}

fn takes_self_by_value(signature: &Signature) -> bool {
    matches!(signature.inputs.first(), Some(FnArg::Receiver(Receiver { kind: ReceiverKind::Value, .. })))
}

type Tokens = proc_macro2::TokenStream;

/// Returns the reason why a method makes its trait unusable as `dyn Trait`, with its place.
fn why_not_callable(signature: &Signature, is_async_trait: bool) -> Option<(Tokens, &'static str)> {
    let tokens = |place: &dyn quote::ToTokens| place.to_token_stream();
    if let Some(param) = signature.generics.params.iter().find(|param| !matches!(param, GenericParam::Lifetime(_))) {
        return Some((tokens(param), "this method is generic"));
    }
    if let Some(token) = signature.asyncness.as_ref().filter(|_| !is_async_trait) {
        return Some((tokens(token), "it has an `async fn` without `#[async_trait]`"));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(_)) => {
            let has_impl =
                matches!(&signature.output, syn::ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)));
            (has_impl && !is_async_trait).then(|| (tokens(&signature.output), "this method returns `impl ..`"))
        }
        _ => Some((tokens(&signature.ident), "this function has no `self`")),
    }
}
