//! What a name means where it stands.

use std::rc::Rc;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, GenericArgument, GenericParam, Lit, Path, PathArguments, Type};

use super::items::{ImportPath, TypeItem};
use super::{CrateId, Declared, Items, Scope, Sources};
use crate::ty::{Definition, DefinitionId, ScopeId, Ty, Types};

/// How long a chain of names may be. A circle is longer.
const LONGEST_CHAIN: usize = 64;

/// The names that every module has.
const PRELUDE: [(&str, &str); 5] = [
    ("Box", "std::boxed::Box"),
    ("Option", "std::option::Option"),
    ("Result", "std::result::Result"),
    ("String", "std::string::String"),
    ("Vec", "std::vec::Vec"),
];

const LANGUAGE: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

/// The names that `use library::*` may bring, of the libraries whose types are known.
const LIBRARIES: [(&str, &[&str]); 5] = [
    (
        "std",
        &[
            "Arc",
            "BTreeMap",
            "BTreeSet",
            "BinaryHeap",
            "Cow",
            "Duration",
            "HashMap",
            "HashSet",
            "Ipv4Addr",
            "Ipv6Addr",
            "IpAddr",
            "LinkedList",
            "Mutex",
            "NonZero",
            "OsString",
            "Path",
            "PathBuf",
            "Rc",
            "RwLock",
            "SocketAddr",
            "SystemTime",
            "VecDeque",
        ],
    ),
    (
        "chrono",
        &[
            "DateTime",
            "Duration",
            "FixedOffset",
            "Local",
            "Month",
            "NaiveDate",
            "NaiveDateTime",
            "NaiveTime",
            "TimeDelta",
            "Utc",
            "Weekday",
        ],
    ),
    ("uuid", &["Uuid", "NonNilUuid"]),
    ("url", &["Url"]),
    ("serde_json", &["Map", "Number", "Value"]),
];

/// The traits that decide how a type becomes an argument, and what stands in a file that implements them.
const DECISIVE: [(&str, &str); 3] =
    [("Deserialize", "Deserialize<"), ("JsonSchema", "JsonSchema for"), ("FromStr", "FromStr for")];

/// What a path can name, as far as types are concerned.
#[derive(Clone)]
pub(crate) enum Entity {
    Scope(ScopeId),
    Defined(DefinitionId),
    Alias(ScopeId, Rc<syn::ItemType>),
    /// Something in a crate that is not read, by its path.
    Library(String),
    Other,
}

/// The names that are being followed, so that a circle ends.
type Trail = Vec<(ScopeId, String)>;

impl Sources {
    /// What a path names in a scope.
    pub(crate) fn entity(&self, scope: ScopeId, path: &ImportPath) -> Option<Entity> {
        self.follow(scope, path, &mut Vec::new())
    }

    fn follow(&self, scope: ScopeId, path: &ImportPath, trail: &mut Trail) -> Option<Entity> {
        let (first, rest) = path.segments.split_first()?;
        let mut entity = match first.as_str() {
            _ if path.absolute => self.library_entity(scope, first),
            "crate" => Entity::Scope(self.crate_of(scope).root.get()?),
            "self" => Entity::Scope(self.module_of(scope)),
            "super" => Entity::Scope(self.module_around(scope)?),
            name => match self.named(scope, name, trail) {
                Some(entity) => entity,
                // A crate that `Cargo.toml` does not say, or none.
                None if !rest.is_empty() => Entity::Library(name.to_owned()),
                None => return None,
            },
        };
        for name in rest {
            entity = match entity {
                Entity::Scope(id) if name == "super" => Entity::Scope(self.module_around(id)?),
                Entity::Scope(id) if name == "self" => Entity::Scope(id),
                Entity::Scope(id) => self.declared(id, name, trail)?,
                Entity::Library(path) => Entity::Library(format!("{path}::{name}")),
                Entity::Defined(_) | Entity::Alias(..) | Entity::Other => return None,
            };
        }
        Some(entity)
    }

    /// What a single name means: what is declared here or around, then the crates, then what is always there.
    fn named(&self, scope: ScopeId, name: &str, trail: &mut Trail) -> Option<Entity> {
        let mut next = Some(scope);
        while let Some(id) = next {
            if let Some(found) = self.declared(id, name, trail) {
                return Some(found);
            }
            let scope = self.scope(id);
            next = if scope.is_block { scope.parent } else { None };
        }
        let krate = self.crate_of(scope);
        if krate.dependencies.contains_key(name)
            || krate.package.library_name() == Some(name)
            || ["std", "core", "alloc"].contains(&name)
        {
            return Some(self.library_entity(scope, name));
        }
        if let Some((_, path)) = PRELUDE.iter().find(|(known, _)| *known == name) {
            return Some(Entity::Library((*path).to_owned()));
        }
        LANGUAGE.contains(&name).then(|| Entity::Library(name.to_owned()))
    }

