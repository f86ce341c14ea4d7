//! The types of a source text, with its inline modules.

use std::collections::HashMap;
use std::rc::Rc;

use syn::{GenericArgument, Item, ItemImpl, Path, PathArguments, Type};

use crate::ty::{DefinitionId, ScopeId, Ty, TypeDefinition, TypeSource};

/// Parses a text as a scan does, without most bodies of functions.
fn parse(text: &str) -> Vec<Item> {
    let outline = crate::text::without_bodies(text, &[]).map_err(|_| "too deep").unwrap();
    syn::parse_file(&outline).unwrap().items
}

/// Resolves names in one text. Other names belong to the standard library, or to the crate in their path.
pub(super) struct Source {
    definitions: Vec<Rc<TypeDefinition>>,
    names: HashMap<(ScopeId, String), DefinitionId>,
    modules: HashMap<String, ScopeId>,
    functions: HashMap<(ScopeId, String), Rc<syn::ItemFn>>,
    constants: HashMap<(ScopeId, String), Rc<syn::Expr>>,
    /// `true` if all features of all packages are on.
    pub(super) has_features: bool,
}

impl Source {
    pub(super) fn parse(text: &str) -> Self {
        Self::parse_all(&[text])
    }

    /// Reads several files as one.
    pub(super) fn parse_all(texts: &[&str]) -> Self {
        let items: Vec<Item> = texts.iter().flat_map(|text| parse(text)).collect();
        let mut source = Self {
            definitions: Vec::new(),
            names: HashMap::new(),
            modules: HashMap::new(),
            functions: HashMap::new(),
            constants: HashMap::new(),
            has_features: true,
        };
        source.add(&items, ScopeId(0), "test");
        source
    }

    fn add(&mut self, items: &[Item], scope: ScopeId, module: &str) {
        let mut impls: HashMap<String, Vec<(String, Rc<ItemImpl>)>> = HashMap::new();
        for item in items {
            if let Item::Impl(block) = item
                && let Some((path, _)) = &block.trait_
                && let Type::Path(ty) = &*block.self_ty
            {
                let name = path.segments.last().unwrap().ident.to_string();
                let of = ty.path.segments.last().unwrap().ident.to_string();
                impls.entry(of).or_default().push((name, Rc::new(block.clone())));
            }
        }
        for item in items {
            let derived = match item {
                Item::Struct(item) => Some(syn::DeriveInput::from(item.clone())),
                Item::Enum(item) => Some(item.clone().into()),
                Item::Fn(function) => {
                    self.functions.insert((scope, function.sig.ident.to_string()), Rc::new(function.clone()));
                    None
                }
                Item::Const(constant) => {
                    self.constants.insert((scope, constant.ident.to_string()), Rc::new((*constant.expr).clone()));
                    None
                }
                Item::Mod(module) => {
                    let inner = ScopeId(self.modules.len() + 1);
                    let name = module.ident.to_string();
                    self.modules.insert(name.clone(), inner);
                    self.add(&module.content.as_ref().unwrap().1, inner, &name);
                    None
                }
                _ => None,
            };
            if let Some(item) = derived {
                let name = item.ident.to_string();
                let impls = impls.remove(&name).unwrap_or_default();
                self.names.insert((scope, name), DefinitionId(self.definitions.len()));
                self.definitions.push(Rc::new(TypeDefinition { module: module.to_owned(), scope, item, impls }));
            }
        }
    }

    pub(super) fn ty(&self, text: &str) -> Ty {
        self.resolve(&syn::parse_str(text).unwrap(), ScopeId(0), &[])
    }

    fn find<T>(
        &self,
        path: &Path,
        scope: ScopeId,
        among: &HashMap<(ScopeId, String), Rc<T>>,
    ) -> Option<(Rc<T>, ScopeId)> {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (scope, name) = match names.as_slice() {
            [name] => (scope, name),
            [module, name] => (*self.modules.get(module)?, name),
            _ => return None,
        };
        among.get(&(scope, name.clone())).map(|found| (Rc::clone(found), scope))
    }
}

impl TypeSource for Source {
    fn has_feature(&self, _: &str, _: &str) -> bool {
        self.has_features
    }

    fn definition(&self, id: DefinitionId) -> Rc<TypeDefinition> {
        Rc::clone(&self.definitions[id.0])
    }

    fn resolve(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty {
        let inner = |ty: &Type| self.resolve(ty, scope, generics);
        match ty {
            Type::Reference(reference) => Ty::Reference(Box::new(inner(&reference.elem))),
            Type::Slice(slice) => Ty::Slice(Box::new(inner(&slice.elem))),
            Type::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(inner).collect()),
            Type::Array(array) => {
                let length = match &array.len {
                    syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(length), .. }) => length.base10_parse().ok(),
                    _ => None,
                };
                Ty::Array(Box::new(inner(&array.elem)), length)
            }
            Type::Path(path) => self.path(&path.path, scope, generics),
            other => Ty::Unknown(quote::quote!(#other).to_string()),
        }
    }

    fn function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        self.find(path, scope, &self.functions)
    }

    fn constant(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::Expr>, ScopeId)> {
        self.find(path, scope, &self.constants)
    }
}

impl Source {
    fn path(&self, path: &Path, scope: ScopeId, generics: &[(String, Ty)]) -> Ty {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let arguments: Vec<Ty> = match &path.segments.last().unwrap().arguments {
            PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(self.resolve(ty, scope, generics)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let (scope, name) = match names.as_slice() {
            [name] => {
                if let Some((_, ty)) = generics.iter().find(|(found, _)| found == name) {
                    return ty.clone();
                }
                (scope, name)
            }
            [module, name] if self.modules.contains_key(module) => (self.modules[module], name),
            _ => return Ty::Library { path: names.join("::"), arguments },
        };
        if let Some(&definition) = self.names.get(&(scope, name.clone())) {
            return Ty::Defined { definition, arguments };
        }
        if name.starts_with(char::is_lowercase) {
            return Ty::Library { path: name.clone(), arguments };
        }
        match name.as_str() {
            "Unknown" => Ty::Unknown(name.clone()),
            "Option" | "Vec" | "String" | "Box" | "Result" | "HashMap" | "BTreeMap" | "PhantomData" => {
                Ty::Library { path: format!("std::{name}"), arguments }
            }
            _ => Ty::Unknown(name.clone()),
        }
    }
}
