//! The functions and constants that paths name.

use std::rc::Rc;

use syn::{ImplItem, Path};

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

    /// `Type::function`, of the type's own `impl` blocks.
    pub(super) fn associated_function(&self, path: &Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)> {
        let path = import_path(path);
        let (name, of) = path.segments.split_last()?;
        let of = ImportPath { absolute: path.absolute, segments: of.to_vec() };
        let Entity::Defined(id) = self.entity(scope, &of)? else { return None };
        let definition = self.complete(id);
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
}
