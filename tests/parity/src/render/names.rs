//! Spelling of names in a module: by a full path, a relative one, or through some form of `use`.

use std::collections::{HashMap, HashSet};

use crate::Random;
use crate::model::Module;

/// The names of one module.
pub(super) struct Names<'a> {
    pub(super) random: Random,
    /// The module's path from the crate's root.
    at: Vec<String>,
    /// Names that are already taken here.
    taken: HashSet<String>,
    /// The spelling of each item.
    known: HashMap<String, String>,
    imports: Vec<String>,
    constants: Vec<String>,
    /// `true` if one `use` imports everything.
    grouped: bool,
    /// The parent, if the module starts with `use super::*`.
    parent: Option<&'a Names<'a>>,
    /// `true` if there is a glob already; a second one could make a name ambiguous.
    has_glob: bool,
}

/// Names that are in scope without a `use`.
const PRELUDE: &[&str] =
    &["std::vec::Vec", "std::string::String", "std::option::Option", "std::boxed::Box", "std::result::Result"];

/// Alternative paths of library items.
const OTHER_PATHS: &[(&str, &str)] = &[
    ("std::collections::HashMap", "std::collections::hash_map::HashMap"),
    ("std::collections::BTreeMap", "std::collections::btree_map::BTreeMap"),
    ("std::option::Option", "core::option::Option"),
    ("std::time::Duration", "core::time::Duration"),
    ("std::num::NonZeroU8", "core::num::NonZeroU8"),
    ("serde_json::Value", "serde_json::value::Value"),
    ("chrono::NaiveDate", "chrono::naive::NaiveDate"),
    ("chrono::DateTime", "chrono::prelude::DateTime"),
    ("chrono::NaiveTime", "chrono::prelude::NaiveTime"),
    ("chrono::NaiveDateTime", "chrono::prelude::NaiveDateTime"),
    ("chrono::Utc", "chrono::offset::Utc"),
];

/// Library modules that programs tend to import as a whole.
const GLOBS: &[&str] = &["std::collections", "chrono::prelude"];

impl<'a> Names<'a> {
    pub(super) fn new(
        mut random: Random,
        module: &Module,
        taken: HashSet<String>,
        parent: Option<&'a Names<'a>>,
    ) -> Self {
        let imports = if parent.is_some() { vec!["use super::*;".to_owned()] } else { Vec::new() };
        let has_glob = parent.is_some() || module.exports.iter().any(|export| export.ends_with("*;"));
        let grouped = random.chance(10);
        Self {
            random,
            grouped,
            at: module.path.clone(),
            taken,
            known: HashMap::new(),
            imports,
            constants: Vec::new(),
            parent,
            has_glob,
        }
    }

    /// Returns the name of a constant of this module with this value.
    pub(super) fn constant(&mut self, value: usize) -> String {
        let name = format!("LENGTH_{value}");
        if self.taken.insert(name.clone()) {
            self.constants.push(format!("pub const {name}: usize = {value};"));
        }
        name
    }

    /// The constants that were used.
    pub(super) fn constants(&self) -> String {
        self.constants.iter().map(|constant| format!("{constant}\n")).collect()
    }

    /// The `use` items, in order of first use.
    pub(super) fn imports(&self) -> String {
        if self.grouped && self.imports.len() > 1 {
            let items = self.imports.iter().filter_map(|import| import.strip_prefix("use ")?.strip_suffix(';'));
            return format!("use {{{}}};\n", items.collect::<Vec<_>>().join(", "));
        }
        self.imports.iter().map(|import| format!("{import}\n")).collect()
    }

    /// Spells a type, function or macro of a library. Primitive types have no path.
    pub(super) fn library(&mut self, path: &str) -> String {
        if !path.contains("::") {
            return path.to_owned();
        }
        if let Some(known) = self.find(path) {
            return known;
        }
        let key = path;
        let other = OTHER_PATHS.iter().find(|(usual, _)| *usual == path).map(|(_, other)| *other);
        let path = other.filter(|_| self.random.chance(12)).unwrap_or(path);
        let Some((module, name)) = path.rsplit_once("::") else { return path.to_owned() };
        if PRELUDE.contains(&path) && !self.means_something(name) && self.random.chance(95) {
            self.taken.insert(name.to_owned());
            return self.remember(key, path, Some(name.to_owned()));
        }
        let spelling = match self.random.below(10) {
            0 => return path.to_owned(),
            1 => return format!("::{path}"),
            2 if module.contains("::") => self.import_module(module).map(|module| format!("{module}::{name}")),
            3 => self.import(path, Some(format!("{name}From"))),
            4 if GLOBS.contains(&module) && !self.has_glob && self.taken.insert(name.to_owned()) => {
                self.has_glob = true;
                self.imports.push(format!("use {module}::*;"));
                Some(name.to_owned())
            }
            _ => self.import(path, None),
        };
        self.remember(key, path, spelling)
    }

