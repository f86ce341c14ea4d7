//! Parameter types: the type to decode or inject, and its conversion to the parameter.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, GenericParam, Lifetime, PathArguments, Signature, Token, Type, TypeImplTrait, TypeParamBound,
    TypePath, TypeReference, parse_quote,
};

/// The conversion from the owned value that is decoded from JSON to the function's parameter.
///
/// The types contain no lifetime other than `'static` and no `Self`.
#[derive(Clone, Debug)]
pub enum ArgumentForm {
    /// `T`: passed as decoded.
    Owned(Type),
    /// `&T`: the owned form of `T` is decoded and borrowed.
    Lent(Type),
    /// `&[T]`: a `Vec<T>` is decoded and borrowed.
    LentSlice(Type),
    /// `Option<&T>`
    OptionLent(Type),
    /// `Option<&[T]>`
    OptionLentSlice(Type),
    /// `impl AsRef<T>`: the owned form of `T` is decoded and passed.
    AsRef(Type),
    /// `impl AsRef<[T]>`
    AsRefSlice(Type),
}

impl ArgumentForm {
    /// Returns `true` for a named type with a lifetime argument, which may be an alias of a reference.
    #[must_use]
    pub fn may_be_alias_of_reference(&self) -> bool {
        let Self::Owned(Type::Path(path)) = self else { return false };
        path.path.segments.last().is_some_and(|last| match &last.arguments {
            PathArguments::AngleBracketed(list) => {
                list.args.iter().any(|argument| matches!(argument, GenericArgument::Lifetime(_)))
            }
            _ => false,
        })
    }
}

/// The form in which an injected value is passed.
#[derive(Clone, Debug)]
pub enum InjectedForm {
    /// `T`
    Owned(Type),
    /// `&T`
    Lent(Type),
    /// `&mut T`
    LentMut(Type),
}

/// Reads the type of an argument.
pub(crate) fn argument_form(ty: &Type) -> syn::Result<ArgumentForm> {
    match ungroup(ty) {
        Type::Reference(reference) => borrowed_form(reference).map(|form| match form {
            BorrowedForm::Value(inner) => ArgumentForm::Lent(inner),
            BorrowedForm::Slice(inner) => ArgumentForm::LentSlice(inner),
        }),
        Type::ImplTrait(bounds) => impl_trait(bounds),
        other => match option_of_reference(other) {
            Some(reference) => borrowed_form(reference).map(|form| match form {
                BorrowedForm::Value(inner) => ArgumentForm::OptionLent(inner),
                BorrowedForm::Slice(inner) => ArgumentForm::OptionLentSlice(inner),
            }),
            None => {
                no_borrow(other)?;
                Ok(ArgumentForm::Owned(other.clone()))
            }
        },
    }
}

/// Reads the type of an injected parameter.
pub(crate) fn injected_form(ty: &Type) -> syn::Result<InjectedForm> {
    match ungroup(ty) {
        Type::Reference(reference) if matches!(&*reference.elem, Type::TraitObject(_)) => {
            let object = &reference.elem;
            let message = format!(
                "injected values are found by type, and `{0}` is unsized; provide an `Arc<{0}>`, and take that or a reference to it",
                object.to_token_stream()
            );
            Err(syn::Error::new_spanned(object, message))
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            Ok(InjectedForm::LentMut((*reference.elem).clone()))
        }
        Type::Reference(reference) => Ok(InjectedForm::Lent((*reference.elem).clone())),
        Type::ImplTrait(_) => {
            let message =
                "injected values are found by type, so an injected parameter cannot be `impl ..`; name the type";
            Err(syn::Error::new_spanned(ty, message))
        }
        other => {
            if let Some(reference) = option_of_reference(other) {
                let message = "injected parameters cannot be optional; take `&T`, and let the application provide one";
                return Err(syn::Error::new_spanned(reference, message));
            }
            no_borrow(other)?;
            Ok(InjectedForm::Owned(other.clone()))
        }
    }
}

enum BorrowedForm {
    Value(Type),
    Slice(Type),
}

fn borrowed_form(reference: &TypeReference) -> syn::Result<BorrowedForm> {
    if reference.mutability.is_some() {
        let message = "an argument cannot be `&mut`, since the model would not see the change; \
                       take it by value, or mark it `#[inject]`";
        return Err(syn::Error::new_spanned(reference, message));
    }
    no_borrow(&reference.elem)?;
    match &*reference.elem {
        Type::Slice(slice) => Ok(BorrowedForm::Slice((*slice.elem).clone())),
        Type::TraitObject(object) => {
            let message = "a trait object cannot be deserialized; take a concrete type, or mark it `#[inject]`";
            Err(syn::Error::new_spanned(object, message))
        }
        elem => Ok(BorrowedForm::Value(elem.clone())),
    }
}

fn impl_trait(bounds: &TypeImplTrait) -> syn::Result<ArgumentForm> {
    let wrong = || {
        let message = "only `impl AsRef<T>` and `impl Into<T>` can be arguments; \
                       name the type instead of any other `impl`";
        syn::Error::new_spanned(bounds, message)
    };
    for bound in &bounds.bounds {
        let TypeParamBound::Trait(bound) = bound else { continue };
        let Some(segment) = bound.path.segments.last() else { continue };
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { continue };
        let Some(GenericArgument::Type(inner)) = arguments.args.first() else { continue };
        no_borrow(inner)?;
        match (segment.ident.to_string().as_str(), inner) {
            ("AsRef", Type::Slice(slice)) => return Ok(ArgumentForm::AsRefSlice((*slice.elem).clone())),
            ("AsRef", inner) => return Ok(ArgumentForm::AsRef(inner.clone())),
            ("Into", inner) => return Ok(ArgumentForm::Owned(inner.clone())),
            _ => {}
        }
    }
    Err(wrong())
}

