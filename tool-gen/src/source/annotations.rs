//! Which items are annotated.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

use super::items::ImportPath;
use super::names::{ItemVisibility, NamedEntity, TriedNames, VisibleItem, import_path};
use super::{ModuleItems, Scope, SourceTree};
use crate::text::may_be_attribute;
use crate::ty::ScopeId;

/// Our attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationKind {
    Tool,
    Class,
    /// The macro `tools!`.
    Declarations,
}

/// The packages that have our attributes.
const PACKAGES: [&str; 2] = ["tool-runtime", "tool-macros"];

fn tokens(attribute: &Attribute) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn kind(sources: &SourceTree, scope: ScopeId, path: &Path) -> Option<AnnotationKind> {
    // The names in an attribute may come by `use`, under other names.
    let (path, from) = sources.origin(scope, import_path(path))?;
    let annotation = match path.segments.last()?.as_str() {
        "tool" => AnnotationKind::Tool,
        "tool_class" => AnnotationKind::Class,
        "tools" => AnnotationKind::Declarations,
        _ => return None,
    };
    is_from_us(sources, from, &path).then_some(annotation)
}

/// Other crates have a `#[tool]` too. One that comes from a foreign package is theirs; one that the application's own
/// crates hand on is ours.
fn is_from_us(sources: &SourceTree, scope: ScopeId, path: &ImportPath) -> bool {
    let krate = sources.crate_of(scope);
    let is_our_package = |package: &str| PACKAGES.contains(&package.replace('_', "-").as_str());
    if path.segments.len() == 1 {
        // By a glob: whose it is can only be told where there is nobody but the others.
        let has_ours = krate.dependencies.values().any(|dependency| is_our_package(&dependency.package));
        return has_ours || !sources.has_foreign_glob(scope, |krate| krate != "std" && !is_our_package(krate));
    }
    let Some(dependency) = path.segments.first().and_then(|first| krate.dependencies.get(first)) else { return true };
    dependency.path.is_some() || is_our_package(&dependency.package)
}

/// The names of our attributes.
const OURS: [&str; 3] = ["tool", "tool_class", "tools"];

/// The derives that decide about arguments, and those of the language.
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

/// A chain of re-exports that is longer goes in a circle.
const LONGEST_CHAIN: usize = 16;

impl SourceTree {
    /// Takes the annotation out of an item's attributes, with what stands between its parentheses.
    ///
    /// As rustc does it: what a `cfg_attr` holds is in its place by then if it stands before the annotation, and not yet
    /// if it stands behind.
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

    /// The path by which an attribute's name was brought in, followed through the `use`s of the scanned source, and
    /// the scope in which it stands. Nothing if it cannot be one of ours.
    pub(crate) fn origin(&self, scope: ScopeId, written: ImportPath) -> Option<(ImportPath, ScopeId)> {
        let last = written.segments.last()?;
        if !OURS.contains(&last.as_str()) && !self.renames.borrow().contains(last) {
            return None;
        }
        Some(self.follow_imports(written, scope))
    }

    /// Gives derives that were imported under another name (`use serde::Deserialize as De`) their own names.
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
        // What is known by its name is not looked for: that may mean to parse further files.
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

    /// The `use` that a path leads to.
    fn import_behind(&self, path: &ImportPath, scope: ScopeId) -> Option<(ImportPath, ScopeId)> {
        let (last, modules) = path.segments.split_last()?;
        if modules.is_empty() {
            return self.value_at(path, scope, &pick, &mut TriedNames::new());
        }
        let modules = ImportPath { absolute: path.absolute, segments: modules.to_vec() };
        if let Some(NamedEntity::Scope(module)) = self.entity(scope, &modules) {
            return self.declared_value(module, last, None, &pick, &mut TriedNames::new());
        }
        // The crate itself may have another name here.
        let import = self.import(scope, path.segments.first()?).filter(|_| !path.absolute)?;
        let rest = path.segments[1..].iter().cloned();
        Some((ImportPath { segments: import.segments.into_iter().chain(rest).collect(), ..import }, scope))
    }

    /// Whether a scope has all names of a library that is not ours.
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

    /// Notes under which other names a module hands our attributes on.
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

    /// Parses the files in which an attribute of ours stands under another name: they were searched for its own.
    pub(crate) fn parse_renamed(&self) {
        while let Some(name) = self.reexported.borrow_mut().pop() {
            let scopes: Vec<(usize, Rc<Scope>)> = self.scopes.borrow().iter().cloned().enumerate().collect();
            for (index, scope) in scopes {
                if !scope.is_file || scope.items.get().is_some() || !self.krate(scope.krate).scanned {
                    continue;
                }
                if may_be_attribute(scope.file.text().as_bytes(), name.as_bytes()) {
                    self.items(&scope, ScopeId(index));
                } else {
                    scope.file.forget();
                }
            }
        }
    }
}

fn is_ours(path: &ImportPath) -> bool {
    path.segments.len() > 1 && path.segments.last().is_some_and(|last| OURS.contains(&last.as_str()))
}

/// Of several imports of one name that of an attribute of ours, if there is one.
fn pick(items: &ModuleItems, name: &str) -> Option<VisibleItem<ImportPath>> {
    let imports = items.imports.get(name)?;
    imports.iter().find(|import| is_ours(&import.item)).or(imports.first()).cloned()
}