    /// Spells a macro, which is found by its name and therefore keeps it.
    pub(super) fn annotation(&mut self, path: &str) -> String {
        if let Some(known) = self.find(path) {
            return known;
        }
        if self.random.chance(15) {
            return path.to_owned();
        }
        let crate_name = path.split("::").next().filter(|_| self.random.chance(5));
        let spelling = match crate_name {
            Some(name) if self.taken.insert(format!("the_{name}")) => {
                self.imports.push(format!("use {name} as the_{name};"));
                Some(format!("the_{path}"))
            }
            _ => self.import(path, None),
        };
        self.remember(path, path, spelling)
    }

    /// Spells a type of the crate, by any path that leads to it.
    pub(super) fn local(&mut self, key: &str, paths: &[Vec<String>]) -> String {
        if let Some(known) = self.find(key) {
            return known;
        }
        let path = self.random.pick(paths);
        let (module, name) = path.split_at(path.len() - 1);
        let name = name[0].clone();
        if module == self.at {
            return if self.random.chance(10) { format!("self::{name}") } else { name };
        }
        let absolute = format!("crate::{}", path.join("::"));
        let relative = self.relative(&path);
        let spelling = match self.random.below(10) {
            0 => return absolute,
            1 => return relative,
            2 => {
                let module = if self.random.chance(50) {
                    format!("crate::{}", module.join("::"))
                } else {
                    self.relative(module)
                };
                self.import_module(&module).map(|module| format!("{module}::{name}"))
            }
            3 => self.import(&relative, Some(format!("{name}Here"))),
            4 if !self.has_glob && !self.taken.contains(&name) && !self.at.starts_with(module) => {
                self.has_glob = true;
                self.imports.push(format!("use crate::{}::*;", module.join("::")));
                // Nothing else that the glob imports is used by its bare name.
                self.taken.insert(name.clone());
                Some(name)
            }
            5..8 => self.import(&relative, None),
            _ => self.import(&absolute, None),
        };
        spelling.map_or(absolute, |spelling| {
            self.known.insert(key.to_owned(), spelling.clone());
            spelling
        })
    }

    fn find(&self, key: &str) -> Option<String> {
        if let Some(known) = self.known.get(key) {
            return Some(known.clone());
        }
        // Imports of the parent are visible through the glob, unless the name is taken here.
        let inherited = self.parent?.known.get(key)?;
        let first = inherited.split("::").next()?;
        let is_relative = matches!(first, "super" | "self" | "crate" | "");
        (!is_relative && !self.taken.contains(first)).then(|| inherited.clone())
    }

    /// Stores a spelling, which defaults to the path.
    fn remember(&mut self, key: &str, path: &str, spelling: Option<String>) -> String {
        let spelling = spelling.unwrap_or_else(|| path.to_owned());
        self.known.insert(key.to_owned(), spelling.clone());
        spelling
    }

    /// Returns `true` if a name is taken here, or in the parent whose names are imported.
    fn means_something(&self, name: &str) -> bool {
        self.taken.contains(name) || self.parent.is_some_and(|parent| parent.means_something(name))
    }

    /// Adds `use path;` or `use path as name;`, if the name is free.
    fn import(&mut self, path: &str, renamed: Option<String>) -> Option<String> {
        let (module, own) = path.rsplit_once("::")?;
        let name = renamed.clone().unwrap_or_else(|| own.to_owned());
        if !self.taken.insert(name.clone()) {
            return None;
        }
        let renamed = renamed.map(|name| format!(" as {name}")).unwrap_or_default();
        self.imports.push(match self.random.below(4) {
            0 => format!("use {module}::{{{own}{renamed}}};"),
            _ => format!("use {path}{renamed};"),
        });
        Some(name)
    }

    /// Imports a module, so that its items are named through it.
    fn import_module(&mut self, path: &str) -> Option<String> {
        let (above, own) = path.rsplit_once("::")?;
        if matches!(own, "super" | "self" | "crate") {
            return None;
        }
        let renamed = self.random.chance(50);
        let name = if renamed { format!("{}_module", own.trim_start_matches("r#")) } else { own.to_owned() };
        if !self.taken.insert(name.clone()) {
            return None;
        }
        self.imports.push(match (renamed, self.random.chance(30)) {
            (true, true) => format!("use {above}::{{{own}::{{self as {name}}}}};"),
            (true, false) => format!("use {path} as {name};"),
            (false, true) => format!("use {path}::{{self}};"),
            (false, false) => format!("use {path};"),
        });
        Some(name)
    }

    /// Returns a relative path, with `super` and `self`.
    fn relative(&self, path: &[String]) -> String {
        let common = self.at.iter().zip(path).take_while(|(here, there)| here == there).count();
        let mut parts = vec!["super"; self.at.len() - common];
        if parts.is_empty() {
            parts.push("self");
        }
        parts.extend(path[common..].iter().map(String::as_str));
        parts.join("::")
    }
}
