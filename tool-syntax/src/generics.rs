//! `generics(..)`: the concrete types of a generic function.

use std::collections::HashMap;

use darling::FromMeta;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericArgument, GenericParam, Ident, Meta, Pat, Signature, Token, Type, TypeImplTrait, TypeParamBound,
    parse_quote,
};

use crate::instances::{self, Substitute};
use crate::tool::ClassDefaults;
use crate::{Report, class, impl_trait, rewrite, signature};

/// The contents of `generics(..)`: arguments by the names of type parameters, or of parameters of type `impl Trait`.
#[derive(Clone, Debug)]
pub(crate) struct GenericTypes(Vec<GenericType>);

#[derive(Clone, Debug)]
struct GenericType {
    name: Ident,
    argument: GenericArgument,
}

impl Parse for GenericType {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        Ok(Self { name, argument: input.parse()? })
    }
}

impl FromMeta for GenericTypes {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = || darling::Error::custom("expected `generics(T = Order, ..)`").with_span(meta);
        let Meta::List(list) = meta else { return Err(wrong()) };
        let entries = Punctuated::<GenericType, Token![,]>::parse_terminated.parse2(list.tokens.clone())?;
        if entries.is_empty() { Err(wrong()) } else { Ok(Self(entries.into_iter().collect())) }
    }
}

/// A type that `generics(..)` must name.
#[derive(Clone, Debug)]
pub struct MissingGeneric {
    /// The type parameter, or the parameter of type `impl Trait`.
    pub name: Ident,
    /// The bounds of the type.
    pub bounds: Vec<TypeParamBound>,
}

impl MissingGeneric {
    /// Returns `true` if `serde_json::Value` meets the bounds.
    #[must_use]
    pub fn accepts_json(&self) -> bool {
        impl_trait::are_met_by_json(&self.bounds)
    }

    /// Returns the traits of the bounds, such as `Progress + Send`.
    #[must_use]
    pub fn bounds_text(&self) -> String {
        let traits = self.bounds.iter().filter(|bound| match bound {
            TypeParamBound::Trait(bound) => !bound.path.is_ident("Sized"),
            _ => false,
        });
        traits.map(class::tokens).collect::<Vec<_>>().join(" + ")
    }

    /// Returns the first trait of the bounds, auto traits and `Clone` and the like aside.
    #[must_use]
    pub fn main_bound(&self) -> Option<&Ident> {
        instances::main_trait(self.bounds.iter()).and_then(|path| path.segments.last()).map(|last| &last.ident)
    }

    /// Returns the error for a function that does not name the type.
    pub(crate) fn message(&self) -> String {
        let name = &self.name;
        if self.accepts_json() {
            return format!(
                "the tool is generic over `{name}`; name its type: `#[tool(generics({name} = serde_json::Value))]`"
            );
        }
        let own = quote::format_ident!("My{}", self.main_bound().unwrap_or(name));
        let bounds = self.bounds_text();
        let key = format!("the tool is generic over `{name}`; name its type: `#[tool(generics({name} = {own}))]`");
        format!("{key}, where `{own}` implements `{bounds}`")
    }
}

/// Returns the types of a function that `generics(..)` must name: other type parameters and `impl Trait` arguments
/// determine the type that is decoded.
#[must_use]
pub fn missing_generics(signature: &Signature) -> Vec<MissingGeneric> {
    let inlined = signature::inline_type_parameters(signature);
    let generics = &inlined.as_ref().unwrap_or(signature).generics;
    let parameters = generics.type_params().map(|parameter| MissingGeneric {
        name: parameter.ident.clone(),
        bounds: instances::bounds(generics, &parameter.ident).cloned().collect(),
    });
    let arguments = signature.inputs.iter().filter_map(|input| {
        let FnArg::Typed(typed) = input else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let bounds = first_impl(&typed.ty).filter(|bounds| impl_trait::argument_form(bounds).is_err())?;
        Some(MissingGeneric { name: name.ident.clone(), bounds: bounds.bounds.iter().cloned().collect() })
    });
    parameters.chain(arguments).collect()
}

/// Returns the outermost `impl Trait` of a type.
fn first_impl(ty: &Type) -> Option<&TypeImplTrait> {
    struct ImplFinder<'ast>(Option<&'ast TypeImplTrait>);
    impl<'ast> Visit<'ast> for ImplFinder<'ast> {
        fn visit_type_impl_trait(&mut self, bounds: &'ast TypeImplTrait) {
            self.0.get_or_insert(bounds);
        }
        fn visit_type(&mut self, ty: &'ast Type) {
            visit::visit_type(self, ty);
        }
    }
    let mut find = ImplFinder(None);
    find.visit_type(ty);
    find.0
}

