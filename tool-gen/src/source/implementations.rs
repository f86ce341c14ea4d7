//! Which traits are implemented for a type.

use std::rc::Rc;

use quote::ToTokens;
use syn::Type;

use super::{CrateId, Scope, Sources};
use crate::ty::{DefinitionId, ScopeId, Ty, Types};

/// The traits that decide how a type becomes an argument, and what stands in a file that implements them.
const DECISIVE: [(&str, &str); 3] =
    [("Deserialize", "Deserialize<"), ("JsonSchema", "JsonSchema for"), ("FromStr", "FromStr for")];

impl Sources {
    /// The traits that are implemented for a type: in its own file all of them, elsewhere in its crate those that
    /// decide how it becomes an argument, unless they are derived.
    pub(super) fn implementations(
        &self,
        id: DefinitionId,
        scope: ScopeId,
        declared: &syn::DeriveInput,
    ) -> Vec<(String, Rc<syn::ItemImpl>)> {
        let scope = self.scope(scope);
        let scopes = |wanted: &dyn Fn(&Scope) -> bool| -> Vec<ScopeId> {
            let scopes = self.scopes.borrow();
            scopes.iter().enumerate().filter(|(_, scope)| wanted(scope)).map(|(index, _)| ScopeId(index)).collect()
        };
        let mut found = Vec::new();
        let mut look_into = |places: Vec<ScopeId>| {
            for place in places {
                let scope = self.scope(place);
                let impls = scope.items.get().map(|items| items.impls.as_slice()).unwrap_or_default();
                let ours = impls.iter().filter(|(_, item)| self.is_for(item, place, id, &declared.ident));
                found.extend(ours.map(|(name, item)| (self.own_name(place, name), item.clone())));
            }
        };
        look_into(scopes(&|other| Rc::ptr_eq(&other.file, &scope.file)));
        let derives = |name: &str| {
            declared.attrs.iter().any(|attribute| {
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

    /// The name of a trait where it is declared: it may be imported under another.
    fn own_name(&self, scope: ScopeId, name: &str) -> String {
        let import = self.import(scope, name).and_then(|path| path.segments.last().cloned());
        import.unwrap_or_else(|| name.to_owned())
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
}
