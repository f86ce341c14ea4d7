//! The functions and constants that paths name.

use syn::Path;

use super::items::ImportPath;
use super::names::{Entity, Trail, import_path};
use super::{Items, Sources};
use crate::ty::ScopeId;

impl Sources {
    /// A function or constant that a path names.
    pub(super) fn value<T>(
        &self,
        path: &Path,
        scope: ScopeId,
        pick: &dyn Fn(&Items, &str) -> Option<T>,
    ) -> Option<(T, ScopeId)> {
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
