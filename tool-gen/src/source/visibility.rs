//! Who can see a name.

use super::Sources;
use crate::ty::ScopeId;

/// Where a name can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Everywhere,
    /// In a module and in all inside of it.
    Within(ScopeId),
}

/// Something that can be named, and by whom.
#[derive(Clone, Debug)]
pub(crate) struct Visible<T> {
    pub(super) visibility: Visibility,
    pub(super) item: T,
}

impl Sources {
    /// What `pub`, `pub(..)` or nothing means in a scope.
    pub(super) fn visibility(&self, written: &syn::Visibility, scope: ScopeId) -> Visibility {
        let module = self.module_of(scope);
        Visibility::Within(match written {
            syn::Visibility::Public(_) => return Visibility::Everywhere,
            syn::Visibility::Inherited => module,
            syn::Visibility::Restricted(within) => self.module_above(module, &within.path).unwrap_or(module),
        })
    }

    /// The module that `pub(in ..)` names: one of those around.
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

    /// A module and those around it.
    fn modules_around(&self, module: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(module), |&id| self.module_around(id))
    }

    pub(super) fn is_visible(&self, visibility: Visibility, from: ScopeId) -> bool {
        match visibility {
            Visibility::Everywhere => true,
            Visibility::Within(module) => self.modules_around(self.module_of(from)).any(|id| id == module),
        }
    }
}
