//! Parameter types: the type to decode or inject, and its conversion to the parameter.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    GenericArgument, PathArguments, PathSegment, Type, TypeImplTrait, TypeParamBound, TypePath, TypeReference,
    parse_quote,
};

use crate::impl_trait;
use crate::signature::Delivery;

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
    /// `Option<impl AsRef<T>>`
    OptionAsRef(Type),
    /// `&[&T]`: a list of the owned forms is decoded, and a list of references borrowed.
    LentReferences(Box<ListItem>),
    /// `Vec<&T>` and `impl IntoIterator<Item = &T>`: a list of the owned forms is decoded, and a list of references passed.
    References(Box<ListItem>),
    /// `impl Iterator<Item = T>`: a `Vec<T>` is decoded, and its iterator passed.
    Iter(Type),
    /// `impl Iterator<Item = &T>`: a list of the owned forms is decoded, and an iterator of references passed.
    IterReferences(Box<ListItem>),
}

/// The item of a list of references.
#[derive(Clone, Debug)]
pub struct ListItem {
    /// The type behind the reference, such as `str`.
    pub borrowed: Type,
    /// The type that is decoded, such as `String`.
    pub owned: Type,
}

impl ListItem {
    pub(crate) fn new(borrowed: &Type) -> Box<Self> {
        Box::new(Self { borrowed: borrowed.clone(), owned: owned_form(borrowed) })
    }
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
    /// `&dyn Trait`, borrowed from an `Arc<dyn Trait>`.
    LentObject(Type),
    /// `&mut dyn Trait`, borrowed from a `Box<dyn Trait>`.
    LentMutObject(Type),
}

/// Reads the type of an argument.
pub(crate) fn argument_form(ty: &Type) -> syn::Result<ArgumentForm> {
    match ungroup(ty) {
        Type::Reference(reference) => borrowed_form(reference).map(|form| match form {
            BorrowedForm::Value(inner) => ArgumentForm::Lent(inner),
            BorrowedForm::Slice(inner) => ArgumentForm::LentSlice(inner),
            BorrowedForm::References(item) => ArgumentForm::LentReferences(item),
        }),
        Type::ImplTrait(bounds) => impl_trait::argument_form(bounds),
        other => match argument_of(other, &["Option"]) {
            Some(Type::Reference(reference)) => match borrowed_form(reference)? {
                BorrowedForm::Value(inner) => Ok(ArgumentForm::OptionLent(inner)),
                BorrowedForm::Slice(inner) => Ok(ArgumentForm::OptionLentSlice(inner)),
                BorrowedForm::References(_) => no_borrow(other).map(|()| ArgumentForm::Owned(other.clone())),
            },
            Some(Type::ImplTrait(bounds)) => match impl_trait::argument_form(bounds)? {
                ArgumentForm::Owned(inner) => Ok(ArgumentForm::Owned(parse_quote!(::core::option::Option<#inner>))),
                ArgumentForm::AsRef(inner) => Ok(ArgumentForm::OptionAsRef(inner)),
                _ => no_borrow(other).map(|()| ArgumentForm::Owned(other.clone())),
            },
            _ => match argument_of(other, &["Vec"]) {
                Some(Type::Reference(item)) if is_plain_reference(item) => {
                    Ok(ArgumentForm::References(ListItem::new(&item.elem)))
                }
                _ => {
                    let named = impl_trait::with_decoded_types(other)?;
                    no_borrow(&named).map(|()| ArgumentForm::Owned(named))
                }
            },
        },
    }
}

/// Returns `true` for `&T` where the owned form of `T` can be decoded and borrowed again.
pub(crate) fn is_plain_reference(reference: &TypeReference) -> bool {
    reference.mutability.is_none()
        && no_borrow(&reference.elem).is_ok()
        && !matches!(&*reference.elem, Type::Slice(_) | Type::TraitObject(_))
}

/// Reads the type of an injected parameter.
pub(crate) fn injected_form(ty: &Type) -> syn::Result<InjectedForm> {
    match ungroup(ty) {
        Type::Reference(reference) if matches!(ungroup(&reference.elem), Type::TraitObject(_)) => {
            let object = ungroup(&reference.elem).clone();
            Ok(match reference.mutability {
                Some(_) => InjectedForm::LentMutObject(object),
                None => InjectedForm::LentObject(object),
            })
        }
        Type::Reference(reference) if matches!(ungroup(&reference.elem), Type::ImplTrait(_)) => {
            injected_form(&reference.elem)
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            Ok(InjectedForm::LentMut((*reference.elem).clone()))
        }
        Type::Reference(reference) => Ok(InjectedForm::Lent((*reference.elem).clone())),
        Type::ImplTrait(_) => {
            let message = "injected values are found by type, so an injected parameter cannot be `impl ..`; name the type, or \
                 set it with `#[tool(generics(parameter = Type))]`";
            Err(syn::Error::new_spanned(ty, message))
        }
        other => {
            if let Some(Type::Reference(reference)) = argument_of(other, &["Option"]) {
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
    References(Box<ListItem>),
}

fn borrowed_form(reference: &TypeReference) -> syn::Result<BorrowedForm> {
    if reference.mutability.is_some() {
        let message = "an argument cannot be `&mut`, since the model would not see the change; \
                       take it by value, or mark it `#[inject]`";
        return Err(syn::Error::new_spanned(reference, message));
    }
    if let Type::Slice(slice) = ungroup(&reference.elem)
        && let Type::Reference(item) = ungroup(&slice.elem)
        && is_plain_reference(item)
    {
        return Ok(BorrowedForm::References(ListItem::new(&item.elem)));
    }
    let elem = impl_trait::with_decoded_types(ungroup(&reference.elem))?;
    no_borrow(&elem)?;
    match &elem {
        Type::Slice(slice) => Ok(BorrowedForm::Slice((*slice.elem).clone())),
        Type::TraitObject(object) => {
            let message = "a trait object cannot be deserialized; take a concrete type, or mark it `#[inject]`";
            Err(syn::Error::new_spanned(object, message))
        }
        elem => Ok(BorrowedForm::Value(elem.clone())),
    }
}

/// Returns the owned form of an unsized type of the standard library; any other type is its own.
pub(crate) fn owned_form(ty: &Type) -> Type {
    let Type::Path(path) = ty else { return ty.clone() };
    match path.path.segments.last().map(|last| last.ident.to_string()).as_deref() {
        Some("str") => parse_quote!(::std::string::String),
        Some("Path") => parse_quote!(::std::path::PathBuf),
        Some("OsStr") => parse_quote!(::std::ffi::OsString),
        _ => ty.clone(),
    }
}

/// Returns the first type argument of a type with one of these names.
pub(crate) fn argument_of<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
    path.segments.last().filter(|segment| names.iter().any(|name| segment.ident == name))?;
    first_argument(ty)
}

/// Returns the first type argument of a type.
pub(crate) fn first_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(ungroup(inner)),
        _ => None,
    })
}

/// Rejects references inside a type: the decoded value owns its data, so there is nothing to borrow from.
pub(crate) fn no_borrow(ty: &Type) -> syn::Result<()> {
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

pub(crate) fn ungroup(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungroup(&group.elem),
        Type::Paren(paren) => ungroup(&paren.elem),
        other => other,
    }
}

/// Rejects `&'static` in arguments: decoded values do not live that long. Expects the type as written, before lifetimes
/// are replaced.
pub(crate) fn no_static_reference(ty: &Type) -> syn::Result<()> {
    struct StaticFinder(Option<syn::Error>);
    impl<'ast> Visit<'ast> for StaticFinder {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") {
                let message = "an argument cannot be `'static`; remove the lifetime, or take an owned value";
                self.0.get_or_insert_with(|| syn::Error::new_spanned(reference, message));
            }
            visit::visit_type_reference(self, reference);
        }
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
    }
    let mut find = StaticFinder(None);
    find.visit_type(ty);
    find.0.map_or(Ok(()), Err)
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

/// Returns the `T` of `impl Future<Output = T>`, `Pin<Box<dyn Future<Output = T>>>` and `BoxFuture<T>`.
pub(crate) fn future_output(ty: &Type) -> Option<&Type> {
    let ty = ungroup(ty);
    if let Some(output) = argument_of(ty, &["BoxFuture"]) {
        return Some(output);
    }
    let boxed = argument_of(ty, &["Pin"]).and_then(|pinned| argument_of(pinned, &["Box"]));
    associated(boxed.unwrap_or(ty), "Future", "Output")
}

/// Returns the type `T` of `Name = T` in `impl Trait<Name = T>` or `dyn Trait<Name = T>`.
fn associated<'a>(ty: &'a Type, trait_name: &str, name: &str) -> Option<&'a Type> {
    let segment = trait_segment(ty, trait_name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == name => Some(&output.ty),
        _ => None,
    })
}

