//! Type resolution, and the traits that types implement.

use std::rc::Rc;

use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, GenericParam, Lit, Path, PathArguments, Type};

use super::names::{NamedEntity, import_path};
use super::{CrateId, SourceScope, SourceTree};
use crate::text::source_text;
use crate::ty::{DefinitionId, ScopeId, Ty, TypeDefinition, TypeSource};

/// The deepest type that is resolved, including its aliases.
const DEEPEST: usize = 64;

/// The largest number of parts of a type. Aliases that name each other twice double with every step.
const LARGEST: usize = 10_000;

/// The traits that decide how an argument is decoded, with a text that files with such an `impl` contain.
const DECISIVE: [(&str, &str); 3] =
    [("Deserialize", "Deserialize<"), ("JsonSchema", "JsonSchema for"), ("FromStr", "FromStr for")];

impl SourceTree {
    /// Returns the traits that a type implements by hand: all of those in its own file, and in other files of its crate
    /// the decisive ones that are not derived.
    pub(super) fn implementations(
        &self,
        id: DefinitionId,
        scope: ScopeId,
        declared: &syn::DeriveInput,
    ) -> Vec<(String, Rc<syn::ItemImpl>)> {
        let scope = self.scope(scope);
        let scopes = |wanted: &dyn Fn(&SourceScope) -> bool| -> Vec<ScopeId> {
            let scopes = self.scopes.borrow();
            scopes.iter().enumerate().filter(|(_, scope)| wanted(scope)).map(|(index, _)| ScopeId(index)).collect()
        };
        let mut found = Vec::new();
        let mut look_into = |places: Vec<ScopeId>| {
            for place in places {
                let scope = self.scope(place);
                let impls = scope.items.get().map(|items| items.impls.as_slice()).unwrap_or_default();
                let ours = impls.iter().filter(|(_, item)| self.is_for(item, place, id, &declared.ident));
                found.extend(ours.map(|(name, item)| (self.original_name(place, name), item.clone())));
            }
        };
        look_into(scopes(&|other| Rc::ptr_eq(&other.file, &scope.file)));
        let derives = |name: &str| {
            declared.attrs.iter().any(|attribute| {
                attribute.path().is_ident("derive") && attribute.meta.to_token_stream().to_string().contains(name)
            })
        };
        for (name, needle) in DECISIVE {
            if derives(name) || (name == "FromStr" && derives("Deserialize")) {
                continue;
            }
            for file in self.files_containing(scope.krate, needle) {
                let file = self.scope(file).file.clone();
                if !Rc::ptr_eq(&file, &scope.file) {
                    look_into(scopes(&|other| Rc::ptr_eq(&other.file, &file)));
                }
            }
        }
        found
    }

    /// Returns the `impl`s of a trait for a type in its crate. Files with such an `impl` contain the text `needle`.
    #[cfg(feature = "cli")]
    pub(crate) fn trait_impls(
        &self,
        id: DefinitionId,
        trait_name: &str,
        needle: &'static str,
    ) -> Vec<(ScopeId, Rc<syn::ItemImpl>)> {
        let declared = self.definitions.borrow()[id.0].clone();
        let krate = self.scope(declared.scope).krate;
        let files: Vec<_> =
            self.files_containing(krate, needle).iter().map(|&id| self.scope(id).file.clone()).collect();
        let scopes = self.scopes.borrow().clone();
        let mut found = Vec::new();
        for (index, scope) in scopes.iter().enumerate().filter(|(_, scope)| scope.krate == krate) {
            if !files.iter().any(|file| Rc::ptr_eq(file, &scope.file)) {
                continue;
            }
            let impls = scope.items.get().map(|items| items.impls.as_slice()).unwrap_or_default();
            let ours = impls.iter().filter(|(name, item)| {
                self.original_name(ScopeId(index), name) == trait_name
                    && self.is_for(item, ScopeId(index), id, &declared.item.ident)
            });
            found.extend(ours.map(|(_, item)| (ScopeId(index), item.clone())));
        }
        found
    }

