//! Name resolution: types, functions and constants by path, through `use`, with visibility.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{ImplItem, Path};

use super::items::{ImportPath, TypeItem};
use super::{ModuleItems, SourceScope, SourceTree};
use crate::ty::{DefinitionId, ScopeId};

/// The longest chain of imports that is followed.
const LONGEST_CHAIN: usize = 200;

/// The types of the prelude.
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

/// Modules of libraries with the types that are known, for glob imports.
const MODULES: [(&str, &[&str]); 20] = [
    ("std::borrow", &["Cow"]),
    ("std::cell", &["Cell", "RefCell"]),
    ("std::cmp", &["Reverse"]),
    ("std::collections", &["BTreeMap", "BTreeSet", "BinaryHeap", "HashMap", "HashSet", "LinkedList", "VecDeque"]),
    ("std::ffi", &["CStr", "CString", "OsStr", "OsString"]),
    ("std::marker", &["PhantomData"]),
    ("std::net", &["IpAddr", "Ipv4Addr", "Ipv6Addr", "SocketAddr", "SocketAddrV4", "SocketAddrV6"]),
    ("std::num", &["Saturating", "Wrapping"]),
    ("std::ops", &["Bound", "Range", "RangeFrom", "RangeInclusive", "RangeTo"]),
    ("std::path", &["Path", "PathBuf"]),
    ("std::rc", &["Rc", "Weak"]),
    ("std::sync", &["Arc", "Mutex", "RwLock", "Weak"]),
    ("std::time", &["Duration", "SystemTime"]),
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
    ("chrono::naive", &["NaiveDate", "NaiveDateTime", "NaiveTime"]),
    ("chrono::offset", &["FixedOffset", "Local", "Utc"]),
    (
        "chrono::prelude",
        &["DateTime", "FixedOffset", "Local", "Month", "NaiveDate", "NaiveDateTime", "NaiveTime", "Utc", "Weekday"],
    ),
    ("serde_json", &["Map", "Number", "Value"]),
    ("url", &["Url"]),
    ("uuid", &["NonNilUuid", "Uuid"]),
];

/// The entity that a path names, as far as types are concerned.
#[derive(Clone)]
pub(crate) enum NamedEntity {
    Scope(ScopeId),
    Defined(DefinitionId),
    Alias(ScopeId, Rc<syn::ItemType>),
    /// An item of a crate that is not read, by its path.
    Library(String),
    /// A trait or a union, with the scope that declares it.
    Other(#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only `adopt` looks at traits"))] ScopeId),
}

/// The names looked up so far while one name is resolved. No name is looked up twice, so that cycles end and modules
/// that import each other do not multiply the work.
#[derive(Default)]
struct NameWalk {
    /// The result by scope, name and viewer; `None` while the lookup runs.
    known: HashMap<(ScopeId, String, Option<ScopeId>), Option<NamedEntity>>,
    depth: usize,
}

/// The lookups made so far: scope, name and viewer.
pub(super) type TriedNames = HashSet<(ScopeId, String, Option<ScopeId>)>;

/// Picks an item of a module by name.
type PickItem<'a, T> = &'a dyn Fn(&ModuleItems, &str) -> Option<VisibleItem<T>>;

/// The visibility of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemVisibility {
    Everywhere,
    /// Visible in a module and its submodules.
    Within(ScopeId),
}

/// An item with its visibility.
#[derive(Clone, Debug)]
pub(crate) struct VisibleItem<T> {
    pub(super) visibility: ItemVisibility,
    pub(super) item: T,
}

impl SourceTree {
    /// Resolves a path in a scope.
    pub(crate) fn entity(&self, scope: ScopeId, path: &ImportPath) -> Option<NamedEntity> {
        self.follow(scope, path, &mut NameWalk::default())
    }

