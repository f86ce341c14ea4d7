//! Rewriting of types: lifetimes, `Self` and type parameters.

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, GenericParam, Ident, Lifetime, Path, PathArguments, ReturnType, Signature, Token, Type, TypePath,
    TypeReference, parse_quote,
};

/// Makes a type nameable outside of its function: replaces lifetimes by `'static` and `Self` by the class.
pub(crate) fn detach(ty: &Type, signature: &Signature, outer: &[Lifetime], class: Option<&Type>) -> Type {
    struct DetachType<'a> {
        lifetimes: Vec<&'a Lifetime>,
        class: Option<&'a Type>,
    }
    impl VisitMut for DetachType<'_> {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" || self.lifetimes.contains(&&*lifetime) {
                *lifetime = Lifetime::new("'static", lifetime.span());
            }
        }
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let (Type::Path(path), Some(class)) = (&*ty, self.class)
                && path.qself.is_none()
                && path.path.is_ident("Self")
            {
                *ty = class.clone();
                return;
            }
            visit_mut::visit_type_mut(self, ty);
        }
        fn visit_type_path_mut(&mut self, path: &mut TypePath) {
            if let Some(class) = self.class
                && path.qself.is_none()
                && path.path.segments.len() > 1
                && path.path.segments[0].ident == "Self"
            {
                let rest: Vec<_> = path.path.segments.iter().skip(1).collect();
                *path = parse_quote!(<#class>::#(#rest)::*);
                return;
            }
            add_lifetime_of_cow(path);
            visit_mut::visit_type_path_mut(self, path);
        }
    }
    let lifetimes = signature.generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(lifetime) => Some(&lifetime.lifetime),
        _ => None,
    });
    let mut ty = ty.clone();
    DetachType { lifetimes: lifetimes.chain(outer).collect(), class }.visit_type_mut(&mut ty);
    ty
}

/// Adds the elided lifetime of `Cow<T>`: the decoded value owns its data.
fn add_lifetime_of_cow(path: &mut TypePath) {
    let Some(last) = path.path.segments.last_mut().filter(|last| last.ident == "Cow") else { return };
    if let PathArguments::AngleBracketed(list) = &mut last.arguments
        && list.args.len() == 1
    {
        list.args.insert(0, parse_quote!('static));
    }
}

/// Returns `true` if the type names a lifetime other than `'static`.
pub(crate) fn has_lifetime(ty: &Type) -> bool {
    struct LifetimeFinder(bool);
    impl<'ast> Visit<'ast> for LifetimeFinder {
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
    }
    let mut find = LifetimeFinder(false);
    find.visit_type(ty);
    find.0
}

/// Returns `true` if a generic argument contains a reference or a lifetime other than `'static`.
pub(crate) fn borrows(argument: &GenericArgument) -> bool {
    struct BorrowFinder(bool);
    impl<'ast> Visit<'ast> for BorrowFinder {
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            self.0 |= lifetime.ident != "static";
        }

        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            self.0 |= reference.lifetime.is_none();
            visit::visit_type_reference(self, reference);
        }
    }
    let mut find = BorrowFinder(false);
    find.visit_generic_argument(argument);
    find.0
}

/// Replaces every lifetime other than `'static`.
pub(crate) fn with_lifetimes(ty: &Type, lifetime: &str) -> Type {
    let mut ty = ty.clone();
    ReplaceLifetimes(lifetime).visit_type_mut(&mut ty);
    ty
}

/// Replaces every lifetime other than `'static` in a path.
pub(crate) fn path_with_lifetimes(path: &Path, lifetime: &str) -> Path {
    let mut path = path.clone();
    ReplaceLifetimes(lifetime).visit_path_mut(&mut path);
    path
}

struct ReplaceLifetimes<'a>(&'a str);

impl VisitMut for ReplaceLifetimes<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = Lifetime::new(self.0, lifetime.span());
        }
    }
}

/// Returns the type with an identifier replaced, for messages.
pub(crate) fn replace_ident(ty: &Type, name: &Ident, by: &Ident) -> Type {
    let mut ty = ty.clone();
    replace_parameter(&mut ty, name, &parse_quote!(#by));
    ty
}

/// Replaces a type parameter.
pub(crate) fn replace_parameter(ty: &mut Type, name: &Ident, by: &Type) {
    struct ReplaceParameter<'a>(&'a Ident, &'a Type);
    impl VisitMut for ReplaceParameter<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            match ty {
                Type::Path(path) if path.qself.is_none() && path.path.is_ident(self.0) => *ty = self.1.clone(),
                _ => visit_mut::visit_type_mut(self, ty),
            }
        }
    }
    ReplaceParameter(name, by).visit_type_mut(ty);
}

/// Returns `true` if a result type mentions an identifier.
pub(crate) fn mentions(output: &ReturnType, name: &Ident) -> bool {
    struct IdentFinder<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for IdentFinder<'_> {
        fn visit_ident(&mut self, ident: &'ast Ident) {
            self.1 |= ident == self.0;
        }
    }
    let mut find = IdentFinder(name, false);
    find.visit_return_type(output);
    find.1
}

/// Adds `'static` to every reference without a lifetime, so that the type can be used in a path.
pub(crate) fn with_static_references(mut ty: Type) -> Type {
    struct StaticLifetimes;
    impl VisitMut for StaticLifetimes {
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            let token: Token![&] = reference.and_token;
            reference.lifetime.get_or_insert_with(|| Lifetime::new("'static", token.span));
            visit_mut::visit_type_reference_mut(self, reference);
        }
    }
    StaticLifetimes.visit_type_mut(&mut ty);
    ty
}
