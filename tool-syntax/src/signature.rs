//! Receivers and results of signatures, and signatures that cannot be tools.

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    FnArg, GenericParam, Ident, PathArguments, PathSegment, ReceiverKind, ReturnType, Signature, Token, Type,
    TypeParamBound, TypePath, parse_quote,
};

use crate::tool::ClassDefaults;
use crate::{MissingGeneric, Report, instances, rewrite, ty};

/// The receiver of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// No receiver: a free or an associated function.
    None,
    /// `&self`
    Ref,
    /// `&mut self`
    Mut,
    /// `self`
    Owned,
    /// `self: Arc<Self>`
    Arc,
}

/// Reads the receiver of a signature.
pub(crate) fn receiver(signature: &Signature, report: &mut Report) -> Receiver {
    let Some(FnArg::Receiver(receiver)) = signature.inputs.first() else { return Receiver::None };
    let ty = match &receiver.kind {
        ReceiverKind::Value => return Receiver::Owned,
        ReceiverKind::Reference(_, _, None) => return Receiver::Ref,
        ReceiverKind::Reference(_, _, Some(_)) => return Receiver::Mut,
        ReceiverKind::Typed(_, ty) => ty,
        _ => {
            report.at(receiver, WRONG_RECEIVER);
            return Receiver::Ref;
        }
    };
    match &**ty {
        Type::Reference(reference) if is_self(&reference.elem) => match reference.mutability {
            Some(_) => Receiver::Mut,
            None => Receiver::Ref,
        },
        ty if is_self(ty) => Receiver::Owned,
        Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == "Arc") => Receiver::Arc,
        other => {
            report.at(other, WRONG_RECEIVER);
            Receiver::Ref
        }
    }
}

const WRONG_RECEIVER: &str = "the receiver of a tool must be `&self`, `&mut self`, `self` or `self: Arc<Self>`";

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

/// The delivery of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// One value.
    Whole,
    /// `impl Stream<Item = T>`
    Stream,
    /// `Result<impl Stream<Item = T>, E>`
    FallibleStream,
    /// `impl Iterator<Item = T>`, collected into a list.
    Iterator,
    /// `Result<impl Iterator<Item = T>, E>`, collected into a list.
    FallibleIterator,
}

impl Delivery {
    /// Returns `true` if the items are sent one by one.
    #[must_use]
    pub fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::FallibleStream)
    }
}

/// The result of a function.
pub(crate) struct ResultType {
    /// `true` if the call must be awaited.
    pub(crate) is_async: bool,
    /// At once or as a stream.
    pub(crate) delivery: Delivery,
    /// The type of the result. `None` for `()` and for types that cannot be named outside of the function.
    pub(crate) ty: Option<Type>,
    /// The type as written: an item of a stream, the list of an iterator. `None` if the function declares no result.
    pub(crate) value: Option<Type>,
}

impl ResultType {
    /// Returns `true` if the error of a `Result` may borrow. Of an alias with another name, any argument may be part of the
    /// error.
    pub(crate) fn has_borrowed_error(&self) -> bool {
        let Some(Type::Path(TypePath { path, .. })) = &self.value else { return false };
        let Some(PathSegment { ident, arguments: PathArguments::AngleBracketed(arguments) }) = path.segments.last()
        else {
            return false;
        };
        let skipped = usize::from(ident == "Result");
        arguments.args.iter().skip(skipped).any(rewrite::borrows)
    }
}