    fn library_entity(&self, scope: ScopeId, name: &str) -> Entity {
        match name {
            "std" | "core" | "alloc" => Entity::Library("std".to_owned()),
            _ => {
                let krate = self.scope(scope).krate;
                self.library(krate, name).map_or_else(|| Entity::Library(self.package_name(scope, name)), Entity::Scope)
            }
        }
    }

    /// A dependency under the name of its own crate, whatever it is called here.
    fn package_name(&self, scope: ScopeId, name: &str) -> String {
        let krate = self.crate_of(scope);
        krate.dependencies.get(name).map_or_else(|| name.to_owned(), |dependency| dependency.package.replace('-', "_"))
    }

    /// What a module declares or imports under a name.
    fn declared(&self, id: ScopeId, name: &str, trail: &mut Trail) -> Option<Entity> {
        let scope = self.scope(id);
        if let Some(child) = scope.children.borrow().get(name) {
            return Some(Entity::Scope(*child));
        }
        let step = (id, name.to_owned());
        if trail.len() > LONGEST_CHAIN || trail.contains(&step) {
            return None;
        }
        let items = self.items(&scope, id)?;
        if let Some(found) = items.types.get(name) {
            return Some(match found {
                TypeItem::Defined(definition) => Entity::Defined(*definition),
                TypeItem::Alias(alias) => Entity::Alias(id, alias.clone()),
                TypeItem::Other => Entity::Other,
            });
        }
        if let Some(child) = scope.children.borrow().get(name) {
            return Some(Entity::Scope(*child));
        }
        trail.push(step);
        let found = self.imported(id, items, name, trail);
        trail.pop();
        found
    }

    fn imported(&self, id: ScopeId, items: &Items, name: &str, trail: &mut Trail) -> Option<Entity> {
        let imports = items.imports.get(name).map(Vec::as_slice).unwrap_or_default();
        if let Some(found) = imports.iter().find_map(|path| self.follow(id, path, trail)) {
            return Some(found);
        }
        items.globs.iter().find_map(|path| match self.follow(id, path, trail)? {
            Entity::Scope(module) => self.declared(module, name, trail),
            Entity::Library(path) => is_in_library(&path, name).then(|| Entity::Library(format!("{path}::{name}"))),
            _ => None,
        })
    }

