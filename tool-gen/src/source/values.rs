//! The functions and constants that paths name.

use std::collections::HashSet;
use std::rc::Rc;

use syn::{ImplItem, Path};

use super::items::ImportPath;
use super::names::{Entity, import_path};
use super::visibility::Visible;
use super::{Items, Sources};
use crate::ty::ScopeId;

/// Where a name has been looked for, and by whom: once is enough.
pub(super) type Tried = HashSet<(ScopeId, String, Option<ScopeId>)>;

/// Takes what is wanted out of the items of a module.
type Pick<'a, T> = &'a dyn Fn(&Items, &str) -> Option<Visible<T>>;

impl Sources {
    /// A function or constant that a path names.
    pub(super) fn value<T>(&self, path: &Path, scope: ScopeId, pick: Pick<'_, T>) -> Option<(T, ScopeId)> {
        self.value_at(&import_path(path), scope, pick, &mut Tried::new())
    }

    pub(super) fn value_at<T>(
        &self,
        path: &ImportPath,
        scope: ScopeId,
        pick: Pick<'_, T>,
        tried: &mut Tried,
    ) -> Option<(T, ScopeId)> {
        let (name, modules) = path.segments.split_last()?;
        if !modules.is_empty() || path.absolute {
            let modules = ImportPath { absolute: path.absolute, segments: modules.to_vec() };
            let Entity::Scope(module) = self.entity(scope, &modules)? else { return None };
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
        pick: Pick<'_, T>,
        tried: &mut Tried,
    ) -> Option<(T, ScopeId)> {
        if !tried.insert((id, name.to_owned(), viewer)) {
            return None;
        }
        let scope = self.scope(id);
        let items = self.items(&scope, id)?;
        if let Some(found) = pick(items, name).filter(|found| self.is_seen(found.visibility, viewer)) {
            return Some((found.item, id));
        }
        let seen = |import: &&Visible<ImportPath>| self.is_seen(import.visibility, viewer);
        let mut included = items.included.iter();
        let mut imports = items.imports.get(name).into_iter().flatten().filter(seen);
        let mut globs = items.globs.iter().filter(seen);
        included
            .find_map(|&part| self.declared_value(part, name, viewer, pick, tried))
            .or_else(|| imports.find_map(|import| self.value_at(&import.item, id, pick, tried)))
            .or_else(|| {
                globs.find_map(|glob| match self.entity(id, &glob.item)? {
                    Entity::Scope(module) => self.declared_value(module, name, Some(id), pick, tried),
                    _ => None,
                })
            })
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
