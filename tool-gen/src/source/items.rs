//! The items of a module.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Item, ItemImpl, ItemType, UseTree};

use super::names::{ItemVisibility, VisibleItem};
use super::{CandidateItem, SourceTree};
use crate::ty::{DefinitionId, ScopeId};

/// The items of a module, without its submodules.
#[derive(Default)]
pub(crate) struct ModuleItems {
    pub(super) types: HashMap<String, VisibleItem<TypeItem>>,
    pub(super) functions: HashMap<String, VisibleItem<Rc<syn::ItemFn>>>,
    pub(super) constants: HashMap<String, VisibleItem<Rc<syn::Expr>>>,
    /// By name. A name can be imported twice, as a trait and as the macro that derives it.
    pub(super) imports: BTreeMap<String, Vec<VisibleItem<ImportPath>>>,
    pub(super) globs: Vec<VisibleItem<ImportPath>>,
    /// The files that `include!` adds.
    pub(super) included: Vec<ScopeId>,
    /// By the last name of the trait, which is empty for inherent `impl`s.
    pub(crate) impls: Vec<(String, Rc<ItemImpl>)>,
    #[cfg(feature = "cli")]
    pub(crate) traits: Vec<Rc<syn::ItemTrait>>,
}

/// A type that a module declares.
#[derive(Clone)]
pub(super) enum TypeItem {
    Defined(DefinitionId),
    Alias(Rc<ItemType>),
    /// A trait or a union: its name hides others, but an argument cannot have its type.
    Other,
}

/// A path in a `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportPath {
    /// `true` if it begins with `::`.
    pub(crate) absolute: bool,
    pub(crate) segments: Vec<String>,
}

impl SourceTree {
    /// Reads all items of a scope.
    pub(super) fn read_items(&self, id: ScopeId, items: Vec<Item>) {
        let scope = self.scope(id);
        if scope.items.get().is_some() {
            return;
        }
        let krate = self.krate(scope.krate);
        let mut found = ModuleItems::default();
        for mut item in items {
            let Some(attributes) = attributes(&mut item) else { continue };
            if !krate.cfg.is_enabled(attributes) {
                continue;
            }
            let mut expanded = attributes.clone();
            krate.cfg.expand(&mut expanded);
            if !krate.cfg.is_enabled(&expanded) {
                continue;
            }
            if krate.scanned {
                self.read_blocks(id, &item);
            }
            let visible = |written: &syn::Visibility| self.visibility(written, id);
            match item {
                Item::Mod(module) => self.enter_module(id, module, &expanded, true),
                Item::Use(import) => {
                    let start =
                        UseDeclaration { visibility: visible(&import.vis), absolute: import.leading_colon.is_some() };
                    start.add(&mut found, Vec::new(), import.tree);
                }
                Item::ExternCrate(import) => {
                    let start = UseDeclaration { visibility: visible(&import.vis), absolute: true };
                    let name = import.rename.map_or(import.ident.clone(), |(_, rename)| rename);
                    start.name(&mut found, name.unraw().to_string(), vec![import.ident.unraw().to_string()]);
                }
                Item::Struct(item) => {
                    let (name, visibility) = (item.ident.unraw().to_string(), visible(&item.vis));
                    let item = TypeItem::Defined(self.declare_stripped(id, item.into()));
                    found.types.insert(name, VisibleItem { visibility, item });
                }
                Item::Enum(item) => {
                    let (name, visibility) = (item.ident.unraw().to_string(), visible(&item.vis));
                    let item = TypeItem::Defined(self.declare_stripped(id, item.into()));
                    found.types.insert(name, VisibleItem { visibility, item });
                }
                Item::Type(item) => {
                    let (name, visibility) = (item.ident.unraw().to_string(), visible(&item.vis));
                    found.types.insert(name, VisibleItem { visibility, item: TypeItem::Alias(Rc::new(item)) });
                }
                Item::Union(syn::ItemUnion { ident, vis, .. }) => {
                    let other = VisibleItem { visibility: visible(&vis), item: TypeItem::Other };
                    found.types.insert(ident.unraw().to_string(), other);
                }
                Item::Trait(item) => {
                    let other = VisibleItem { visibility: visible(&item.vis), item: TypeItem::Other };
                    found.types.insert(item.ident.unraw().to_string(), other);
                    #[cfg(feature = "cli")]
                    found.traits.push(Rc::new(item.clone()));
                    if may_be_annotated(&item.attrs) {
                        self.add_candidate(id, Item::Trait(item));
                    }
                }
                Item::Const(item) => {
                    let constant = VisibleItem { visibility: visible(&item.vis), item: Rc::from(item.expr) };
                    found.constants.insert(item.ident.unraw().to_string(), constant);
                }
                Item::Fn(function) => {
                    let name = function.sig.ident.unraw().to_string();
                    if may_be_annotated(&function.attrs) {
                        self.add_candidate(id, Item::Fn(function.clone()));
                    }
                    let visibility = visible(&function.vis);
                    found.functions.insert(name, VisibleItem { visibility, item: Rc::new(function) });
                }
                Item::Impl(item) => {
                    // An inherent `impl` has no trait.
                    let of_trait = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                    let of_trait = of_trait.map(|last| last.ident.to_string()).unwrap_or_default();
                    if may_be_annotated(&item.attrs) {
                        self.add_candidate(id, Item::Impl(item.clone()));
                    }
                    found.impls.push((of_trait, Rc::new(item)));
                }
                Item::Macro(item) if item.mac.path.is_ident("include") => {
                    found.included.extend(self.include(id, &item))
                }
                // Its name may be imported further down, so the item is looked at when all names are known.
                Item::Macro(item) if krate.scanned => self.add_candidate(id, Item::Macro(item)),
                _ => {}
            }
        }
        if krate.scanned {
            self.record_renames(id, &found);
        }
        drop(scope.items.set(found));
    }