    fn follow(&self, scope: ScopeId, path: &ImportPath, walk: &mut NameWalk) -> Option<NamedEntity> {
        let (first, rest) = path.segments.split_first()?;
        let mut entity = match first.as_str() {
            _ if path.absolute => self.library_entity(scope, first),
            "crate" => NamedEntity::Scope(self.crate_of(scope).root.get()?),
            "self" => NamedEntity::Scope(self.module_of(scope)),
            "super" => NamedEntity::Scope(self.module_around(scope)?),
            name => match self.named(scope, name, walk) {
                Some(entity) => entity,
                // A crate that `Cargo.toml` does not list.
                None if !rest.is_empty() => NamedEntity::Library(name.to_owned()),
                None => return None,
            },
        };
        for name in rest {
            entity = match entity {
                NamedEntity::Scope(id) if name == "super" => NamedEntity::Scope(self.module_around(id)?),
                NamedEntity::Scope(id) if name == "self" => NamedEntity::Scope(id),
                NamedEntity::Scope(id) => self.declared(id, name, None, walk)?,
                NamedEntity::Library(path) => NamedEntity::Library(format!("{path}::{name}")),
                NamedEntity::Defined(_) | NamedEntity::Alias(..) | NamedEntity::Other(_) => return None,
            };
        }
        Some(entity)
    }

    /// Resolves a single name: declarations in the scope and around it first, then crates, then the prelude.
    fn named(&self, scope: ScopeId, name: &str, walk: &mut NameWalk) -> Option<NamedEntity> {
        let mut next = Some(scope);
        while let Some(id) = next {
            if let Some(found) = self.declared(id, name, None, walk) {
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
            return Some(NamedEntity::Library((*path).to_owned()));
        }
        LANGUAGE.contains(&name).then(|| NamedEntity::Library(name.to_owned()))
    }

    fn library_entity(&self, scope: ScopeId, name: &str) -> NamedEntity {
        match name {
            "std" | "core" | "alloc" => NamedEntity::Library("std".to_owned()),
            _ => {
                let krate = self.scope(scope).krate;
                self.library(krate, name)
                    .map_or_else(|| NamedEntity::Library(self.package_name(scope, name)), NamedEntity::Scope)
            }
        }
    }

    /// Returns the own name of a dependency that may be renamed.
    fn package_name(&self, scope: ScopeId, name: &str) -> String {
        let krate = self.crate_of(scope);
        krate.dependencies.get(name).map_or_else(|| name.to_owned(), |dependency| dependency.package.replace('-', "_"))
    }

    /// Returns the item that a module declares or imports under a name. A `viewer` looks through a glob import and gets
    /// only visible items.
    fn declared(&self, id: ScopeId, name: &str, viewer: Option<ScopeId>, walk: &mut NameWalk) -> Option<NamedEntity> {
        let scope = self.scope(id);
        if let Some(child) = self.child(&scope, name, viewer) {
            return Some(child);
        }
        let step = (id, name.to_owned(), viewer);
        if let Some(known) = walk.known.get(&step) {
            return known.clone();
        }
        if walk.depth > LONGEST_CHAIN {
            return None;
        }
        let items = self.items(&scope, id)?;
        if let Some(found) = items.types.get(name).filter(|found| self.is_visible_to(found.visibility, viewer)) {
            return Some(match &found.item {
                TypeItem::Defined(definition) => NamedEntity::Defined(*definition),
                TypeItem::Alias(alias) => NamedEntity::Alias(id, alias.clone()),
                TypeItem::Other => NamedEntity::Other(id),
            });
        }
        if let Some(child) = self.child(&scope, name, viewer) {
            return Some(child);
        }
        walk.known.insert(step.clone(), None);
        walk.depth += 1;
        let included = items.included.iter().find_map(|&part| self.declared(part, name, viewer, walk));
        let found = included.or_else(|| self.imported(id, items, name, viewer, walk));
        walk.depth -= 1;
        walk.known.insert(step, found.clone());
        found
    }

    fn child(&self, scope: &SourceScope, name: &str, viewer: Option<ScopeId>) -> Option<NamedEntity> {
        let child = *scope.children.borrow().get(name)?;
        self.is_visible_to(self.scope(child).visibility, viewer).then_some(NamedEntity::Scope(child))
    }

    /// Returns `true` if a viewer sees a name. Without a viewer the path is explicit, and rustc complains if it is not
    /// visible.
    pub(super) fn is_visible_to(&self, visibility: ItemVisibility, viewer: Option<ScopeId>) -> bool {
        viewer.is_none_or(|viewer| self.is_visible(visibility, viewer))
    }

    fn imported(
        &self,
        id: ScopeId,
        items: &ModuleItems,
        name: &str,
        viewer: Option<ScopeId>,
        walk: &mut NameWalk,
    ) -> Option<NamedEntity> {
        let seen = |import: &&VisibleItem<ImportPath>| self.is_visible_to(import.visibility, viewer);
        let imports = items.imports.get(name).map(Vec::as_slice).unwrap_or_default();
        if let Some(found) = imports.iter().filter(seen).find_map(|import| self.follow(id, &import.item, walk)) {
            return Some(found);
        }
        // Only some names of libraries are known, so the scanned sources take precedence.
        let mut of_library = None;
        for glob in items.globs.iter().filter(seen) {
            match self.follow(id, &glob.item, walk) {
                Some(NamedEntity::Scope(module)) => {
                    if let Some(found) = self.declared(module, name, Some(id), walk) {
                        return Some(found);
                    }
                }
                Some(NamedEntity::Library(path)) if is_in_library(&path, name) => {
                    of_library.get_or_insert_with(|| NamedEntity::Library(format!("{path}::{name}")));
                }
                _ => {}
            }
        }
        of_library
    }

    /// Returns the import of a name in a scope.
    pub(crate) fn import(&self, id: ScopeId, name: &str) -> Option<ImportPath> {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope(id);
            if let Some(paths) = self.items(&scope, id).and_then(|items| items.imports.get(name)) {
                return paths.first().map(|import| import.item.clone());
            }
            next = if scope.is_block { scope.parent } else { None };
        }
        None
    }

