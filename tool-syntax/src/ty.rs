//! Parameter types: what is decoded or injected, and how it is handed over.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, GenericParam, Lifetime, PathArguments, Signature, Token, Type, TypeImplTrait, TypeParamBound,
    TypePath, TypeReference, parse_quote,
};

/// How an argument's owned form, decoded from JSON, becomes what the function takes.
///
/// The types name no lifetime but `'static` and no `Self`.
#[derive(Clone, Debug)]
pub enum ArgumentForm {
    /// `T`, handed over as it is.
    Owned(Type),
    /// `&T`: the owned form of `T` is decoded and lent.
    Lent(Type),
    /// `&[T]`: a `Vec<T>` is decoded and lent.
    LentSlice(Type),
    /// `Option<&T>`
    OptionLent(Type),
    /// `Option<&[T]>`
    OptionLentSlice(Type),
    /// `impl AsRef<T>`: the owned form of `T` is decoded and handed over.
    AsRef(Type),
    /// `impl AsRef<[T]>`
    AsRefSlice(Type),
}

impl ArgumentForm {
    /// Whether the type is one by name that has a lifetime, so that it may be an alias of a reference.
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

/// How an injected value is handed over.
#[derive(Clone, Debug)]
pub enum InjectedForm {
    /// `T`
    Owned(Type),
    /// `&T`
    Lent(Type),
    /// `&mut T`
    LentMut(Type),
}

/// Reads the type of a parameter that the model fills.
pub(crate) fn argument_form(ty: &Type) -> syn::Result<ArgumentForm> {
    match ungroup(ty) {
        Type::Reference(reference) => lent(reference).map(|lent| match lent {
            Lent::Value(inner) => ArgumentForm::Lent(inner),
            Lent::Slice(inner) => ArgumentForm::LentSlice(inner),
        }),
        Type::ImplTrait(bounds) => impl_trait(bounds),
        other => match option_of_reference(other) {
            Some(reference) => lent(reference).map(|lent| match lent {
                Lent::Value(inner) => ArgumentForm::OptionLent(inner),
                Lent::Slice(inner) => ArgumentForm::OptionLentSlice(inner),
            }),
            None => {
                no_borrow(other)?;
                Ok(ArgumentForm::Owned(other.clone()))
            }
        },
    }
}

/// Reads the type of a parameter that is injected.
pub(crate) fn injected_form(ty: &Type) -> syn::Result<InjectedForm> {
    match ungroup(ty) {
        Type::Reference(reference) if matches!(&*reference.elem, Type::TraitObject(_)) => {
            let object = &reference.elem;
            let message = format!(
                "a value is found by its type, and `{0}` has no size: provide an `Arc<{0}>`, and take that or a reference to it",
                object.to_token_stream()
            );
            Err(syn::Error::new_spanned(object, message))
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            Ok(InjectedForm::LentMut((*reference.elem).clone()))
        }
        Type::Reference(reference) => Ok(InjectedForm::Lent((*reference.elem).clone())),
        Type::ImplTrait(_) => {
            let message = "an injected parameter needs a named type, since its value is found by it; \
                           write the type instead of `impl ..`";
            Err(syn::Error::new_spanned(ty, message))
        }
        other => {
            if let Some(reference) = option_of_reference(other) {
                let message = "nothing is injected optionally: take `&T`, and let the application provide one";
                return Err(syn::Error::new_spanned(reference, message));
            }
            no_borrow(other)?;
            Ok(InjectedForm::Owned(other.clone()))
        }
    }
}

enum Lent {
    Value(Type),
    Slice(Type),
}

fn lent(reference: &TypeReference) -> syn::Result<Lent> {
    if reference.mutability.is_some() {
        let message = "an argument cannot be `&mut`: the model would not see the change; \
                       take it by value, or mark it `#[inject]`";
        return Err(syn::Error::new_spanned(reference, message));
    }
    no_borrow(&reference.elem)?;
    match &*reference.elem {
        Type::Slice(slice) => Ok(Lent::Slice((*slice.elem).clone())),
        Type::TraitObject(object) => {
            let message = "a trait object cannot be decoded from JSON; take a concrete type, or mark it `#[inject]`";
            Err(syn::Error::new_spanned(object, message))
        }
        elem => Ok(Lent::Value(elem.clone())),
    }
}

fn impl_trait(bounds: &TypeImplTrait) -> syn::Result<ArgumentForm> {
    let wrong = || {
        let message = "only `impl AsRef<T>` and `impl Into<T>` can be arguments: \
                       from any other `impl` it does not follow what to decode; name the type";
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

/// The reference in `Option<&T>`.
fn option_of_reference(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
    let segment = path.segments.last().filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Reference(reference)) => Some(reference),
        _ => None,
    }
}

/// A reference inside a type has nothing to borrow from: the decoded value owns all it holds.
fn no_borrow(ty: &Type) -> syn::Result<()> {
    struct Find(Option<syn::Error>);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            let inner = &reference.elem;
            let owned = match inner.to_token_stream().to_string().as_str() {
                "str" => "String".to_owned(),
                other => other.to_owned(),
            };
            let message =
                format!("a reference inside a type cannot be lent here; use the owned form, such as `{owned}`");
            self.0.get_or_insert_with(|| syn::Error::new_spanned(reference, message));
        }
        fn visit_type_impl_trait(&mut self, bounds: &'ast TypeImplTrait) {
            let message = "`impl ..` cannot stand inside an argument's type; name the type";
            self.0.get_or_insert_with(|| syn::Error::new_spanned(bounds, message));
        }
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
        fn visit_type(&mut self, ty: &'ast Type) {
            visit::visit_type(self, ty);
        }
    }
    let mut find = Find(None);
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

