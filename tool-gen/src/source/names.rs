//! What a name means where it stands.

use std::collections::HashMap;
use std::rc::Rc;

use syn::Path;
use syn::ext::IdentExt;

use super::items::{ImportPath, TypeItem};
use super::libraries::is_in_library;
use super::visibility::{Visibility, Visible};
use super::{Items, Scope, Sources};
use crate::ty::{DefinitionId, ScopeId};

/// How long a chain of names may be.
const LONGEST_CHAIN: usize = 200;

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

/// What has been looked for on the way to one name: nothing is looked for twice, so that circles end and modules that
/// import each other do not multiply.
#[derive(Default)]
struct Walk {
    /// What was found of a name in a scope, by whom it was asked; nothing as long as it is being looked for.
    known: HashMap<(ScopeId, String, Option<ScopeId>), Option<Entity>>,
    depth: usize,
}

impl Sources {
    /// What a path names in a scope.
    pub(crate) fn entity(&self, scope: ScopeId, path: &ImportPath) -> Option<Entity> {
        self.follow(scope, path, &mut Walk::default())
    }

    fn follow(&self, scope: ScopeId, path: &ImportPath, walk: &mut Walk) -> Option<Entity> {
        let (first, rest) = path.segments.split_first()?;
        let mut entity = match first.as_str() {
            _ if path.absolute => self.library_entity(scope, first),
            "crate" => Entity::Scope(self.crate_of(scope).root.get()?),
            "self" => Entity::Scope(self.module_of(scope)),
            "super" => Entity::Scope(self.module_around(scope)?),
            name => match self.named(scope, name, walk) {
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
                Entity::Scope(id) => self.declared(id, name, None, walk)?,
                Entity::Library(path) => Entity::Library(format!("{path}::{name}")),
                Entity::Defined(_) | Entity::Alias(..) | Entity::Other => return None,
            };
        }
        Some(entity)
    }

    /// What a single name means: what is declared here or around, then the crates, then what is always there.
    fn named(&self, scope: ScopeId, name: &str, walk: &mut Walk) -> Option<Entity> {
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

    /// What a module declares or imports under a name. A `viewer` that asks by a glob gets only what it can see.
    fn declared(&self, id: ScopeId, name: &str, viewer: Option<ScopeId>, walk: &mut Walk) -> Option<Entity> {
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
        if let Some(found) = items.types.get(name).filter(|found| self.is_seen(found.visibility, viewer)) {
            return Some(match &found.item {
                TypeItem::Defined(definition) => Entity::Defined(*definition),
                TypeItem::Alias(alias) => Entity::Alias(id, alias.clone()),
                TypeItem::Other => Entity::Other,
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

    fn child(&self, scope: &Scope, name: &str, viewer: Option<ScopeId>) -> Option<Entity> {
        let child = *scope.children.borrow().get(name)?;
        self.is_seen(self.scope(child).visibility, viewer).then_some(Entity::Scope(child))
    }

    /// Whether a viewer sees a name; one that says where it looks does, or rustc complains.
    pub(super) fn is_seen(&self, visibility: Visibility, viewer: Option<ScopeId>) -> bool {
        viewer.is_none_or(|viewer| self.is_visible(visibility, viewer))
    }

    fn imported(
        &self,
        id: ScopeId,
        items: &Items,
        name: &str,
        viewer: Option<ScopeId>,
        walk: &mut Walk,
    ) -> Option<Entity> {
        let seen = |import: &&Visible<ImportPath>| self.is_seen(import.visibility, viewer);
        let imports = items.imports.get(name).map(Vec::as_slice).unwrap_or_default();
        if let Some(found) = imports.iter().filter(seen).find_map(|import| self.follow(id, &import.item, walk)) {
            return Some(found);
        }
        // Of libraries only some names are known: what the sources show comes first.
        let mut of_library = None;
        for glob in items.globs.iter().filter(seen) {
            match self.follow(id, &glob.item, walk) {
                Some(Entity::Scope(module)) => {
                    if let Some(found) = self.declared(module, name, Some(id), walk) {
                        return Some(found);
                    }
                }
                Some(Entity::Library(path)) if is_in_library(&path, name) => {
                    of_library.get_or_insert_with(|| Entity::Library(format!("{path}::{name}")));
                }
                _ => {}
            }
        }
        of_library
    }

    /// The import by which a scope has a name, if it has it by one.
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

    /// The module that a scope is, or stands in.
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
}

/// A path without its generic arguments.
pub(crate) fn import_path(path: &Path) -> ImportPath {
    ImportPath {
        absolute: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
    }
}
