//! Annotated items: finds `#[tool]` and `#[tool_class]`, also under other names.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

use super::items::ImportPath;
use super::names::{ItemVisibility, NamedEntity, TriedNames, VisibleItem, import_path};
use super::{ModuleItems, SourceScope, SourceTree};
use crate::text::may_be_attribute;
use crate::ty::ScopeId;

/// The packages that export the attributes.
const PACKAGES: [&str; 2] = ["tool-runtime", "tool-runtime-macros"];

/// The names of the attributes and the macro.
const OURS: [&str; 3] = ["tool", "tool_class", "tools"];

/// The derives that decide how a type is read, and those of the language.
const KNOWN_DERIVES: [&str; 16] = [
    "Deserialize",
    "Deserialize_repr",
    "DeserializeFromStr",
    "JsonSchema",
    "JsonSchema_repr",
    "Serialize",
    "Serialize_repr",
    "Default",
    "Debug",
    "Clone",
    "Copy",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
];

/// The longest chain of re-exports that is followed. A longer one is a cycle.
const LONGEST_CHAIN: usize = 16;

/// The attributes of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationKind {
    Tool,
    Class,
    /// The macro `tools!`.
    Declarations,
}

impl SourceTree {
    /// Removes the annotation from an item's attributes and returns it with the tokens between its parentheses.
    ///
    /// Like rustc, expands a `cfg_attr` before the annotation, and does not change one behind it.
    pub(crate) fn take_annotation(
        &self,
        scope: ScopeId,
        attributes: &mut Vec<Attribute>,
    ) -> Option<(AnnotationKind, TokenStream)> {
        let cfg = &self.crate_of(scope).cfg;
        let mut open: Vec<Attribute> = std::mem::take(attributes);
        open.reverse();
        let mut found = None;
        while let Some(attribute) = open.pop() {
            if attribute.path().is_ident("cfg_attr") {
                let mut held = vec![attribute];
                cfg.expand(&mut held);
                open.extend(held.into_iter().rev());
            } else if let Some(annotation) = kind(self, scope, attribute.path()) {
                found = Some((annotation, tokens(&attribute)));
                break;
            } else {
                attributes.push(attribute);
            }
        }
        attributes.extend(open.into_iter().rev());
        found
    }

    /// Returns `true` if a macro is `tools!`.
    pub(crate) fn is_declarations(&self, scope: ScopeId, path: &Path) -> bool {
        kind(self, scope, path) == Some(AnnotationKind::Declarations)
    }

    /// Returns the path by which an attribute is imported, followed through the `use`s of the scanned source, and its
    /// scope. Returns `None` if the name cannot be one of ours.
    pub(crate) fn origin(&self, scope: ScopeId, written: ImportPath) -> Option<(ImportPath, ScopeId)> {
        let last = written.segments.last()?;
        if !OURS.contains(&last.as_str()) && !self.renames.borrow().contains(last) {
            return None;
        }
        Some(self.follow_imports(written, scope))
    }

