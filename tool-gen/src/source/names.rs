//! What a name means where it stands.

use std::rc::Rc;

use syn::Path;
use syn::ext::IdentExt;

use super::items::{ImportPath, TypeItem};
use super::{Items, Sources};
use crate::ty::{DefinitionId, ScopeId};

/// How long a chain of names may be. A circle is longer.
pub(super) const LONGEST_CHAIN: usize = 64;

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
pub(super) type Trail = Vec<(ScopeId, String)>;

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
}

/// A path without its generic arguments.
pub(crate) fn import_path(path: &Path) -> ImportPath {
    ImportPath {
        absolute: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
    }
}

fn is_in_library(path: &str, name: &str) -> bool {
    let krate = path.split("::").next().unwrap_or(path);
    LIBRARIES.iter().any(|(known, names)| *known == krate && names.contains(&name))
}