/// A function with concrete types.
pub(crate) struct SpecializedFunction {
    pub(crate) signature: Signature,
    /// The generic arguments of its call; `_` for those that the values determine. Empty if all are inferred.
    pub(crate) turbofish: Vec<GenericArgument>,
}

/// Replaces the type parameters and `impl Trait`s that `generics(..)` names.
pub(crate) fn specialize(
    signature: &Signature,
    types: &GenericTypes,
    class: Option<&ClassDefaults<'_>>,
    report: &mut Report,
) -> SpecializedFunction {
    let parameters = instances::type_parameters(&signature.generics);
    let mut specialized = signature.clone();
    let mut arguments = HashMap::new();
    let mut named: Vec<&Ident> = Vec::new();
    for GenericType { name, argument } in &types.0 {
        if named.contains(&name) {
            report.at(name, format!("duplicate type of `{name}`"));
            continue;
        }
        named.push(name);
        let argument = detached(argument, signature, class);
        if parameters.contains(&name) {
            arguments.insert(name.to_string(), argument);
        } else if !replace_impl(&mut specialized, name, &argument) {
            let (message, meant) = not_generic(signature, name);
            report.at(name, message);
            // The parameter that was meant is not reported as missing, too.
            if let Some(meant) = meant.filter(|meant| parameters.iter().any(|known| **known == *meant)) {
                arguments.entry(meant).or_insert(argument);
            }
        }
    }
    let turbofish = match arguments.is_empty() {
        true => Vec::new(),
        false => parameters
            .iter()
            .map(|name| arguments.get(&name.to_string()).cloned().unwrap_or_else(|| parse_quote!(_)))
            .collect(),
    };
    let is_kept = |parameter: &GenericParam| match parameter {
        GenericParam::Type(parameter) => !arguments.contains_key(&parameter.ident.to_string()),
        GenericParam::Const(parameter) => !arguments.contains_key(&parameter.ident.to_string()),
        GenericParam::Lifetime(_) => true,
    };
    specialized.generics.params = specialized.generics.params.into_iter().filter(is_kept).collect();
    Substitute::new(&signature.generics, arguments).visit_signature_mut(&mut specialized);
    SpecializedFunction { signature: specialized, turbofish }
}

fn detached(argument: &GenericArgument, signature: &Signature, class: Option<&ClassDefaults<'_>>) -> GenericArgument {
    let (lifetimes, self_ty) = class.map_or((&[] as &[_], None), |class| (class.lifetimes, Some(class.self_ty)));
    match argument {
        GenericArgument::Type(ty) => GenericArgument::Type(rewrite::detach(ty, signature, lifetimes, self_ty)),
        other => other.clone(),
    }
}

/// Replaces the `impl Trait` of a parameter. Returns `false` if it has none.
fn replace_impl(signature: &mut Signature, name: &Ident, by: &GenericArgument) -> bool {
    struct ReplaceImpl<'a>(Option<&'a Type>);
    impl VisitMut for ReplaceImpl<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            match (&*ty, self.0) {
                (Type::ImplTrait(_), Some(by)) => {
                    *ty = by.clone();
                    self.0 = None;
                }
                _ => visit_mut::visit_type_mut(self, ty),
            }
        }
    }
    let GenericArgument::Type(by) = by else { return false };
    let mut replace = ReplaceImpl(Some(by));
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input
            && matches!(&*typed.pat, Pat::Ident(parameter) if parameter.ident == *name)
        {
            replace.visit_type_mut(&mut typed.ty);
        }
    }
    replace.0.is_none()
}

/// Returns the error for a name that is not generic, and the name that was probably meant.
fn not_generic(signature: &Signature, name: &Ident) -> (String, Option<String>) {
    let parameters = instances::type_parameters(&signature.generics).into_iter().map(|name| name.unraw().to_string());
    let arguments = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(parameter) if first_impl(&typed.ty).is_some() => Some(parameter.ident.unraw().to_string()),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let known: Vec<String> = parameters.chain(arguments).collect();
    let wrong = name.unraw().to_string();
    match tool_model::nearest(&wrong, known.iter().map(String::as_str)).first() {
        Some(&near) => (format!("`{wrong}` is not generic; did you mean `{near}`?"), Some(near.to_owned())),
        None if known.is_empty() => ("`generics(..)` has no effect here: the function is not generic".to_owned(), None),
        None => (format!("`{wrong}` is not generic; the function is generic over `{}`", known.join("`, `")), None),
    }
}