/// Reads the result of a signature.
pub(crate) fn output(signature: &Signature, class: Option<&ClassDefaults<'_>>) -> ResultType {
    let ReturnType::Type(_, declared) = &signature.output else {
        return ResultType {
            is_async: signature.asyncness.is_some(),
            delivery: Delivery::Whole,
            ty: None,
            value: None,
        };
    };
    let future = ty::future_output(declared);
    let is_async = signature.asyncness.is_some() || future.is_some();
    let result = future.unwrap_or(declared);
    let (delivery, collected) = ty::delivery(result);
    let result = collected.as_ref().unwrap_or(result);
    let value = Some(ty::stream_item(result).unwrap_or(result).clone());
    let (lifetimes, self_ty) = class.map_or((&[] as &[_], None), |class| (class.lifetimes, Some(class.self_ty)));
    let detach = || rewrite::with_static_references(rewrite::detach(result, signature, lifetimes, self_ty));
    ResultType { is_async, delivery, ty: (!ty::is_unnameable(result)).then(detach), value }
}

/// Replaces type parameters that only stand for `impl Trait` arguments, as in `fn f<S: Into<String>>(name: S)`. Returns
/// `None` if there are none.
pub(crate) fn inline_type_parameters(signature: &Signature) -> Option<Signature> {
    let inlined: Vec<(Ident, Type)> = signature
        .generics
        .type_params()
        .filter_map(|param| {
            let bounds: Punctuated<TypeParamBound, Token![+]> =
                instances::bounds(&signature.generics, &param.ident).cloned().collect();
            // A lifetime alone is not a type.
            if !bounds.iter().any(|bound| matches!(bound, TypeParamBound::Trait(_))) {
                return None;
            }
            let argument: Type = parse_quote!(impl #bounds);
            let is_argument = ty::argument_form(&argument).is_ok();
            (is_argument && !rewrite::mentions(&signature.output, &param.ident))
                .then(|| (param.ident.clone(), argument))
        })
        .collect();
    if inlined.is_empty() {
        return None;
    }
    // A parameter may stand in the bounds of another, as in `<S: AsRef<str>, I: IntoIterator<Item = S>>`.
    let resolved = inlined.iter().map(|(name, argument)| {
        let mut argument = argument.clone();
        let others = inlined.iter().filter(|(other, _)| other != name);
        others.for_each(|(other, by)| rewrite::replace_parameter(&mut argument, other, by));
        (name.clone(), argument)
    });
    let inlined: Vec<(Ident, Type)> = resolved.collect();
    let mut signature = signature.clone();
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            for (name, argument) in &inlined {
                rewrite::replace_parameter(&mut typed.ty, name, argument);
            }
        }
    }
    let params = std::mem::take(&mut signature.generics.params);
    let is_kept = |param: &GenericParam| !matches!(param, GenericParam::Type(param) if inlined.iter().any(|(name, _)| *name == param.ident));
    signature.generics.params = params.into_iter().filter(is_kept).collect();
    Some(signature)
}

/// Reports signatures that cannot be tools.
pub(crate) fn check(signature: &Signature, report: &mut Report) {
    no_generics(signature, report);
    no_foreign_function(signature, report);
}

/// A tool is registered as one function, so its types must be known.
fn no_generics(signature: &Signature, report: &mut Report) {
    for param in &signature.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(generic) => {
                let bounds = instances::bounds(&signature.generics, &generic.ident).cloned().collect();
                report.at(generic, MissingGeneric { name: generic.ident.clone(), bounds }.message());
            }
            GenericParam::Const(generic) => {
                let name = &generic.ident;
                let message =
                    format!("the tool is generic over `{name}`; name its value: `#[tool(generics({name} = 1))]`");
                report.at(generic, message);
            }
        }
    }
}

/// The dispatcher calls safe Rust functions only.
fn no_foreign_function(signature: &Signature, report: &mut Report) {
    if let syn::Safety::Unsafe(token) = &signature.safety {
        let message = "a tool cannot be `unsafe`; wrap it in a safe function";
        report.push(syn::Error::new(token.span(), message));
    }
    if let Some(abi) = &signature.abi {
        report.at(abi, "a tool cannot be `extern`; remove it, or wrap the function");
    }
    if let Some(variadic) = &signature.variadic {
        report.at(variadic, "a tool cannot be variadic; take a `Vec`");
    }
}