    /// Returns the module of a scope.
    pub(super) fn module_of(&self, id: ScopeId) -> ScopeId {
        let scope = self.scope(id);
        match scope.parent {
            Some(parent) if scope.is_block => self.module_of(parent),
            _ => id,
        }
    }

    pub(super) fn module_around(&self, id: ScopeId) -> Option<ScopeId> {
        let parent = self.scope(self.module_of(id)).parent?;
        Some(self.module_of(parent))
    }

    /// Returns a function or constant that a path names.
    pub(super) fn value<T>(&self, path: &Path, scope: ScopeId, pick: PickItem<'_, T>) -> Option<(T, ScopeId)> {
        self.value_at(&import_path(path), scope, pick, &mut TriedNames::new())
    }

    pub(super) fn value_at<T>(
        &self,
        path: &ImportPath,
        scope: ScopeId,
        pick: PickItem<'_, T>,
        tried: &mut TriedNames,
    ) -> Option<(T, ScopeId)> {
        let (name, modules) = path.segments.split_last()?;
        if !modules.is_empty() || path.absolute {
            let modules = ImportPath { absolute: path.absolute, segments: modules.to_vec() };
            let NamedEntity::Scope(module) = self.entity(scope, &modules)? else { return None };
            return self.declared_value(module, name, None, pick, tried);
        }
        let mut next = Some(scope);
        while let Some(id) = next {
            if let Some(found) = self.declared_value(id, name, None, pick, tried) {
                return Some(found);
            }
            let scope = self.scope(id);
            next = if scope.is_block { scope.parent } else { None };
        }
        None
    }

