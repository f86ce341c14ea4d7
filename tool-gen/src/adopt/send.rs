//! Trait objects that cannot be sent between threads.

use syn::visit::{self, Visit};
use syn::{ItemTrait, Path, Type, TypeParamBound};

use crate::source::{NamedEntity, SourceTree, import_path};
use crate::ty::ScopeId;

/// The longest chain of supertraits that is followed.
const LONGEST_CHAIN: usize = 8;

/// Returns the first trait object in a type that is certainly not `Send`.
pub(super) fn unsendable_object(sources: &SourceTree, scope: ScopeId, ty: &Type) -> Option<String> {
    struct ObjectFinder<'a> {
        sources: &'a SourceTree,
        scope: ScopeId,
        found: Option<String>,
    }
    impl<'ast> Visit<'ast> for ObjectFinder<'_> {
        fn visit_type_trait_object(&mut self, object: &'ast syn::TypeTraitObject) {
            if !is_send(self.sources, self.scope, object.bounds.iter(), LONGEST_CHAIN) {
                self.found.get_or_insert_with(|| crate::text::source_text(object));
            }
            visit::visit_type_trait_object(self, object);
        }
    }
    let mut finder = ObjectFinder { sources, scope, found: None };
    finder.visit_type(ty);
    finder.found
}

/// Returns `true` if one of the bounds implies `Send`, or might: a trait without sources.
fn is_send<'b>(
    sources: &SourceTree,
    scope: ScopeId,
    mut bounds: impl Iterator<Item = &'b TypeParamBound>,
    depth: usize,
) -> bool {
    bounds.any(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return false };
        let is_marker = bound.path.segments.last().is_some_and(|last| last.ident == "Send");
        is_marker
            || match definition(sources, scope, &bound.path) {
                Some((at, item)) if depth > 0 => is_send(sources, at, item.supertraits.iter(), depth - 1),
                Some(_) => false,
                // `Sync`, `Unpin` and other traits of std say nothing of `Send`.
                None => {
                    !matches!(sources.entity(scope, &import_path(&bound.path)), None | Some(NamedEntity::Library(_)))
                }
            }
    })
}

fn definition(sources: &SourceTree, scope: ScopeId, path: &Path) -> Option<(ScopeId, std::rc::Rc<ItemTrait>)> {
    let NamedEntity::Other(at) = sources.entity(scope, &import_path(path))? else { return None };
    let name = &path.segments.last()?.ident;
    let module = sources.scope(at);
    let item = sources.items(&module, at)?.traits.iter().find(|item| item.ident == *name)?.clone();
    Some((at, item))
}