    fn declare_stripped(&self, scope: ScopeId, mut item: syn::DeriveInput) -> DefinitionId {
        self.crate_of(scope).cfg.strip(&mut item);
        self.declare(scope, item)
    }

    fn add_candidate(&self, scope: ScopeId, item: Item) {
        if self.crate_of(scope).scanned {
            self.candidates.borrow_mut().push(CandidateItem { scope, item: Rc::new(item) });
        }
    }

    /// Reads the items in the blocks of functions. They see the names of their block first and belong to the enclosing
    /// module.
    fn read_blocks(&self, scope: ScopeId, item: &Item) {
        struct BlockVisitor<'a> {
            sources: &'a SourceTree,
            scope: ScopeId,
        }
        impl<'ast> Visit<'ast> for BlockVisitor<'_> {
            fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

            fn visit_block(&mut self, block: &'ast syn::Block) {
                let items = block.stmts.iter().filter_map(|statement| match statement {
                    syn::Stmt::Item(item) => Some(item.clone()),
                    syn::Stmt::Macro(call)
                        if call.mac.path.segments.last().is_some_and(|last| last.ident == "tools") =>
                    {
                        Some(Item::Macro(syn::ItemMacro {
                            attrs: call.attrs.clone(),
                            ident: None,
                            mac: call.mac.clone(),
                            semi_token: call.semi_token,
                        }))
                    }
                    _ => None,
                });
                let items: Vec<Item> = items.collect();
                if items.is_empty() {
                    return visit::visit_block(self, block);
                }
                let inner = self.sources.add_block(self.scope);
                self.sources.read_items(inner, items);
                let mut blocks = BlockVisitor { sources: self.sources, scope: inner };
                for statement in block.stmts.iter().filter(|statement| !matches!(statement, syn::Stmt::Item(_))) {
                    blocks.visit_stmt(statement);
                }
            }
        }
        BlockVisitor { sources: self, scope }.visit_item(item);
    }
}

/// Returns `true` if an attribute could be one of ours. It may be imported under another name, so only well-known
/// attributes are ruled out.
fn may_be_annotated(attributes: &[syn::Attribute]) -> bool {
    const OTHERS: [&str; 8] = ["doc", "inline", "must_use", "allow", "cfg", "derive", "expect", "deprecated"];
    attributes.iter().any(|attribute| !OTHERS.iter().any(|other| attribute.path().is_ident(other)))
}

/// A `use` declaration with the properties of all its names.
struct UseDeclaration {
    visibility: ItemVisibility,
    absolute: bool,
}

impl UseDeclaration {
    fn path(&self, segments: Vec<String>) -> VisibleItem<ImportPath> {
        VisibleItem { visibility: self.visibility, item: ImportPath { absolute: self.absolute, segments } }
    }

    fn name(&self, found: &mut ModuleItems, name: String, segments: Vec<String>) {
        if name != "_" {
            found.imports.entry(name).or_default().push(self.path(segments));
        }
    }

    fn add(&self, found: &mut ModuleItems, mut segments: Vec<String>, tree: UseTree) {
        match tree {
            UseTree::Path(path) => {
                segments.push(path.ident.unraw().to_string());
                self.add(found, segments, *path.tree);
            }
            // `use a::{self}` names `a`.
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = segments.last().cloned() {
                    self.name(found, last, segments);
                }
            }
            UseTree::Name(name) => {
                segments.push(name.ident.unraw().to_string());
                self.name(found, name.ident.unraw().to_string(), segments);
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    segments.push(rename.ident.unraw().to_string());
                }
                self.name(found, rename.rename.unraw().to_string(), segments);
            }
            UseTree::Glob(_) => found.globs.push(self.path(segments)),
            UseTree::Group(group) => {
                for tree in group.items {
                    self.add(found, segments.clone(), tree);
                }
            }
        }
    }
}

/// Returns the attributes of an item that can have a name or an annotation.
fn attributes(item: &mut Item) -> Option<&mut Vec<syn::Attribute>> {
    Some(match item {
        Item::Const(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        Item::ExternCrate(item) => &mut item.attrs,
        Item::Fn(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        Item::Macro(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Static(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Trait(item) => &mut item.attrs,
        Item::Type(item) => &mut item.attrs,
        Item::Union(item) => &mut item.attrs,
        Item::Use(item) => &mut item.attrs,
        _ => return None,
    })
}
