//! Resolved types, and the trait that finds their definitions.

use std::rc::Rc;

/// A type with its names resolved through `use`, its aliases expanded and its generic parameters filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    /// A type of the language or of a library that is not scanned: `u32`, `std::vec::Vec`, `chrono::DateTime`.
    Library {
        /// The path as the source reaches it, with `core` and `alloc` as `std`. `std::collections::HashMap` may also be
        /// `std::collections::hash_map::HashMap`, so compare the crate and the last name.
        path: String,
        /// Its generic arguments without lifetimes.
        arguments: Vec<Ty>,
    },
    /// A struct or enum of the scanned source.
    Defined {
        /// The id of its definition.
        definition: DefinitionId,
        /// Its generic arguments, one for each of its type parameters.
        arguments: Vec<Ty>,
    },
    /// `(A, B)`; empty for `()`.
    Tuple(Vec<Ty>),
    /// `[T; N]`, with the length if it is known.
    Array(Box<Ty>, Option<u64>),
    /// `[T]`
    Slice(Box<Ty>),
    /// `&T`
    Reference(Box<Ty>),
    /// The value of a constant parameter: the `3` of `Rows<u8, 3>`.
    Constant(u64),
    /// A type that could not be resolved, as the source spells it.
    Unknown(String),
}

impl Ty {
    /// Returns the crate and the last name of a library type: `("std", "Vec")`. Types of the language have no crate.
    pub(crate) fn library(&self) -> Option<(&str, &str)> {
        let Self::Library { path, .. } = self else { return None };
        let name = path.rsplit("::").next().unwrap_or(path);
        let krate = path.split_once("::").map_or("", |(krate, _)| krate);
        Some((krate, name))
    }
}

/// The id of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DefinitionId(pub(crate) usize);

/// The id of a scope in which names are looked up: a module, or a block with items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ScopeId(pub(crate) usize);

/// A struct or enum of the scanned source.
#[derive(Debug)]
pub(crate) struct TypeDefinition {
    /// The path of its module, as in `module_path!()`.
    pub(crate) module: String,
    /// The scope for the names in it.
    pub(crate) scope: ScopeId,
    /// The item, with disabled `cfg`s removed and `cfg_attr`s expanded.
    pub(crate) item: syn::DeriveInput,
    /// The traits that the scanned source implements by hand, by last name, with the `impl`. A type's own `impl` has no
    /// name.
    pub(crate) impls: Vec<(String, Rc<syn::ItemImpl>)>,
}

impl TypeDefinition {
    /// Returns `true` if a trait is derived, by its last name.
    pub(crate) fn derives(&self, name: &str) -> bool {
        derived(&self.item.attrs).any(|found| found == name)
    }

    /// Returns `true` if a trait is implemented by hand.
    pub(crate) fn implements(&self, name: &str) -> bool {
        self.impls.iter().any(|(found, _)| found == name)
    }
}

/// Returns the last names of the derived traits.
fn derived(attributes: &[syn::Attribute]) -> impl Iterator<Item = String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|attribute| {
        attribute.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated).ok()
    });
    paths.flatten().filter_map(|path| path.segments.last().map(|segment| segment.ident.to_string()))
}

/// Resolves types, and the functions and constants that attributes name.
pub(crate) trait TypeSource {
    /// Returns a definition.
    fn definition(&self, id: DefinitionId) -> Rc<TypeDefinition>;

    /// Resolves a type in a scope, with the given generic parameters filled in.
    fn resolve(&self, ty: &syn::Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty;

    /// Returns the function that a path names, if it is in the scanned source, and its scope.
    fn function(&self, path: &syn::Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)>;

    /// Returns `true` if a scanned crate depends on a package with this feature.
    fn has_feature(&self, package: &str, feature: &str) -> bool;

    /// Returns the value of a constant that a path names, if it is in the scanned source, and its scope.
    fn constant(&self, path: &syn::Path, scope: ScopeId) -> Option<(Rc<syn::Expr>, ScopeId)>;
}
