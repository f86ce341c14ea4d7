//! What a type means where it stands.

use std::rc::Rc;

use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, GenericParam, Lit, Path, PathArguments, Type};

use super::Sources;
use super::names::{Entity, import_path};
use crate::package::Dependency;
use crate::ty::{Definition, DefinitionId, ScopeId, Ty, Types};

/// How deep a type may be, its aliases included.
const DEEPEST: usize = 64;

/// How many types a type may be made of: aliases that name each other twice double with every step.
const LARGEST: usize = 10_000;

impl Sources {
    fn resolve_type(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Ty {
        let inner = |ty: &Type| self.resolve_type(ty, scope, generics, depth + 1);
        match ty {
            _ if depth > DEEPEST || !self.may_grow() => unknown(ty),
            Type::Group(group) => inner(&group.elem),
            Type::Paren(paren) => inner(&paren.elem),
            Type::Reference(reference) => Ty::Reference(Box::new(inner(&reference.elem))),
            Type::Slice(slice) => Ty::Slice(Box::new(inner(&slice.elem))),
            Type::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(inner).collect()),
            Type::Array(array) => Ty::Array(Box::new(inner(&array.elem)), self.length(&array.len, scope, depth)),
            Type::Path(path) if path.qself.is_none() => self.resolve_path(ty, &path.path, scope, generics, depth),
            _ => unknown(ty),
        }
    }

    fn resolve_path(&self, ty: &Type, path: &Path, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Ty {
        if let Some(name) = path.get_ident()
            && let Some((_, filled)) = generics.iter().find(|(parameter, _)| name == parameter)
        {
            return filled.clone();
        }
        let arguments = path.segments.last().map(|last| type_arguments(&last.arguments)).unwrap_or_default();
        let arguments =
            || -> Vec<Ty> { arguments.iter().map(|ty| self.resolve_type(ty, scope, generics, depth + 1)).collect() };
        match self.entity(scope, &import_path(path)) {
            Some(Entity::Library(path)) => Ty::Library { path, arguments: arguments() },
            Some(Entity::Defined(definition)) => {
                let declared = self.definitions.borrow()[definition.0].clone();
                let filled = self.fill_generics(&declared.item.generics, arguments(), declared.scope, depth);
                Ty::Defined { definition, arguments: filled.into_iter().map(|(_, ty)| ty).collect() }
            }
            Some(Entity::Alias(at, alias)) => {
                let filled = self.fill_generics(&alias.generics, arguments(), at, depth);
                self.resolve_type(&alias.ty, at, &filled, depth + 1)
            }
            Some(Entity::Scope(_) | Entity::Other) | None => unknown(ty),
        }
    }

    /// Counts a part of the type that is being resolved.
    fn may_grow(&self) -> bool {
        let parts = self.parts.get();
        self.parts.set(parts.saturating_add(1));
        parts < LARGEST
    }

    /// The parameters of a type with what they stand for.
    fn fill_generics(
        &self,
        generics: &syn::Generics,
        arguments: Vec<Ty>,
        scope: ScopeId,
        depth: usize,
    ) -> Vec<(String, Ty)> {
        let mut filled = Vec::new();
        let mut given = arguments.into_iter();
        for parameter in &generics.params {
            match parameter {
                GenericParam::Type(parameter) => {
                    let ty = given.next().unwrap_or_else(|| match &parameter.default {
                        Some((_, default)) => self.resolve_type(default, scope, &filled, depth + 1),
                        None => Ty::Unknown(parameter.ident.to_string()),
                    });
                    filled.push((parameter.ident.to_string(), ty));
                }
                GenericParam::Const(_) => drop(given.next()),
                GenericParam::Lifetime(_) => {}
            }
        }
        filled
    }

    fn length(&self, length: &Expr, scope: ScopeId, depth: usize) -> Option<u64> {
        if depth > DEEPEST {
            return None;
        }
        match length {
            Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => length.base10_parse().ok(),
            Expr::Paren(inner) => self.length(&inner.expr, scope, depth + 1),
            Expr::Group(inner) => self.length(&inner.expr, scope, depth + 1),
            Expr::Block(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(only, None)] => self.length(only, scope, depth + 1),
                _ => None,
            },
            Expr::Path(path) => {
                let (value, scope) = self.constant(&path.path, scope)?;
                self.length(&value, scope, depth + 1)
            }
            Expr::Binary(both) => {
                let (left, right) =
                    (self.length(&both.left, scope, depth + 1)?, self.length(&both.right, scope, depth + 1)?);
                match both.op {
                    syn::BinOp::Add(_) => left.checked_add(right),
                    syn::BinOp::Sub(_) => left.checked_sub(right),
                    syn::BinOp::Mul(_) => left.checked_mul(right),
                    syn::BinOp::Div(_) => left.checked_div(right),
                    syn::BinOp::Shl(_) => left.checked_shl(u32::try_from(right).ok()?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Types for Sources {
    fn definition(&self, id: DefinitionId) -> Rc<Definition> {
        self.complete(id)
    }

    fn resolve(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty {
        // While a type is resolved, others may be: of the `impl`s that are looked through.
        let around = self.parts.replace(0);
        let resolved = self.resolve_type(ty, scope, generics, 0);
        self.parts.set(around);
        resolved
    }

    fn function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        let of_module = self.value(path, scope, &|items, name| items.functions.get(name).cloned());
        of_module.or_else(|| self.associated_function(path, scope))
    }

    fn describes_urls(&self) -> bool {
        let has = |dependency: &Dependency, package: &str, feature: &str| {
            dependency.package == package && dependency.features.iter().any(|known| known == feature)
        };
        self.crates
            .borrow()
            .iter()
            .flat_map(|krate| krate.dependencies.values())
            .any(|dependency| has(dependency, "tool-runtime", "url") || has(dependency, "schemars", "url2"))
    }

    fn constant(&self, path: &Path, scope: ScopeId) -> Option<(Rc<Expr>, ScopeId)> {
        self.value(path, scope, &|items, name| items.constants.get(name).cloned())
    }
}

fn type_arguments(arguments: &PathArguments) -> Vec<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        // It takes the place of a parameter, so that those behind it keep theirs.
        GenericArgument::Const(_) => Some(Type::Verbatim(argument.to_token_stream())),
        _ => None,
    });
    types.collect()
}

fn unknown(ty: &Type) -> Ty {
    Ty::Unknown(written(ty))
}

/// A type as people write it.
fn written(ty: &impl ToTokens) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, plain) in
        [(" :: ", "::"), (":: ", "::"), (" ::", "::"), (" <", "<"), ("< ", "<"), (" >", ">"), (" ,", ","), ("& ", "&")]
    {
        text = text.replace(spaced, plain);
    }
    text
}