    pub(super) fn declared_value<T>(
        &self,
        id: ScopeId,
        name: &str,
        viewer: Option<ScopeId>,
        pick: PickItem<'_, T>,
        tried: &mut TriedNames,
    ) -> Option<(T, ScopeId)> {
        if !tried.insert((id, name.to_owned(), viewer)) {
            return None;
        }
        let scope = self.scope(id);
        let items = self.items(&scope, id)?;
        if let Some(found) = pick(items, name).filter(|found| self.is_visible_to(found.visibility, viewer)) {
            return Some((found.item, id));
        }
        let seen = |import: &&VisibleItem<ImportPath>| self.is_visible_to(import.visibility, viewer);
        let mut included = items.included.iter();
        let mut imports = items.imports.get(name).into_iter().flatten().filter(seen);
        let mut globs = items.globs.iter().filter(seen);
        included
            .find_map(|&part| self.declared_value(part, name, viewer, pick, tried))
            .or_else(|| imports.find_map(|import| self.value_at(&import.item, id, pick, tried)))
            .or_else(|| {
                globs.find_map(|glob| match self.entity(id, &glob.item)? {
                    NamedEntity::Scope(module) => self.declared_value(module, name, Some(id), pick, tried),
                    _ => None,
                })
            })
    }

    /// Returns `Type::function` from the type's own `impl` blocks.
    pub(super) fn associated_function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        let path = import_path(path);
        let (name, of) = path.segments.split_last()?;
        let of = ImportPath { absolute: path.absolute, segments: of.to_vec() };
        let NamedEntity::Defined(id) = self.entity(scope, &of)? else { return None };
        let definition = self.complete_definition(id);
        let blocks = definition.impls.iter().filter(|(of_trait, _)| of_trait.is_empty());
        let function = blocks.flat_map(|(_, block)| &block.items).find_map(|item| match item {
            ImplItem::Fn(function) if function.sig.ident == name => Some(function),
            _ => None,
        })?;
        let function = syn::ItemFn {
            attrs: function.attrs.clone(),
            vis: function.vis.clone(),
            modifiers: function.modifiers.clone(),
            sig: function.sig.clone(),
            block: Box::new(function.block.clone()),
        };
        Some((Rc::new(function), definition.scope))
    }

    /// Returns the visibility that `pub`, `pub(..)` or nothing has in a scope.
    pub(super) fn visibility(&self, written: &syn::Visibility, scope: ScopeId) -> ItemVisibility {
        let module = self.module_of(scope);
        ItemVisibility::Within(match written {
            syn::Visibility::Public(_) => return ItemVisibility::Everywhere,
            syn::Visibility::Inherited => module,
            syn::Visibility::Restricted(within) => self.module_above(module, &within.path).unwrap_or(module),
        })
    }

    /// Returns the enclosing module that `pub(in ..)` names.
    fn module_above(&self, module: ScopeId, path: &syn::Path) -> Option<ScopeId> {
        let mut names = path.segments.iter().map(|segment| segment.ident.to_string()).peekable();
        if names.next_if(|name| name == "crate").is_some() {
            let root = self.scope(self.crate_of(module).root.get()?).path.clone();
            let wanted = names.fold(root, |path, name| format!("{path}::{name}"));
            return self.modules_around(module).find(|&id| self.scope(id).path == wanted);
        }
        let levels = names.filter(|name| name == "super").count();
        self.modules_around(module).nth(levels)
    }

    /// Returns a module and its enclosing modules.
    fn modules_around(&self, module: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(module), |&id| self.module_around(id))
    }

    pub(super) fn is_visible(&self, visibility: ItemVisibility, from: ScopeId) -> bool {
        match visibility {
            ItemVisibility::Everywhere => true,
            ItemVisibility::Within(module) => self.modules_around(self.module_of(from)).any(|id| id == module),
        }
    }
}

/// Returns a path without its generic arguments.
pub(crate) fn import_path(path: &Path) -> ImportPath {
    ImportPath {
        absolute: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
    }
}

/// Returns `true` if a module of a library has a known type of this name.
pub(super) fn is_in_library(module: &str, name: &str) -> bool {
    let is_listed = MODULES.iter().any(|(known, names)| *known == module && names.contains(&name));
    let has_prefix = [("std::num", "NonZero"), ("std::sync::atomic", "Atomic")]
        .iter()
        .any(|(known, prefix)| *known == module && name.starts_with(prefix));
    is_listed || has_prefix
}
