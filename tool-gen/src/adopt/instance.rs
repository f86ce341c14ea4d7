//! The instances of classes: the concrete types of generic blocks, and constructors in another `impl` block.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, ImplItem, ItemImpl, Lifetime, PathArguments, Type, TypeParamBound, TypeReference,
    WherePredicate,
};

use super::Fit;
use super::class::{ClassReader, is_borrowing, is_new, type_name};
use super::method::method_role;
use crate::ty::{ScopeId, Ty, TypeSource};

/// The instance of a generic class.
pub(super) struct GenericInstance {
    pub(super) ty: Type,
    /// The names that stand for types that the crate does not determine.
    pub(super) placeholders: Vec<String>,
}

impl GenericInstance {
    /// Returns the attribute that names the instance.
    pub(super) fn remedy(&self, keys: &[String]) -> String {
        let keys = keys.join(", ");
        match self.placeholders.as_slice() {
            [] => format!("`#[tool_class({keys})]`"),
            names => format!("`#[tool_class({keys})]`, with your own types for {}", names.join(", ")),
        }
    }
}

impl ClassReader<'_> {
    /// Returns the instance of a generic block: each type parameter is replaced by its default or by the only type of
    /// the crate that implements its bound, or else by a placeholder.
    pub(super) fn instance(&self, id: ScopeId, item: &ItemImpl) -> Option<GenericInstance> {
        let parameters: Vec<&Ident> = item.generics.type_params().map(|parameter| &parameter.ident).collect();
        if parameters.is_empty() {
            return None;
        }
        let named = self.instances.iter().find(|instance| type_name(instance) == type_name(&item.self_ty));
        if let Some(ty) = named {
            return Some(GenericInstance { ty: ty.clone(), placeholders: Vec::new() });
        }
        let mut ty = (*item.self_ty).clone();
        let mut placeholders = Vec::new();
        for parameter in parameters {
            let bound = main_bound(item, parameter);
            let chosen = self.default_of(id, item, parameter).or_else(|| self.only_implementation(id, bound.as_ref()?));
            let by = chosen.unwrap_or_else(|| {
                let name = format_ident!("My{}", bound.as_ref().unwrap_or(parameter));
                placeholders.push(name.to_string());
                syn::parse_quote!(#name)
            });
            ReplaceIdent { name: parameter, by: &by }.visit_type_mut(&mut ty);
        }
        Some(GenericInstance { ty, placeholders })
    }

    fn default_of(&self, id: ScopeId, item: &ItemImpl, parameter: &Ident) -> Option<Type> {
        let Type::Path(path) = &*item.self_ty else { return None };
        let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else { return None };
        let types: Vec<&Type> = list
            .args
            .iter()
            .filter_map(|argument| if let syn::GenericArgument::Type(ty) = argument { Some(ty) } else { None })
            .collect();
        let index = types.iter().position(|ty| matches!(ty, Type::Path(path) if path.path.is_ident(parameter)))?;
        let Ty::Defined { definition, .. } = self.sources.resolve(&item.self_ty, id, &[]) else { return None };
        let definition = self.sources.definition(definition);
        let default = definition.item.generics.type_params().nth(index)?.default.clone().map(|(_, default)| default)?;
        // Its names must mean the same here.
        (self.sources.resolve(&default, id, &[]) == self.sources.resolve(&default, definition.scope, &[]))
            .then_some(default)
    }

    pub(super) fn only_implementation(&self, id: ScopeId, bound: &Ident) -> Option<Type> {
        let mut found: Option<(ScopeId, Type)> = None;
        for &scope_id in &self.scopes {
            let scope = self.sources.scope(scope_id);
            let impls = self.sources.items(&scope, scope_id).map(|items| items.impls.as_slice()).unwrap_or_default();
            for (_, item) in impls.iter().filter(|(name, item)| bound == name && item.generics.params.is_empty()) {
                if found.is_some() {
                    return None;
                }
                found = Some((scope_id, (*item.self_ty).clone()));
            }
        }
        let (from, ty) = found?;
        let meant = self.sources.resolve(&ty, from, &[]);
        if self.sources.resolve(&ty, id, &[]) == meant {
            return Some(ty);
        }
        self.path_in_crate(&meant).map(|path| syn::parse_quote!(#path))
    }

    /// Returns the parameters of the `new` of a borrowing type, if it is in another block than `item` or takes `impl Into`.
    /// Their lifetimes are elided, and their paths are valid in the scope of `item`.
    pub(super) fn declared_constructor(&self, id: ScopeId, item: &ItemImpl) -> Option<TokenStream> {
        if !is_borrowing(item) {
            return None;
        }
        let own = item.items.iter().find_map(|member| match member {
            ImplItem::Fn(method) if is_new(method) => Some(&method.sig),
            _ => None,
        });
        if let Some(own) = own {
            return if is_generic(own) { self.parameters(own, id, id) } else { None };
        }
        let Ty::Defined { definition, .. } = self.sources.resolve(&item.self_ty, id, &[]) else { return None };
        let name = self.sources.definition(definition).item.ident.to_string();
        for &from in &self.scopes {
            let scope = self.sources.scope(from);
            let impls = self.sources.items(&scope, from).map(|items| items.impls.as_slice()).unwrap_or_default();
            for (_, block) in impls.iter().filter(|(of_trait, block)| of_trait.is_empty() && is_borrowing(block)) {
                let new = block.items.iter().find_map(|member| match member {
                    ImplItem::Fn(method) if is_new(method) && method.sig.asyncness.is_none() => Some(method),
                    _ => None,
                });
                let Some(new) = new.filter(|new| returns_plain_self(&new.sig, &name)) else { continue };
                let resolved = self.sources.resolve(&block.self_ty, from, &[]);
                if matches!(resolved, Ty::Defined { definition: other, .. } if other == definition) {
                    return self.parameters(&new.sig, from, id);
                }
            }
        }
        None
    }

    fn parameters(&self, signature: &syn::Signature, from: ScopeId, to: ScopeId) -> Option<TokenStream> {
        if signature.generics.type_params().next().is_some() {
            return None;
        }
        let inputs = signature.inputs.iter().map(|input| {
            let FnArg::Typed(typed) = input else { return None };
            let mut ty = concrete(&typed.ty)?;
            ElideLifetimes.visit_type_mut(&mut ty);
            let mut paths = MovePaths { reader: self, from, to, is_valid: true };
            paths.visit_type_mut(&mut ty);
            let pat = &typed.pat;
            paths.is_valid.then(|| quote!(#pat: #ty))
        });
        let inputs: Option<Vec<TokenStream>> = inputs.collect();
        inputs.map(|inputs| quote!(#(#inputs),*))
    }
}

fn is_generic(signature: &syn::Signature) -> bool {
    signature.inputs.iter().any(|input| matches!(input, FnArg::Typed(typed) if matches!(*typed.ty, Type::ImplTrait(_))))
}

/// Returns the type for `impl Into<T>`, `impl AsRef<str>` and `impl ToString`.
fn concrete(ty: &Type) -> Option<Type> {
    let Type::ImplTrait(bounds) = ty else { return Some(ty.clone()) };
    bounds.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let argument = match &last.arguments {
            PathArguments::AngleBracketed(list) => list.args.first(),
            _ => None,
        };
        match (last.ident.to_string().as_str(), argument) {
            ("Into", Some(syn::GenericArgument::Type(ty))) => Some(ty.clone()),
            ("AsRef", Some(syn::GenericArgument::Type(ty))) if ty.to_token_stream().to_string() == "str" => {
                Some(syn::parse_quote!(String))
            }
            ("ToString" | "Display", _) => Some(syn::parse_quote!(String)),
            _ => None,
        }
    })
}

fn returns_plain_self(signature: &syn::Signature, name: &str) -> bool {
    let output = signature.output.to_token_stream().to_string();
    method_role(signature, name) == Some(Fit::Constructor) && !output.contains("Result") && !output.contains("Option")
}

struct ElideLifetimes;

impl VisitMut for ElideLifetimes {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = None;
        visit_mut::visit_type_mut(self, &mut reference.elem);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    }
}

/// Replaces paths that mean something else in another scope.
struct MovePaths<'a, 'b> {
    reader: &'a ClassReader<'b>,
    from: ScopeId,
    to: ScopeId,
    is_valid: bool,
}

impl VisitMut for MovePaths<'_, '_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let Type::Path(path) = ty else { return };
        let sources = self.reader.sources;
        let arguments =
            path.path.segments.last_mut().map(|last| std::mem::take(&mut last.arguments)).unwrap_or_default();
        let meant = sources.resolve(&Type::Path(path.clone()), self.from, &[]);
        if sources.resolve(&Type::Path(path.clone()), self.to, &[]) != meant {
            match self.reader.path_in_crate(&meant) {
                Some(moved) => path.path = moved,
                None => self.is_valid = false,
            }
        }
        if let Some(last) = path.path.segments.last_mut() {
            last.arguments = arguments;
        }
    }
}

/// Returns the first trait that a type parameter must implement, by its last name. Common traits do not count.
fn main_bound(item: &ItemImpl, parameter: &Ident) -> Option<Ident> {
    const COMMON: [&str; 8] = ["Send", "Sync", "Unpin", "Sized", "Clone", "Copy", "Debug", "Default"];
    let inline = item.generics.params.iter().filter_map(|known| match known {
        GenericParam::Type(known) if known.ident == *parameter => Some(&known.bounds),
        _ => None,
    });
    let predicates = item.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let in_where = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(bound) if matches!(&bound.bounded_ty, Type::Path(path) if path.path.is_ident(parameter)) => {
            Some(&bound.bounds)
        }
        _ => None,
    });
    let names = inline.chain(in_where).flatten().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.clone()),
        _ => None,
    });
    names.into_iter().find(|name| COMMON.iter().all(|common| name != common))
}

/// Replaces a type parameter.
struct ReplaceIdent<'a> {
    name: &'a Ident,
    by: &'a Type,
}

impl VisitMut for ReplaceIdent<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident(self.name) => *ty = self.by.clone(),
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }
}
