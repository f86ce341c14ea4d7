//! The verdict on the result of a method.

use syn::visit::{self, Visit};
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type, TypeParamBound};
use tool_syntax::ParsedTool;

use super::AdoptReason;
use super::method::{MethodContext, MethodNeeds};
use super::traits::{Answer, DecisiveTrait};
use crate::text::source_text;
use crate::ty::{Ty, TypeSource};

impl MethodContext<'_> {
    pub(super) fn result(&self, tool: &ParsedTool, signature: &Signature, needs: &mut MethodNeeds) {
        if tool.is_unit {
            return;
        }
        let streamed = tool.delivery.is_stream().then(|| stream_item(&signature.output)).flatten();
        let Some(ty) = streamed.as_ref().or(tool.output.as_ref()) else {
            let result = source_text(&signature.output).trim_start_matches("-> ").to_owned();
            let message = format!("the result is `{result}`, whose type has no name");
            return needs.add(AdoptReason::OpaqueResult, message, "return a named type");
        };
        let ty = self.resolve(ty);
        let (success, error) = split_result(&ty);
        if let Some(error) = error {
            self.error(error, needs);
        }
        match self.traits.implements(success, DecisiveTrait::Serialize) {
            Answer::Yes => {}
            Answer::Unknown(leaf) | Answer::No(leaf) if self.is_chosen(&leaf, needs) => {}
            Answer::Unknown(leaf) => needs.add(
                AdoptReason::UnknownResult,
                format!("the definition of the result `{leaf}` is not in the sources"),
                "annotate it, and let the compiler decide",
            ),
            Answer::No(leaf) => self.unserializable(success, &leaf, needs),
        }
    }

    fn error(&self, error: &Ty, needs: &mut MethodNeeds) {
        match self.traits.implements(error, DecisiveTrait::Display) {
            Answer::Yes => {}
            Answer::Unknown(leaf) | Answer::No(leaf) if self.is_chosen(&leaf, needs) => {}
            Answer::Unknown(leaf) => needs.add(
                AdoptReason::UnknownResult,
                format!("the definition of the error `{leaf}` is not in the sources"),
                "annotate it, and let the compiler decide",
            ),
            Answer::No(leaf) if self.traits.has(error, DecisiveTrait::Debug) => {
                let message =
                    format!("the error `{leaf}` does not implement `Display`, and the model reads it as text");
                needs.add(AdoptReason::ErrorAsText, message, "`#[tool(error = debug)]`");
                needs.keys.push("error = debug".to_owned());
            }
            Answer::No(leaf) => needs.add(
                AdoptReason::ErrorType,
                format!("the error `{leaf}` implements neither `Display` nor `Debug`, and the model reads it as text"),
                format!("implement `Display` for `{leaf}`"),
            ),
        }
    }

    fn unserializable(&self, ty: &Ty, leaf: &str, needs: &mut MethodNeeds) {
        if self.is_service(ty) {
            let message = format!("it returns `{leaf}`, which has operations of its own");
            return needs.add(AdoptReason::ReturnsService, message, format!("make `{leaf}` a tool class"));
        }
        let shown = [(DecisiveTrait::Display, "display"), (DecisiveTrait::Debug, "debug")];
        let item = converted_item(ty);
        match shown.into_iter().find(|(wanted, _)| self.traits.has(item, *wanted)).map(|(_, way)| way) {
            Some(way) => {
                let message = format!("the result `{leaf}` cannot be serialized");
                needs.add(AdoptReason::ResultAsText, message, format!("`#[tool(result = {way})]`"));
                needs.keys.push(format!("result = {way}"));
            }
            None => {
                let remedy = format!("derive `Serialize` for `{leaf}`, or convert it with `#[tool(result = path)]`");
                let message = format!("the result `{leaf}` implements neither `Serialize` nor `Debug`");
                needs.add(AdoptReason::ResultType, message, remedy);
            }
        }
    }

    /// Returns `true` for a handle that borrows or has `async` methods.
    fn is_service(&self, ty: &Ty) -> bool {
        match held_item(ty) {
            inner @ Ty::Defined { definition, .. } => {
                let definition = self.traits.sources.definition(*definition);
                let own = definition.impls.iter().filter(|(of_trait, _)| of_trait.is_empty());
                let is_async = |member: &syn::ImplItem| matches!(member, syn::ImplItem::Fn(method) if method.sig.asyncness.is_some());
                let mut has_async = own.flat_map(|(_, block)| &block.items).map(is_async);
                self.traits.is_handle(inner)
                    && (definition.item.generics.lifetimes().next().is_some() || has_async.any(|is_async| is_async))
            }
            Ty::Unknown(text) => text.starts_with("dyn"),
            _ => false,
        }
    }
}

/// Returns the type inside of `Option<T>`, `Vec<T>`, `&T` and pointers, or the type itself.
fn held_item(ty: &Ty) -> &Ty {
    match ty {
        Ty::Reference(inner) => held_item(inner),
        Ty::Library { arguments, .. } => match (ty.library(), arguments.first()) {
            (Some(("std", "Option" | "Vec" | "Arc" | "Box" | "Rc")), Some(inner)) => held_item(inner),
            _ => ty,
        },
        _ => ty,
    }
}

/// Returns the type that the conversion of a result applies to.
pub(super) fn converted_item(ty: &Ty) -> &Ty {
    match ty {
        Ty::Reference(inner) | Ty::Slice(inner) => converted_item(inner),
        Ty::Library { arguments, .. } => match (ty.library(), arguments.first()) {
            (Some(("std", "Option" | "Vec")), Some(inner)) => converted_item(inner),
            _ => ty,
        },
        _ => ty,
    }
}

/// Splits a `Result` into success and error. The error of a library's own `Result` is not visible.
fn split_result(ty: &Ty) -> (&Ty, Option<&Ty>) {
    match ty {
        Ty::Library { arguments, .. } if ty.library().is_some_and(|(_, name)| name.ends_with("Result")) => {
            (arguments.first().unwrap_or(ty), arguments.get(1))
        }
        _ => (ty, None),
    }
}

/// Returns the `T` of `impl Stream<Item = T>` in a result.
fn stream_item(output: &ReturnType) -> Option<Type> {
    struct ItemFinder(Option<Type>);
    impl<'ast> Visit<'ast> for ItemFinder {
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            for bound in &ty.bounds {
                let TypeParamBound::Trait(bound) = bound else { continue };
                let Some(last) = bound.path.segments.last().filter(|last| last.ident == "Stream") else { continue };
                let PathArguments::AngleBracketed(list) = &last.arguments else { continue };
                self.0 = self.0.take().or_else(|| {
                    list.args.iter().find_map(|argument| match argument {
                        GenericArgument::AssocType(item) if item.ident == "Item" => Some(item.ty.clone()),
                        _ => None,
                    })
                });
            }
            visit::visit_type_impl_trait(self, ty);
        }
    }
    let mut find = ItemFinder(None);
    find.visit_return_type(output);
    find.0
}