fn trait_segment<'a>(ty: &'a Type, trait_name: &str) -> Option<&'a PathSegment> {
    let bounds = match ty {
        Type::ImplTrait(ty) => &ty.bounds,
        Type::TraitObject(ty) => &ty.bounds,
        _ => return None,
    };
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        bound.path.segments.last().filter(|segment| segment.ident == trait_name)
    })
}

/// Returns the delivery of a result and, for an iterator, the type into which its items are collected.
pub(crate) fn delivery(ty: &Type) -> (Delivery, Option<Type>) {
    if is_stream(ty) {
        return (Delivery::Stream, None);
    }
    if let Some(item) = iterator_item(ty) {
        return (Delivery::Iterator, Some(parse_quote!(::std::vec::Vec<#item>)));
    }
    let Type::Path(path) = ungroup(ty) else { return (Delivery::Whole, None) };
    match success_of(ty) {
        Some(success) if is_stream(success) => (Delivery::FallibleStream, None),
        Some(success) => match iterator_item(success) {
            Some(item) => {
                let mut collected = path.clone();
                if let Some(last) = collected.path.segments.last_mut()
                    && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
                {
                    arguments.args[0] = parse_quote!(::std::vec::Vec<#item>);
                }
                (Delivery::FallibleIterator, Some(Type::Path(collected)))
            }
            None => (Delivery::Whole, None),
        },
        None => (Delivery::Whole, None),
    }
}

/// Returns the success type of a `Result`, or of an alias with such a name.
pub(crate) fn success_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ungroup(ty) else { return None };
    let last = path.path.segments.last().filter(|last| last.ident.to_string().ends_with("Result"))?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(success)) => Some(success),
        _ => None,
    }
}

/// Returns the `T` of `impl Iterator<Item = T>` and `Box<dyn Iterator<Item = T>>`.
fn iterator_item(ty: &Type) -> Option<&Type> {
    let ty = ungroup(ty);
    associated(argument_of(ty, &["Box"]).unwrap_or(ty), "Iterator", "Item")
}

/// Returns the `T` of `impl Stream<Item = T>`, also inside of a `Result`.
pub(crate) fn stream_item(ty: &Type) -> Option<&Type> {
    associated(ungroup(success_of(ty).unwrap_or(ty)), "Stream", "Item")
}

fn is_stream(ty: &Type) -> bool {
    matches!(ungroup(ty), ty @ Type::ImplTrait(_) if trait_segment(ty, "Stream").is_some())
}