    /// Replaces the names of derives that are imported under another name (`use serde::Deserialize as De`) by their
    /// own.
    pub(super) fn name_derives(&self, scope: ScopeId, attributes: &mut [Attribute]) {
        for attribute in attributes.iter_mut().filter(|attribute| attribute.path().is_ident("derive")) {
            let Meta::List(list) = &mut attribute.meta else { continue };
            let Ok(mut paths) = list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) else { continue };
            for path in &mut paths {
                let own = self.derive_name(scope, import_path(path));
                if let (Some(last), Some(own)) = (path.segments.last_mut(), own)
                    && last.ident != own
                {
                    last.ident = Ident::new(&own, last.ident.span());
                }
            }
            list.tokens = paths.into_token_stream();
        }
    }

    fn derive_name(&self, scope: ScopeId, written: ImportPath) -> Option<String> {
        // Looking up a name may parse more files, so known names are skipped.
        if KNOWN_DERIVES.contains(&written.segments.last()?.as_str()) {
            return None;
        }
        self.follow_imports(written, scope).0.segments.pop()
    }

    /// Follows a path through the `use`s of the scanned source.
    fn follow_imports(&self, written: ImportPath, scope: ScopeId) -> (ImportPath, ScopeId) {
        let mut origin = (written, scope);
        for _ in 0..LONGEST_CHAIN {
            match self.import_behind(&origin.0, origin.1) {
                Some(next) if next != origin => origin = next,
                _ => break,
            }
        }
        origin
    }

    /// Returns the `use` that a path leads to.
    fn import_behind(&self, path: &ImportPath, scope: ScopeId) -> Option<(ImportPath, ScopeId)> {
        let (last, modules) = path.segments.split_last()?;
        if modules.is_empty() {
            return self.value_at(path, scope, &pick, &mut TriedNames::new());
        }
        let modules = ImportPath { absolute: path.absolute, segments: modules.to_vec() };
        if let Some(NamedEntity::Scope(module)) = self.entity(scope, &modules) {
            return self.declared_value(module, last, None, &pick, &mut TriedNames::new());
        }
        // The crate itself may be renamed.
        let import = self.import(scope, path.segments.first()?).filter(|_| !path.absolute)?;
        let rest = path.segments[1..].iter().cloned();
        Some((ImportPath { segments: import.segments.into_iter().chain(rest).collect(), ..import }, scope))
    }

    /// Returns `true` if a scope has a glob import of a foreign library.
    pub(crate) fn has_foreign_glob(&self, id: ScopeId, is_foreign: impl Fn(&str) -> bool) -> bool {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope(id);
            let globs = self.items(&scope, id).map(|items| items.globs.as_slice()).unwrap_or_default();
            if globs.iter().any(|glob| {
                matches!(self.entity(id, &glob.item), Some(NamedEntity::Library(path))
                    if is_foreign(path.split("::").next().unwrap_or_default()))
            }) {
                return true;
            }
            next = if scope.is_block { scope.parent } else { None };
        }
        false
    }

    /// Records the other names under which a module imports our attributes.
    pub(super) fn record_renames(&self, module: ScopeId, items: &ModuleItems) {
        for (name, imports) in &items.imports {
            let is_handed_on = |import: &&VisibleItem<ImportPath>| {
                import.visibility != ItemVisibility::Within(self.module_of(module)) && is_ours(&import.item)
            };
            if imports.iter().any(|import| is_ours(&import.item)) && !OURS.contains(&name.as_str()) {
                self.renames.borrow_mut().insert(name.clone());
                if imports.iter().any(|import| is_handed_on(&import)) {
                    self.reexported.borrow_mut().push(name.clone());
                }
            }
        }
    }

    /// Parses the files that use an attribute under a re-exported name. The search for annotations does not find these.
    pub(crate) fn parse_renamed(&self) {
        while let Some(name) = self.reexported.borrow_mut().pop() {
            let scopes: Vec<(usize, Rc<SourceScope>)> = self.scopes.borrow().iter().cloned().enumerate().collect();
            for (index, scope) in scopes {
                if !scope.is_file || scope.items.get().is_some() || !self.krate(scope.krate).scanned {
                    continue;
                }
                if may_be_attribute(scope.file.text().as_bytes(), name.as_bytes()) {
                    self.items(&scope, ScopeId(index));
                } else {
                    scope.file.drop_text();
                }
            }
        }
    }
}

fn tokens(attribute: &Attribute) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn kind(sources: &SourceTree, scope: ScopeId, path: &Path) -> Option<AnnotationKind> {
    // The name may be imported under another name.
    let (path, from) = sources.origin(scope, import_path(path))?;
    let annotation = match path.segments.last()?.as_str() {
        "tool" => AnnotationKind::Tool,
        "tool_class" => AnnotationKind::Class,
        "tools" => AnnotationKind::Declarations,
        _ => return None,
    };
    is_from_us(sources, from, &path).then_some(annotation)
}

/// Returns `true` unless the attribute comes from a foreign package, which may have its own `#[tool]`. An attribute
/// that the application's own crates re-export counts.
fn is_from_us(sources: &SourceTree, scope: ScopeId, path: &ImportPath) -> bool {
    let krate = sources.crate_of(scope);
    let is_our_package = |package: &str| PACKAGES.contains(&package.replace('_', "-").as_str());
    if path.segments.len() == 1 {
        // For a glob import the origin is unknown. It is foreign only if all possible origins are.
        let has_ours = krate.dependencies.values().any(|dependency| is_our_package(&dependency.package));
        return has_ours || !sources.has_foreign_glob(scope, |krate| krate != "std" && !is_our_package(krate));
    }
    let Some(dependency) = path.segments.first().and_then(|first| krate.dependencies.get(first)) else { return true };
    dependency.path.is_some() || is_our_package(&dependency.package)
}

fn is_ours(path: &ImportPath) -> bool {
    path.segments.len() > 1 && path.segments.last().is_some_and(|last| OURS.contains(&last.as_str()))
}

/// Picks the import of one of our attributes among several of one name, or else the first.
fn pick(items: &ModuleItems, name: &str) -> Option<VisibleItem<ImportPath>> {
    let imports = items.imports.get(name)?;
    imports.iter().find(|import| is_ours(&import.item)).or(imports.first()).cloned()
}