    /// Returns the own name of a trait, which may be imported under another name.
    fn original_name(&self, scope: ScopeId, name: &str) -> String {
        let import = self.import(scope, name).and_then(|path| path.segments.last().cloned());
        import.unwrap_or_else(|| name.to_owned())
    }

    fn is_for(&self, item: &syn::ItemImpl, scope: ScopeId, id: DefinitionId, name: &syn::Ident) -> bool {
        let Type::Path(path) = &*item.self_ty else { return false };
        path.path.segments.last().is_some_and(|last| last.ident == *name)
            && matches!(self.resolve(&item.self_ty, scope, &[]), Ty::Defined { definition, .. } if definition == id)
    }

    /// Parses and returns the files of a crate that contain a text.
    fn files_containing(&self, krate: CrateId, needle: &'static str) -> Vec<ScopeId> {
        if let Some((_, _, known)) = self.searched.borrow().iter().find(|(of, what, _)| *of == krate && *what == needle)
        {
            return known.clone();
        }
        let files: Vec<(ScopeId, Rc<SourceScope>)> = {
            let scopes = self.scopes.borrow().clone().into_iter().enumerate();
            scopes
                .filter(|(_, scope)| scope.krate == krate && scope.is_file)
                .map(|(index, scope)| (ScopeId(index), scope))
                .collect()
        };
        let mut found = Vec::new();
        for (id, scope) in files {
            let text = scope.file.text();
            if memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some() {
                self.items(&scope, id);
                found.push(id);
            } else if scope.items.get().is_none() {
                scope.file.drop_text();
            }
        }
        self.searched.borrow_mut().push((krate, needle, found.clone()));
        found
    }
}

/// The generic arguments of a path with their scope.
struct GenericArguments<'a> {
    /// The arguments without lifetimes and bindings.
    given: Vec<&'a GenericArgument>,
    scope: ScopeId,
    generics: &'a [(String, Ty)],
}

impl SourceTree {
    fn resolve_type(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Ty {
        let inner = |ty: &Type| self.resolve_type(ty, scope, generics, depth + 1);
        match ty {
            _ if depth > DEEPEST || !self.count_part() => unknown(ty),
            Type::Group(group) => inner(&group.elem),
            Type::Paren(paren) => inner(&paren.elem),
            Type::Reference(reference) => Ty::Reference(Box::new(inner(&reference.elem))),
            Type::Slice(slice) => Ty::Slice(Box::new(inner(&slice.elem))),
            Type::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(inner).collect()),
            Type::Array(array) => {
                Ty::Array(Box::new(inner(&array.elem)), self.length(&array.len, scope, generics, depth))
            }
            Type::Path(path) => match &path.qself {
                None => self.resolve_path(ty, &path.path, scope, generics, depth),
                Some(qself) => self
                    .resolve_associated(&inner(&qself.ty), &path.path, qself.position, depth)
                    .unwrap_or_else(|| unknown(ty)),
            },
            _ => unknown(ty),
        }
    }

    /// Resolves `<T as Trait>::Name` by the `impl` block, if that stands in the file of `T`.
    fn resolve_associated(&self, of: &Ty, path: &Path, position: usize, depth: usize) -> Option<Ty> {
        let Ty::Defined { definition, .. } = of else { return None };
        let trait_name = path.segments.get(position.checked_sub(1)?)?.ident.to_string();
        let name = &path.segments.get(position).filter(|_| path.segments.len() == position + 1)?.ident;
        let definition = self.definition(*definition);
        let blocks = definition.impls.iter().filter(|(of_trait, _)| *of_trait == trait_name);
        let ty = blocks.flat_map(|(_, block)| &block.items).find_map(|item| match item {
            syn::ImplItem::Type(associated) if associated.ident == *name => Some(&associated.ty),
            _ => None,
        })?;
        Some(self.resolve_type(ty, definition.scope, &[], depth + 1))
    }

