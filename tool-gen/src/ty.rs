//! A type as the source means it, and where its definition is found.

use std::rc::Rc;

/// A type with its names followed through `use`, its aliases expanded and its generic parameters filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    /// Of the language or of a library that is not scanned: `u32`, `std::vec::Vec`, `chrono::DateTime`.
    Library {
        /// `core` and `alloc` count as `std`. The path is as the source reaches it, so that `std::collections::HashMap`
        /// may also stand as `std::collections::hash_map::HashMap`: crate and last name tell it.
        path: String,
        /// Its generic arguments but for lifetimes.
        arguments: Vec<Ty>,
    },
    /// A struct or enum of the scanned source.
    Defined {
        /// Which one.
        definition: DefinitionId,
        /// Its generic arguments, one for each of its type parameters.
        arguments: Vec<Ty>,
    },
    /// `(A, B)`; empty for `()`.
    Tuple(Vec<Ty>),
    /// `[T; N]`, with the length if it can be told.
    Array(Box<Ty>, Option<u64>),
    /// `[T]`
    Slice(Box<Ty>),
    /// `&T`
    Reference(Box<Ty>),
    /// The value of a constant parameter: the `3` of `Rows<u8, 3>`.
    Constant(u64),
    /// What cannot be seen from here, as it is written.
    Unknown(String),
}

impl Ty {
    /// The crate and the last name of a library type: `("std", "Vec")`. Types of the language have no crate.
    pub(crate) fn library(&self) -> Option<(&str, &str)> {
        let Self::Library { path, .. } = self else { return None };
        let name = path.rsplit("::").next().unwrap_or(path);
        let krate = path.split_once("::").map_or("", |(krate, _)| krate);
        Some((krate, name))
    }
}

/// Names one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DefinitionId(pub(crate) usize);

/// Names a place in which names are looked up: a module, or a block with items of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ScopeId(pub(crate) usize);

/// A struct or enum of the scanned source.
#[derive(Debug)]
pub(crate) struct TypeDefinition {
    /// The module it stands in, as `module_path!()` says it.
    pub(crate) module: String,
    /// Where the names in it are looked up.
    pub(crate) scope: ScopeId,
    /// The item. What a false `cfg` removes is gone, and `cfg_attr`s are expanded.
    pub(crate) item: syn::DeriveInput,
    /// The traits that the scanned source implements for it by hand, by their last name, with the `impl`.
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

/// The last names of all that is derived.
fn derived(attributes: &[syn::Attribute]) -> impl Iterator<Item = String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|attribute| {
        attribute.parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated).ok()
    });
    paths.flatten().filter_map(|path| path.segments.last().map(|segment| segment.ident.to_string()))
}

/// Where types, and the functions that serde's attributes name, are found.
pub(crate) trait TypeSource {
    /// A definition.
    fn definition(&self, id: DefinitionId) -> Rc<TypeDefinition>;

    /// What a type means in a scope, with the given generic parameters filled in.
    fn resolve(&self, ty: &syn::Type, scope: ScopeId, generics: &[(String, Ty)]) -> Ty;

    /// The function that a path names, if it is in the scanned source, and the scope it stands in.
    fn function(&self, path: &syn::Path, scope: ScopeId) -> Option<(Rc<syn::ItemFn>, ScopeId)>;

    /// Whether the program has a schema for `url::Url` wherever it stands, by a feature of the runtime or of schemars.
    fn describes_urls(&self) -> bool;

    /// The value of a constant that a path names, if it is in the scanned source.
    fn constant(&self, path: &syn::Path, scope: ScopeId) -> Option<(Rc<syn::Expr>, ScopeId)>;
}
