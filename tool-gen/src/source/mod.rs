//! The sources of crates as a tree of modules, parsed on demand.

mod annotations;
mod crates;
mod file;
mod items;
mod module_tree;
mod names;
mod types;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub(crate) use annotations::AnnotationKind;
pub(crate) use crates::CrateRoot;
#[cfg(feature = "cli")]
pub(crate) use crates::{KNOWN_PACKAGES, ResolvedPackage};
pub(crate) use file::SourceFile;
pub(crate) use items::ModuleItems;
#[cfg(feature = "cli")]
pub(crate) use names::{NamedEntity, import_path};

use crate::package::{CargoPackage, Dependency};
use crate::ty::{DefinitionId, ScopeId, TypeDefinition};
use crate::{Cfg, Diagnostic};

/// The crates of a scan with everything that was read of them.
#[derive(Default)]
pub(crate) struct SourceTree {
    crates: RefCell<Vec<Rc<Crate>>>,
    scopes: RefCell<Vec<Rc<SourceScope>>>,
    definitions: RefCell<Vec<Rc<DeclaredType>>>,
    candidates: RefCell<Vec<CandidateItem>>,
    /// The entries of the directories that were listed.
    listings: RefCell<HashMap<PathBuf, HashSet<OsString>>>,
    /// The files of a crate that contain a text, by the text.
    searched: RefCell<Vec<(CrateId, &'static str, Vec<ScopeId>)>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    /// Counts the files that are read.
    progress: Option<Arc<AtomicUsize>>,
    /// Every file whose change could change the manifest, including files that do not exist.
    files: RefCell<Vec<PathBuf>>,
    /// The other names under which our attributes are imported.
    renames: RefCell<BTreeSet<String>>,
    /// Those of the other names that are re-exported and were not searched for yet.
    reexported: RefCell<Vec<String>>,
    /// Warnings about types that could not be read.
    unseen: RefCell<Vec<Diagnostic>>,
    /// The number of parts of the type that is being resolved.
    parts: Cell<usize>,
    /// Set if a file did not parse, which may have the missing types.
    has_unparsed: Cell<bool>,
    /// The packages as Cargo resolved them, by directory. Empty unless the types of dependencies matter.
    #[cfg(feature = "cli")]
    resolved: HashMap<PathBuf, ResolvedPackage>,
}

/// The id of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrateId(usize);

/// A crate.
pub(crate) struct Crate {
    /// Its configuration, including its features.
    pub(crate) cfg: Cfg,
    /// Its dependencies, by the names it uses.
    pub(crate) dependencies: BTreeMap<String, Dependency>,
    package: CargoPackage,
    /// `true` if its tools are read, not only its types.
    scanned: bool,
    root_file: PathBuf,
    root: Cell<Option<ScopeId>>,
    /// The roots of its dependencies that were looked up.
    libraries: RefCell<BTreeMap<String, Option<ScopeId>>>,
}

impl Crate {
    /// Returns `true` if its tools are read, not only its types.
    #[cfg(feature = "cli")]
    pub(crate) fn is_scanned(&self) -> bool {
        self.scanned
    }

    /// Returns its name, with which `module_path!()` begins.
    pub(crate) fn name(&self, sources: &SourceTree) -> String {
        self.root.get().map(|root| sources.scope(root).path.clone()).unwrap_or_default()
    }

    /// Returns the directory of its `Cargo.toml`.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.package.directory.as_deref()
    }
}

/// A module, or a block with items.
pub(crate) struct SourceScope {
    pub(crate) krate: CrateId,
    /// The enclosing scope.
    pub(crate) parent: Option<ScopeId>,
    /// `true` for a block, which sees the names of the enclosing scope. A module does not.
    pub(crate) is_block: bool,
    /// The path of its module, as in `module_path!()`.
    pub(crate) path: String,
    /// Its file.
    pub(crate) file: Rc<SourceFile>,
    directories: module_tree::ModuleDirectories,
    /// Its visibility.
    visibility: names::ItemVisibility,
    /// `true` if it is a whole file, which may still have to be parsed.
    is_file: bool,
    children: RefCell<BTreeMap<String, ScopeId>>,
    items: OnceCell<ModuleItems>,
}

/// An item that may be annotated. Resolving the names of its attributes decides.
#[derive(Clone)]
pub(crate) struct CandidateItem {
    pub(crate) scope: ScopeId,
    pub(crate) item: Rc<syn::Item>,
}

/// A struct or enum before its `impl`s are looked up.
struct DeclaredType {
    scope: ScopeId,
    item: syn::DeriveInput,
    complete: OnceCell<Rc<TypeDefinition>>,
}