/// Nothing that a model sends lives for ever. Asked of the type as it was written, before lifetimes are replaced.
pub(crate) fn no_static_reference(ty: &Type) -> syn::Result<()> {
    match ungroup(ty) {
        Type::Reference(reference)
            if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") =>
        {
            let message = "nothing that a model sends lives for ever: leave `'static` out, or own the value";
            Err(syn::Error::new_spanned(reference, message))
        }
        _ => Ok(()),
    }
}

/// Whether a type is one that models fill rather than one that applications provide.
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

/// Makes a type nameable outside of its function: lifetimes become `'static`, `Self` the class.
pub(crate) fn detach(ty: &Type, signature: &Signature, class: Option<&Type>) -> Type {
    struct Detach<'a> {
        lifetimes: Vec<&'a Lifetime>,
        class: Option<&'a Type>,
    }
    impl VisitMut for Detach<'_> {
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
    Detach { lifetimes: lifetimes.collect(), class }.visit_type_mut(&mut ty);
    ty
}

/// The type with `'static` in every reference that names no lifetime, so that it can stand in a path.
pub(crate) fn with_static_references(mut ty: Type) -> Type {
    struct Fill;
    impl VisitMut for Fill {
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            let token: Token![&] = reference.and_token;
            reference.lifetime.get_or_insert_with(|| Lifetime::new("'static", token.span));
            visit_mut::visit_type_reference_mut(self, reference);
        }
    }
    Fill.visit_type_mut(&mut ty);
    ty
}

/// Whether `impl ..` or `_` stands anywhere in the type, so that it cannot be named elsewhere.
pub(crate) fn is_unnameable(ty: &Type) -> bool {
    struct Find(bool);
    impl<'ast> Visit<'ast> for Find {
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
    let mut find = Find(false);
    find.visit_type(ty);
    find.0
}

/// The output in `impl Future<Output = T>`.
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

/// Whether it is an `impl Stream<..>`.
pub(crate) fn is_stream(ty: &Type) -> bool {
    let Type::ImplTrait(bounds) = ungroup(ty) else { return false };
    bounds.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Stream"),
        _ => false,
    })
}

/// Whether it is a `Result<impl Stream<..>, E>`, by whatever name that ends so.
pub(crate) fn is_result_of_stream(ty: &Type) -> bool {
    let Type::Path(path) = ungroup(ty) else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    let first = arguments.args.first();
    last.ident.to_string().ends_with("Result") && matches!(first, Some(GenericArgument::Type(ty)) if is_stream(ty))
}