    /// The import by which a scope has a name, if it has it by one.
    pub(crate) fn import(&self, id: ScopeId, name: &str) -> Option<ImportPath> {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope(id);
            if let Some(paths) = self.items(&scope, id).and_then(|items| items.imports.get(name)) {
                return paths.first().cloned();
            }
            next = if scope.is_block { scope.parent } else { None };
        }
        None
    }

    /// The module that a scope is, or stands in.
    fn module_of(&self, id: ScopeId) -> ScopeId {
        let scope = self.scope(id);
        match scope.parent {
            Some(parent) if scope.is_block => self.module_of(parent),
            _ => id,
        }
    }

    fn module_around(&self, id: ScopeId) -> Option<ScopeId> {
        let parent = self.scope(self.module_of(id)).parent?;
        Some(self.module_of(parent))
    }

    /// The traits that are implemented for a type: in its own file all of them, elsewhere in its crate those that
    /// decide how it becomes an argument, unless they are derived.
    pub(super) fn implementations(&self, id: DefinitionId, declared: &Declared) -> Vec<(String, Rc<syn::ItemImpl>)> {
        let scope = self.scope(declared.scope);
        let scopes = |wanted: &dyn Fn(&Scope) -> bool| -> Vec<ScopeId> {
            let scopes = self.scopes.borrow();
            scopes.iter().enumerate().filter(|(_, scope)| wanted(scope)).map(|(index, _)| ScopeId(index)).collect()
        };
        let mut found = Vec::new();
        let mut look_into = |places: Vec<ScopeId>| {
            for place in places {
                let scope = self.scope(place);
                let impls = scope.items.get().map(|items| items.impls.as_slice()).unwrap_or_default();
                let ours = impls.iter().filter(|(_, item)| self.is_for(item, place, id, &declared.item.ident));
                found.extend(ours.cloned());
            }
        };
        look_into(scopes(&|other| Rc::ptr_eq(&other.file, &scope.file)));
        let derives = |name: &str| {
            declared.item.attrs.iter().any(|attribute| {
                attribute.path().is_ident("derive") && attribute.meta.to_token_stream().to_string().contains(name)
            })
        };
        for (name, needle) in DECISIVE {
            if derives(name) || (name == "FromStr" && derives("Deserialize")) {
                continue;
            }
            for file in self.files_with(scope.krate, needle) {
                let file = self.scope(file).file.clone();
                if !Rc::ptr_eq(&file, &scope.file) {
                    look_into(scopes(&|other| Rc::ptr_eq(&other.file, &file)));
                }
            }
        }
        found
    }

    fn is_for(&self, item: &syn::ItemImpl, scope: ScopeId, id: DefinitionId, name: &syn::Ident) -> bool {
        let Type::Path(path) = &*item.self_ty else { return false };
        path.path.segments.last().is_some_and(|last| last.ident == *name)
            && matches!(self.resolve(&item.self_ty, scope, &[]), Ty::Defined { definition, .. } if definition == id)
    }

    /// The files of a crate in which something stands, parsed.
    fn files_with(&self, krate: CrateId, needle: &'static str) -> Vec<ScopeId> {
        if let Some((_, _, known)) = self.searched.borrow().iter().find(|(of, what, _)| *of == krate && *what == needle)
        {
            return known.clone();
        }
        let files: Vec<(ScopeId, Rc<Scope>)> = {
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
                scope.file.forget();
            }
        }
        self.searched.borrow_mut().push((krate, needle, found.clone()));
        found
    }

    fn resolve_type(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)], depth: usize) -> Ty {
        let inner = |ty: &Type| self.resolve_type(ty, scope, generics, depth + 1);
        match ty {
            _ if depth > LONGEST_CHAIN => unknown(ty),
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
        if depth > LONGEST_CHAIN {
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

    /// A function or constant that a path names.
    fn value<T>(&self, path: &Path, scope: ScopeId, pick: &dyn Fn(&Items, &str) -> Option<T>) -> Option<(T, ScopeId)> {
        self.value_at(&import_path(path), scope, pick, &mut Vec::new())
    }

    fn value_at<T>(
        &self,
        path: &ImportPath,
        scope: ScopeId,
        pick: &dyn Fn(&Items, &str) -> Option<T>,
        trail: &mut Trail,
    ) -> Option<(T, ScopeId)> {
        let (name, modules) = path.segments.split_last()?;
        if !modules.is_empty() || path.absolute {
            let modules = ImportPath { absolute: path.absolute, segments: modules.to_vec() };
            let Entity::Scope(module) = self.entity(scope, &modules)? else { return None };
            return self.declared_value(module, name, pick, trail);
        }
        let mut next = Some(scope);
        while let Some(id) = next {
            if let Some(found) = self.declared_value(id, name, pick, trail) {
                return Some(found);
            }
            let scope = self.scope(id);
            next = if scope.is_block { scope.parent } else { None };
        }
        None
    }

    fn declared_value<T>(
        &self,
        id: ScopeId,
        name: &str,
        pick: &dyn Fn(&Items, &str) -> Option<T>,
        trail: &mut Trail,
    ) -> Option<(T, ScopeId)> {
        let step = (id, name.to_owned());
        if trail.contains(&step) {
            return None;
        }
        let scope = self.scope(id);
        let items = self.items(&scope, id)?;
        if let Some(found) = pick(items, name) {
            return Some((found, id));
        }
        trail.push(step);
        let imports = items.imports.get(name).into_iter().flatten();
        let found = imports.into_iter().find_map(|path| self.value_at(path, id, pick, trail)).or_else(|| {
            items.globs.iter().find_map(|path| match self.entity(id, path)? {
                Entity::Scope(module) => self.declared_value(module, name, pick, trail),
                _ => None,
            })
        });
        trail.pop();
        found
    }
}

impl Types for Sources {
    fn definition(&self, id: DefinitionId) -> Rc<Definition> {
        self.complete(id)
    }

    fn resolve(&self, ty: &Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty {
        self.resolve_type(ty, scope, generics, 0)
    }

    fn function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        self.value(path, scope, &|items, name| items.functions.get(name).cloned())
    }

    fn constant(&self, path: &Path, scope: ScopeId) -> Option<(Rc<Expr>, ScopeId)> {
        self.value(path, scope, &|items, name| items.constants.get(name).cloned())
    }
}

/// A path without its generic arguments.
pub(crate) fn import_path(path: &Path) -> ImportPath {
    ImportPath {
        absolute: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
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

fn is_in_library(path: &str, name: &str) -> bool {
    let krate = path.split("::").next().unwrap_or(path);
    LIBRARIES.iter().any(|(known, names)| *known == krate && names.contains(&name))
}

fn unknown(ty: &Type) -> Ty {
    Ty::Unknown(written(ty))
}

/// A type as people write it.
pub(crate) fn written(ty: &impl ToTokens) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, plain) in
        [(" :: ", "::"), (":: ", "::"), (" ::", "::"), (" <", "<"), ("< ", "<"), (" >", ">"), (" ,", ","), ("& ", "&")]
    {
        text = text.replace(spaced, plain);
    }
    text
}
