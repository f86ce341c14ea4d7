//! Generic methods: the types that `generics(..)` could name.

use syn::{FnArg, ImplItemFn, Type};
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
        let takes_closure = missing.iter().any(|generic| generic.bounds.iter().any(is_function_bound));
        if missing.is_empty() || takes_closure || self.is_object {
            return None;
        }
        let mut entries = Vec::new();
        let mut own_types = Vec::new();
        for generic in &missing {
            let chosen = if generic.accepts_json() {
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
        let tokens: proc_macro2::TokenStream = key.parse().ok()?;
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

/// Returns a type parameter with its bounds, such as `P: Progress`.
fn described(generic: &MissingGeneric) -> String {
    match generic.bounds_text() {
        bounds if bounds.is_empty() => format!("`{}`", generic.name),
        bounds => format!("`{}: {bounds}`", generic.name),
    }
}