/// Returns the reference in `Option<&T>`.
fn option_of_reference(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
    let segment = path.segments.last().filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Reference(reference)) => Some(reference),
        _ => None,
    }
}

/// Rejects references inside a type: the decoded value owns its data, so there is nothing to borrow from.
fn no_borrow(ty: &Type) -> syn::Result<()> {
    struct BorrowFinder(Option<syn::Error>);
    impl<'ast> Visit<'ast> for BorrowFinder {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            let inner = &reference.elem;
            let owned = match inner.to_token_stream().to_string().as_str() {
                "str" => "String".to_owned(),
                other => other.to_owned(),
            };
            let message =
                format!("an argument's type cannot contain a reference; use the owned form, such as `{owned}`");
            self.0.get_or_insert_with(|| syn::Error::new_spanned(reference, message));
        }
        fn visit_type_impl_trait(&mut self, bounds: &'ast TypeImplTrait) {
            let message = "an argument's type cannot contain `impl ..`; name the type";
            self.0.get_or_insert_with(|| syn::Error::new_spanned(bounds, message));
        }
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
        fn visit_type(&mut self, ty: &'ast Type) {
            visit::visit_type(self, ty);
        }
    }
    let mut find = BorrowFinder(None);
    find.visit_type(ty);
    find.0.map_or(Ok(()), Err)
}

fn ungroup(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungroup(&group.elem),
        Type::Paren(paren) => ungroup(&paren.elem),
        other => other,
    }
}

/// Rejects `&'static` arguments: decoded values do not live that long. Expects the type as written, before lifetimes
/// are replaced.
pub(crate) fn no_static_reference(ty: &Type) -> syn::Result<()> {
    match ungroup(ty) {
        Type::Reference(reference)
            if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") =>
        {
            let message = "an argument cannot be `'static`; remove the lifetime, or take an owned value";
            Err(syn::Error::new_spanned(reference, message))
        }
        _ => Ok(()),
    }
}

/// Returns `true` for types that are usually arguments rather than injected values.
pub(crate) fn is_plain(ty: &Type) -> bool {
    match ungroup(ty) {
        Type::Reference(reference) => is_plain(&reference.elem),
        Type::Slice(slice) => is_plain(&slice.elem),
        Type::Path(TypePath { qself: None, path, .. }) => path.segments.last().is_some_and(|segment| {
            let name = segment.ident.to_string();
            let inner = || match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => arguments.args.iter().any(|argument| match argument {
                    GenericArgument::Type(inner) => is_plain(inner),
                    _ => false,
                }),
                _ => false,
            };
            match name.as_str() {
                "String" | "str" | "char" | "bool" | "Path" | "PathBuf" | "Url" | "Uuid" => true,
                "Option" | "Vec" | "Cow" => inner(),
                number => {
                    let width = number.trim_start_matches(['i', 'u', 'f']);
                    matches!(width, "8" | "16" | "32" | "64" | "128" | "size")
                }
            }
        }),
        _ => false,
    }
}

/// Makes a type nameable outside of its function: replaces lifetimes by `'static` and `Self` by the class.
pub(crate) fn detach(ty: &Type, signature: &Signature, class: Option<&Type>) -> Type {
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
            visit_mut::visit_type_path_mut(self, path);
        }
    }
    let lifetimes = signature.generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(lifetime) => Some(&lifetime.lifetime),
        _ => None,
    });
    let mut ty = ty.clone();
    DetachType { lifetimes: lifetimes.collect(), class }.visit_type_mut(&mut ty);
    ty
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

/// Returns `true` if the type contains `impl ..`, `_` or a macro, so that it cannot be named elsewhere.
pub(crate) fn is_unnameable(ty: &Type) -> bool {
    struct UnnameableFinder(bool);
    impl<'ast> Visit<'ast> for UnnameableFinder {
        fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
            self.0 = true;
        }
        fn visit_type_infer(&mut self, _: &'ast syn::TypeInfer) {
            self.0 = true;
        }
        fn visit_type_macro(&mut self, _: &'ast syn::TypeMacro) {
            self.0 = true;
        }
    }
    let mut find = UnnameableFinder(false);
    find.visit_type(ty);
    find.0
}

/// Returns the `T` of `impl Future<Output = T>`.
pub(crate) fn future_output(ty: &Type) -> Option<&Type> {
    let Type::ImplTrait(bounds) = ungroup(ty) else { return None };
    bounds.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let segment = bound.path.segments.last().filter(|segment| segment.ident == "Future")?;
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
            _ => None,
        })
    })
}

/// Returns `true` for `impl Stream<..>`.
pub(crate) fn is_stream(ty: &Type) -> bool {
    let Type::ImplTrait(bounds) = ungroup(ty) else { return false };
    bounds.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Stream"),
        _ => false,
    })
}

/// Returns `true` for `Result<impl Stream<..>, E>` and aliases whose names end in `Result`.
pub(crate) fn is_result_of_stream(ty: &Type) -> bool {
    let Type::Path(path) = ungroup(ty) else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    let first = arguments.args.first();
    last.ident.to_string().ends_with("Result") && matches!(first, Some(GenericArgument::Type(ty)) if is_stream(ty))
}
