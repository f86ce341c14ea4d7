//! `instances(..)`: the concrete types of a generic class, and the substitution of its type parameters.

use std::collections::HashMap;

use darling::FromMeta;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, GenericArgument, GenericParam, Generics, Ident, ImplItem, ItemImpl, LitStr, Meta, Path, PathArguments,
    Token, Type, TypeParamBound, TypePath, WherePredicate, parse_quote,
};

/// One entry of `instances(..)`: `OrderService<PgOrders>` or `OrderService<Archive> as "archive"`.
#[derive(Clone, Debug)]
pub(crate) struct ClassInstance {
    pub(crate) ty: Type,
    pub(crate) prefix: Option<LitStr>,
}

impl Parse for ClassInstance {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        let prefix = if input.parse::<Option<Token![as]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Self { ty, prefix })
    }
}

/// The contents of `instances(..)`.
#[derive(Clone, Debug)]
pub(crate) struct InstanceList(pub(crate) Vec<ClassInstance>);

impl FromMeta for InstanceList {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let wrong = || darling::Error::custom("expected `instances(Service<Postgres>, ..)`").with_span(meta);
        let Meta::List(list) = meta else { return Err(wrong()) };
        let entries = Punctuated::<ClassInstance, Token![,]>::parse_terminated.parse2(list.tokens.clone())?;
        if entries.is_empty() { Err(wrong()) } else { Ok(Self(entries.into_iter().collect())) }
    }
}

/// Returns the names of the type and const parameters.
pub(crate) fn type_parameters(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

/// Returns the first trait that a type parameter must implement, auto traits and `Clone` and the like aside.
pub(crate) fn main_bound<'a>(generics: &'a Generics, parameter: &Ident) -> Option<&'a Path> {
    main_trait(bounds(generics, parameter))
}

/// Returns the first trait of some bounds, auto traits and `Clone` and the like aside.
pub(crate) fn main_trait<'a>(bounds: impl Iterator<Item = &'a TypeParamBound>) -> Option<&'a Path> {
    const COMMON: [&str; 8] = ["Send", "Sync", "Unpin", "Sized", "Clone", "Copy", "Debug", "Default"];
    let mut traits = bounds.filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(&bound.path),
        _ => None,
    });
    traits.find(|path| path.segments.last().is_some_and(|last| COMMON.iter().all(|name| last.ident != name)))
}

/// Returns all bounds of a type parameter, from its declaration and the `where` clause.
pub(crate) fn bounds<'a>(generics: &'a Generics, parameter: &Ident) -> impl Iterator<Item = &'a TypeParamBound> {
    let inline = generics.type_params().filter(move |param| param.ident == *parameter).flat_map(|param| &param.bounds);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let name = parameter.clone();
    let in_where = predicates.filter_map(move |predicate| match predicate {
        WherePredicate::Type(bound) if is_ident(&bound.bounded_ty, &name) => Some(&bound.bounds),
        _ => None,
    });
    inline.chain(in_where.flatten())
}

fn is_ident(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident(name))
}

/// Returns the `impl` block of a generic class for one concrete type: without type parameters, each replaced by the
/// argument that the instance has in its place.
pub(crate) fn instantiate(item: &ItemImpl, instance: &Type) -> syn::Result<ItemImpl> {
    let parameters = type_parameters(&item.generics);
    let mut arguments = HashMap::new();
    unify(&item.self_ty, instance, &parameters, &mut arguments)?;
    if let Some(missing) = parameters.iter().find(|name| !arguments.contains_key(&name.to_string())) {
        let message = format!("this type does not determine the type parameter `{missing}` of the `impl` block");
        return Err(syn::Error::new_spanned(instance, message));
    }
    let mut substitute = Substitute::new(&item.generics, arguments);
    let mut item = item.clone();
    substitute.visit_item_impl_mut(&mut item);
    item.generics.params =
        item.generics.params.into_iter().filter(|param| matches!(param, GenericParam::Lifetime(_))).collect();
    item.generics.where_clause = None;
    item.self_ty = Box::new(instance.clone());
    Ok(item)
}

/// Replaces `Self::Name` by the definition of the associated type in the `impl` block of a trait.
pub(crate) fn inline_associated_types(item: &mut ItemImpl) {
    let types = item.items.iter().filter_map(|item| match item {
        ImplItem::Type(definition) => Some((definition.ident.to_string(), definition.ty.clone())),
        _ => None,
    });
    let associated: HashMap<String, Type> = types.collect();
    // One associated type may name another: as often as there are types, no chain is longer.
    for _ in 0..associated.len() {
        Substitute { associated: associated.clone(), ..Substitute::default() }.visit_item_impl_mut(item);
    }
}