    fn resolve_path(&self, ty: &Type, path: &Path, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Ty {
        if let Some(name) = path.get_ident()
            && let Some((_, filled)) = generics.iter().find(|(parameter, _)| name == parameter)
        {
            return filled.clone();
        }
        let given = path.segments.last().map(|last| &last.arguments);
        let arguments = GenericArguments { given: given.map(generic_arguments).unwrap_or_default(), scope, generics };
        match self.entity(scope, &import_path(path)) {
            Some(NamedEntity::Library(path)) => {
                let types = arguments.given.iter().map(|given| self.argument(given, &arguments, depth));
                Ty::Library { path, arguments: types.collect() }
            }
            Some(NamedEntity::Defined(definition)) => {
                let declared = self.definitions.borrow()[definition.0].clone();
                let filled = self.fill_generics(&declared.item.generics, &arguments, declared.scope, depth);
                let is_type = |name: &String| declared.item.generics.type_params().any(|known| known.ident == name);
                let types = filled.into_iter().filter(|(name, _)| is_type(name)).map(|(_, ty)| ty);
                Ty::Defined { definition, arguments: types.collect() }
            }
            Some(NamedEntity::Alias(at, alias)) => {
                let filled = self.fill_generics(&alias.generics, &arguments, at, depth);
                self.resolve_type(&alias.ty, at, &filled, depth + 1)
            }
            Some(NamedEntity::Scope(_) | NamedEntity::Other(_)) | None => unknown(ty),
        }
    }

    /// Counts a part of the type that is being resolved. Returns `false` if there are too many.
    fn count_part(&self) -> bool {
        let parts = self.parts.get();
        self.parts.set(parts.saturating_add(1));
        parts < LARGEST
    }

    /// Resolves a type among generic arguments. A constant that is a plain name looks like a type here.
    fn argument(&self, given: &GenericArgument, around: &GenericArguments<'_>, depth: usize) -> Ty {
        match given {
            GenericArgument::Type(ty) => self.resolve_type(ty, around.scope, around.generics, depth + 1),
            other => Ty::Unknown(source_text(other)),
        }
    }

    /// Evaluates a constant among generic arguments. A name alone parses as a type.
    fn constant_argument(&self, given: &GenericArgument, around: &GenericArguments<'_>, depth: usize) -> Option<u64> {
        let value = match given {
            GenericArgument::Const(value) => value.clone(),
            GenericArgument::Type(Type::Path(path)) if path.qself.is_none() => {
                Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() })
            }
            _ => return None,
        };
        self.length(&value, around.scope, around.generics, depth + 1)
    }

    /// Returns the parameters of a type with their arguments.
    fn fill_generics(
        &self,
        parameters: &syn::Generics,
        arguments: &GenericArguments<'_>,
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

impl TypeSource for SourceTree {
    fn definition(&self, id: DefinitionId) -> Rc<TypeDefinition> {
        self.complete_definition(id)
    }

    fn resolve(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty {
        // Looking through `impl`s resolves other types meanwhile.
        let around = self.parts.replace(0);
        let resolved = self.resolve_type(ty, scope, generics, 0);
        self.parts.set(around);
        resolved
    }

    fn function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        let of_module = self.value(path, scope, &|items, name| items.functions.get(name).cloned());
        of_module.or_else(|| self.associated_function(path, scope))
    }

    fn has_feature(&self, package: &str, feature: &str) -> bool {
        let crates = self.crates.borrow();
        let mut dependencies = crates.iter().flat_map(|krate| krate.dependencies.values());
        dependencies.any(|known| known.package == package && known.features.iter().any(|known| known == feature))
    }

    fn constant(&self, path: &Path, scope: ScopeId) -> Option<(Rc<Expr>, ScopeId)> {
        self.value(path, scope, &|items, name| items.constants.get(name).cloned())
    }
}

fn generic_arguments(arguments: &PathArguments) -> Vec<&GenericArgument> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let is_given =
        |argument: &&GenericArgument| matches!(argument, GenericArgument::Type(_) | GenericArgument::Const(_));
    arguments.args.iter().filter(is_given).collect()
}

fn unknown(ty: &Type) -> Ty {
    Ty::Unknown(source_text(ty))
}
