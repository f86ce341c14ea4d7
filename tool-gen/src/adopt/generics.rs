//! Generic methods: the types that `generics(..)` could name.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{FnArg, ImplItemFn, PathArguments, Type, TypeParamBound};
use tool_syntax::{MissingGeneric, missing_generics};

use super::AdoptReason;
use super::method::{MethodContext, MethodNeeds, is_function_bound, name_of};
use crate::text::source_text;

/// The type for JSON of any form.
const ANY_JSON: &str = "serde_json::Value";

impl MethodContext<'_> {
    /// Returns the method with the `generics(..)` that it needs. A type that must implement a trait of the application
    /// is no data, so parameters of this type are injected.
    pub(super) fn with_generics(&self, method: &ImplItemFn, needs: &mut MethodNeeds) -> Option<ImplItemFn> {
        let missing = missing_generics(&method.sig);
        let names: Vec<String> = missing.iter().map(|generic| generic.name.to_string()).collect();
        let is_closure = |generic: &&MissingGeneric| generic.bounds.iter().any(is_function_bound);
        let takes_other_closure =
            missing.iter().filter(is_closure).any(|generic| function_pointer(generic, &names).is_none());
        if missing.is_empty() || takes_other_closure || self.is_object {
            return None;
        }
        let mut entries = Vec::new();
        let mut own_types = Vec::new();
        for generic in &missing {
            let chosen = if let Some(pointer) = function_pointer(generic, &names) {
                self.inject_generic(generic, method, needs);
                pointer
            } else if generic.accepts_json() {
                needs.placeholders.push(ANY_JSON.to_owned());
                ANY_JSON.to_owned()
            } else {
                self.inject_generic(generic, method, needs);
                let only = generic.main_bound().and_then(|bound| self.reader.only_implementation(self.id, bound));
                only.map(|ty| source_text(&ty)).unwrap_or_else(|| {
                    let own = format!("My{}", generic.main_bound().unwrap_or(&generic.name));
                    own_types.push(own.clone());
                    own
                })
            };
            entries.push(format!("{} = {chosen}", generic.name));
        }
        let key = format!("generics({})", entries.join(", "));
        let tokens: TokenStream = key.parse().ok()?;
        let mut named = method.clone();
        named.attrs.push(syn::parse_quote!(#[tool(#tokens)]));
        let over: Vec<String> = missing.iter().map(described).collect();
        let own = match own_types.as_slice() {
            [] => String::new(),
            names => format!(", with your own types for {}", names.join(", ")),
        };
        let message = format!("it is generic over {}", over.join(" and "));
        needs.add(AdoptReason::Generics, message, format!("`#[tool({key})]`{own}"));
        needs.keys.push(key);
        needs.has_own_types = !own_types.is_empty();
        needs.placeholders.extend(own_types);
        Some(named)
    }

    fn inject_generic(&self, generic: &MissingGeneric, method: &ImplItemFn, needs: &mut MethodNeeds) {
        for input in &method.sig.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let Some(name) = name_of(typed) else { continue };
            let passed = match &*typed.ty {
                Type::Reference(reference) => &*reference.elem,
                other => other,
            };
            let is_generic = match passed {
                Type::ImplTrait(_) => generic.name == name,
                Type::Path(path) => path.path.is_ident(&generic.name),
                _ => false,
            };
            if is_generic {
                needs.inject(&name, &typed.ty);
            }
        }
    }
}

/// Returns the type of a function that can be passed for a closure, such as `fn(&Order) -> bool`. The closure's types must
/// not be generic themselves, nor have lifetimes of the method or of the impl.
fn function_pointer(generic: &MissingGeneric, generics: &[String]) -> Option<String> {
    const IMPLEMENTED: [&str; 6] = ["Send", "Sync", "Copy", "Clone", "Unpin", "Sized"];
    let mut pointer = None;
    for bound in &generic.bounds {
        let TypeParamBound::Trait(bound) = bound else { continue };
        let last = bound.path.segments.last()?;
        match &last.arguments {
            PathArguments::Parenthesized(types) if ["Fn", "FnMut", "FnOnce"].iter().any(|name| last.ident == name) => {
                let (lifetimes, inputs, output) = (&bound.lifetimes, &types.inputs, &types.output);
                let function = quote!(fn(#inputs) #output);
                let mut known = lifetime_names(quote!(#lifetimes));
                known.extend(["static".to_owned(), "_".to_owned()]);
                if !lifetime_names(function.clone()).is_subset(&known) {
                    return None;
                }
                pointer = Some(quote!(#lifetimes #function));
            }
            _ if IMPLEMENTED.iter().any(|name| last.ident == name) => {}
            _ => return None,
        }
    }
    let pointer: Type = syn::parse2(pointer?).ok()?;
    let text = source_text(&pointer);
    let is_generic = text
        .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .any(|word| generics.iter().any(|name| name == word) || word == "impl" || word == "Self");
    (!is_generic).then_some(text)
}

/// Returns the names of the lifetimes in some tokens.
fn lifetime_names(tokens: TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_lifetime = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(name) if is_lifetime => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => names.extend(lifetime_names(group.stream())),
            _ => {}
        }
        is_lifetime = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '\'');
    }
    names
}

/// Returns a type parameter with its bounds, such as `P: Progress`.
fn described(generic: &MissingGeneric) -> String {
    match generic.bounds_text() {
        bounds if bounds.is_empty() => format!("`{}`", generic.name),
        bounds => format!("`{}: {bounds}`", generic.name),
    }
}