/// Finds the argument of each type parameter by comparing the type of the `impl` block with the instance.
fn unify(
    pattern: &Type,
    instance: &Type,
    parameters: &[&Ident],
    arguments: &mut HashMap<String, GenericArgument>,
) -> syn::Result<()> {
    let (Type::Path(pattern), Type::Path(instance_path)) = (pattern, instance) else {
        return match (pattern, instance) {
            (Type::Reference(pattern), Type::Reference(instance)) => {
                unify(&pattern.elem, &instance.elem, parameters, arguments)
            }
            _ => Ok(()),
        };
    };
    let (Some(ours), Some(theirs)) = (pattern.path.segments.last(), instance_path.path.segments.last()) else {
        return Ok(());
    };
    if ours.ident != theirs.ident {
        let message = format!("expected an instance of `{}`, as in `{}<..>`", ours.ident, ours.ident);
        return Err(syn::Error::new_spanned(instance, message));
    }
    for (ours, theirs) in type_arguments(&ours.arguments).zip(type_arguments(&theirs.arguments)) {
        let parameter = match ours {
            GenericArgument::Type(Type::Path(path)) if path.qself.is_none() => path.path.get_ident(),
            GenericArgument::Const(Expr::Path(path)) => path.path.get_ident(),
            _ => None,
        };
        match (parameter.filter(|name| parameters.contains(name)), ours, theirs) {
            (Some(parameter), _, _) => {
                arguments.insert(parameter.to_string(), theirs.clone());
            }
            (None, GenericArgument::Type(ours), GenericArgument::Type(theirs)) => {
                unify(ours, theirs, parameters, arguments)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn type_arguments(arguments: &PathArguments) -> impl Iterator<Item = &GenericArgument> {
    let list = match arguments {
        PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    };
    list.into_iter().flatten().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)))
}

/// Replaces type parameters and associated types in signatures. Function bodies are left alone.
#[derive(Default)]
pub(crate) struct Substitute {
    /// The arguments of type and const parameters, by name.
    arguments: HashMap<String, GenericArgument>,
    /// The trait by which the associated types of a parameter are found.
    bounds: HashMap<String, Path>,
    /// The types of `Self::Name`.
    associated: HashMap<String, Type>,
}

impl Substitute {
    /// Replaces type parameters by arguments.
    pub(crate) fn new(generics: &Generics, arguments: HashMap<String, GenericArgument>) -> Self {
        let parameters = type_parameters(generics).into_iter();
        let bounds = parameters.filter_map(|name| Some((name.to_string(), main_bound(generics, name)?.clone())));
        let mut bounds: HashMap<String, Path> = bounds.collect();
        let mut in_bounds = Self { arguments: arguments.clone(), ..Self::default() };
        bounds.values_mut().for_each(|bound| in_bounds.visit_path_mut(bound));
        Self { arguments, bounds, ..Self::default() }
    }

    fn argument(&self, path: &Path) -> Option<&GenericArgument> {
        self.arguments.get(&path.get_ident()?.to_string())
    }

    /// Returns the type that a path of several segments names: `Self::Error` or `R::Error`.
    fn projection(&self, path: &TypePath) -> Option<Type> {
        let segments = &path.path.segments;
        let first = segments.first().filter(|_| path.qself.is_none() && segments.len() > 1)?;
        if first.ident == "Self" && segments.len() == 2 {
            return self.associated.get(&segments[1].ident.unraw().to_string()).cloned();
        }
        let name = first.ident.to_string();
        let GenericArgument::Type(argument) = self.arguments.get(&name)? else { return None };
        let rest = segments.iter().skip(1);
        Some(match self.bounds.get(&name) {
            Some(bound) => parse_quote!(<#argument as #bound>::#(#rest)::*),
            None => parse_quote!(<#argument>::#(#rest)::*),
        })
    }
}

impl VisitMut for Substitute {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty {
            if path.qself.is_none()
                && let Some(GenericArgument::Type(argument)) = self.argument(&path.path)
            {
                *ty = argument.clone();
                return;
            }
            if let Some(projection) = self.projection(path) {
                *ty = projection;
                return;
            }
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        if let GenericArgument::Type(Type::Path(path)) = argument
            && path.qself.is_none()
            && let Some(constant) = self.argument(&path.path)
        {
            *argument = constant.clone();
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && let Some(argument) = self.argument(&path.path)
        {
            match argument {
                GenericArgument::Const(constant) => *expr = constant.clone(),
                GenericArgument::Type(Type::Path(path)) => *expr = parse_quote!(#path),
                _ => {}
            }
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_block_mut(&mut self, _: &mut Block) {}
}