impl SourceTree {
    /// Creates an empty tree. `progress` counts the files that are read.
    pub(crate) fn with_progress(progress: Option<Arc<AtomicUsize>>) -> Self {
        Self { progress, ..Self::default() }
    }

    /// Adds the packages as Cargo resolved them, by directory, so that the types of registry packages are read too.
    #[cfg(feature = "cli")]
    pub(crate) fn with_resolved(self, resolved: HashMap<PathBuf, ResolvedPackage>) -> Self {
        Self { resolved, ..self }
    }

    /// Returns all files that were read.
    #[cfg(feature = "cli")]
    pub(crate) fn files(&self) -> Vec<Rc<SourceFile>> {
        self.scopes.borrow().iter().filter(|scope| scope.is_file).map(|scope| scope.file.clone()).collect()
    }

    /// Parses all files of the scanned crates and returns their scopes.
    #[cfg(feature = "cli")]
    pub(crate) fn parse_all(&self) -> Vec<ScopeId> {
        let mut found = Vec::new();
        let mut index = 0;
        // Parsing a file may add scopes.
        while index < self.scopes.borrow().len() {
            let id = ScopeId(index);
            let scope = self.scope(id);
            if self.krate(scope.krate).scanned && self.items(&scope, id).is_some() {
                found.push(id);
            }
            index += 1;
        }
        found
    }

    /// Returns the crates that were added.
    pub(crate) fn crates(&self) -> Vec<Rc<Crate>> {
        self.crates.borrow().clone()
    }

    pub(crate) fn krate(&self, id: CrateId) -> Rc<Crate> {
        self.crates.borrow()[id.0].clone()
    }

    pub(crate) fn scope(&self, id: ScopeId) -> Rc<SourceScope> {
        self.scopes.borrow()[id.0].clone()
    }

    /// Returns the crate of a scope.
    pub(crate) fn crate_of(&self, scope: ScopeId) -> Rc<Crate> {
        self.krate(self.scope(scope).krate)
    }

    /// Adds a diagnostic.
    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Adds a diagnostic about a file that does not parse.
    fn report_unparsed(&self, diagnostic: Diagnostic) {
        self.has_unparsed.set(true);
        self.report(diagnostic);
    }

    /// Adds a warning about a type that could not be read.
    pub(crate) fn report_unseen(&self, diagnostic: Diagnostic) {
        self.unseen.borrow_mut().push(diagnostic);
    }

    /// Reads a file by its path relative to a source file. The manifest depends on it, even if it does not exist.
    pub(crate) fn read_beside(&self, source: &SourceFile, path: &str) -> Option<String> {
        let path = source.path.parent()?.join(path);
        self.note_file(&path);
        std::fs::read_to_string(path).ok()
    }

    /// Records a file that the manifest depends on, even if it does not exist.
    fn note_file(&self, path: &Path) {
        self.files.borrow_mut().push(path.to_owned());
    }

    /// Takes the items that may be annotated, in the order in which they were read.
    pub(crate) fn take_candidates(&self) -> Vec<CandidateItem> {
        self.candidates.take()
    }

    /// Returns the diagnostics and the files that the manifest depends on.
    ///
    /// If a file did not parse, warnings about types are dropped: the types may be in that file, and one mistake gives
    /// one message.
    pub(crate) fn finish(self) -> (Vec<Diagnostic>, Vec<PathBuf>) {
        let mut diagnostics = self.diagnostics.into_inner();
        if !self.has_unparsed.get() {
            diagnostics.extend(self.unseen.into_inner());
        }
        (diagnostics, self.files.into_inner())
    }

    fn add_scope(&self, scope: SourceScope) -> ScopeId {
        let mut scopes = self.scopes.borrow_mut();
        scopes.push(Rc::new(scope));
        ScopeId(scopes.len() - 1)
    }

    fn declare(&self, scope: ScopeId, item: syn::DeriveInput) -> DefinitionId {
        let mut definitions = self.definitions.borrow_mut();
        definitions.push(Rc::new(DeclaredType { scope, item, complete: OnceCell::new() }));
        DefinitionId(definitions.len() - 1)
    }

    /// Returns a definition with its `impl`s.
    fn complete_definition(&self, id: DefinitionId) -> Rc<TypeDefinition> {
        let declared = self.definitions.borrow()[id.0].clone();
        let complete = declared.complete.get_or_init(|| {
            let scope = self.scope(declared.scope);
            let mut item = declared.item.clone();
            self.name_derives(declared.scope, &mut item.attrs);
            Rc::new(TypeDefinition {
                module: scope.path.clone(),
                scope: declared.scope,
                impls: self.implementations(id, declared.scope, &item),
                item,
            })
        });
        complete.clone()
    }
}
