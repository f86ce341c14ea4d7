//! What a type means where it stands.

use std::rc::Rc;

use syn::{Expr, ExprLit, GenericArgument, GenericParam, Lit, Path, PathArguments, Type};

use super::Sources;
use super::names::{Entity, import_path};
use crate::package::Dependency;
use crate::text::written;
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
            Type::Array(array) => {
                Ty::Array(Box::new(inner(&array.elem)), self.length(&array.len, scope, generics, depth))
            }
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
        let given = path.segments.last().map(|last| &last.arguments);
        let arguments = Arguments { given: given.map(generic_arguments).unwrap_or_default(), scope, generics };
        match self.entity(scope, &import_path(path)) {
            Some(Entity::Library(path)) => {
                let types = arguments.given.iter().map(|given| self.argument(given, &arguments, depth));
                Ty::Library { path, arguments: types.collect() }
            }
            Some(Entity::Defined(definition)) => {
                let declared = self.definitions.borrow()[definition.0].clone();
                let filled = self.fill_generics(&declared.item.generics, &arguments, declared.scope, depth);
                let is_type = |name: &String| declared.item.generics.type_params().any(|known| known.ident == name);
                let types = filled.into_iter().filter(|(name, _)| is_type(name)).map(|(_, ty)| ty);
                Ty::Defined { definition, arguments: types.collect() }
            }
            Some(Entity::Alias(at, alias)) => {
                let filled = self.fill_generics(&alias.generics, &arguments, at, depth);
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

    /// Resolves a type among generic arguments; the value of a constant cannot be told from a type here.
    fn argument(&self, given: &GenericArgument, around: &Arguments<'_>, depth: usize) -> Ty {
        match given {
            GenericArgument::Type(ty) => self.resolve_type(ty, around.scope, around.generics, depth + 1),
            other => Ty::Unknown(written(other)),
        }
    }

    /// Evaluates a constant among generic arguments. A name alone parses as a type.
    fn constant_argument(&self, given: &GenericArgument, around: &Arguments<'_>, depth: usize) -> Option<u64> {
        let value = match given {
            GenericArgument::Const(value) => value.clone(),
            GenericArgument::Type(Type::Path(path)) if path.qself.is_none() => {
                Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() })
            }
            _ => return None,
        };
        self.length(&value, around.scope, around.generics, depth + 1)
    }

    /// Returns the parameters of a type with what is given for them.
    fn fill_generics(
        &self,
        parameters: &syn::Generics,
        arguments: &Arguments<'_>,
        scope: ScopeId,
        depth: usize,
    ) -> Vec<(String, Ty)> {
        let mut filled = Vec::new();
        let mut given = arguments.given.iter();
        for parameter in &parameters.params {
            match parameter {
                GenericParam::Type(parameter) => {
                    let ty = match (given.next(), &parameter.default) {
                        (Some(given), _) => self.argument(given, arguments, depth),
                        (None, Some((_, default))) => self.resolve_type(default, scope, &filled, depth + 1),
                        (None, None) => Ty::Unknown(parameter.ident.to_string()),
                    };
                    filled.push((parameter.ident.to_string(), ty));
                }
                GenericParam::Const(parameter) => {
                    let value = match (given.next(), &parameter.default) {
                        (Some(given), _) => self.constant_argument(given, arguments, depth),
                        (None, Some((_, default))) => self.length(default, scope, &filled, depth + 1),
                        (None, None) => None,
                    };
                    let value = value.map_or_else(|| Ty::Unknown(parameter.ident.to_string()), Ty::Constant);
                    filled.push((parameter.ident.to_string(), value));
                }
                GenericParam::Lifetime(_) => {}
            }
        }
        filled
    }

    fn length(&self, length: &Expr, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Option<u64> {
        if depth > DEEPEST {
            return None;
        }
        let inner = |length: &Expr| self.length(length, scope, generics, depth + 1);
        match length {
            Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => length.base10_parse().ok(),
            Expr::Paren(paren) => inner(&paren.expr),
            Expr::Group(group) => inner(&group.expr),
            Expr::Block(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(only, None)] => inner(only),
                _ => None,
            },
            Expr::Path(path) => {
                let parameter = path.path.get_ident().and_then(|name| generics.iter().find(|(known, _)| name == known));
                if let Some((_, value)) = parameter {
                    return if let Ty::Constant(value) = value { Some(*value) } else { None };
                }
                let (value, scope) = self.constant(&path.path, scope)?;
                self.length(&value, scope, &[], depth + 1)
            }
            Expr::Binary(both) => {
                let (left, right) = (inner(&both.left)?, inner(&both.right)?);
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

/// The generic arguments of a path, and where they mean something.
struct Arguments<'a> {
    /// Without lifetimes and bindings.
    given: Vec<&'a GenericArgument>,
    scope: ScopeId,
    generics: &'a [(String, Ty)],
}

fn generic_arguments(arguments: &PathArguments) -> Vec<&GenericArgument> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let is_given =
        |argument: &&GenericArgument| matches!(argument, GenericArgument::Type(_) | GenericArgument::Const(_));
    arguments.args.iter().filter(is_given).collect()
}

fn unknown(ty: &Type) -> Ty {
    Ty::Unknown(written(ty))
}
