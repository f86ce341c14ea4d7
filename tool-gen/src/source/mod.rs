//! The sources of crates, as a tree of modules that is read as far as it is needed.

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
pub(crate) use file::SourceFile;
pub(crate) use items::ModuleItems;

use crate::package::{Dependency, Package};
use crate::ty::{DefinitionId, ScopeId, TypeDefinition};
use crate::{Cfg, Diagnostic};

/// All crates of a scan, and what was seen of them.
#[derive(Default)]
pub(crate) struct SourceTree {
    crates: RefCell<Vec<Rc<Crate>>>,
    scopes: RefCell<Vec<Rc<Scope>>>,
    definitions: RefCell<Vec<Rc<DeclaredType>>>,
    candidates: RefCell<Vec<CandidateItem>>,
    /// What is in the folders that were looked into.
    listings: RefCell<HashMap<PathBuf, HashSet<OsString>>>,
    /// The files of a crate in which something was looked for and found.
    searched: RefCell<Vec<(CrateId, &'static str, Vec<ScopeId>)>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    /// How many files were read.
    progress: Option<Arc<AtomicUsize>>,
    /// Every file whose change could change the manifest, those included that are not there.
    files: RefCell<Vec<PathBuf>>,
    /// The names that our attributes have been given.
    renames: RefCell<BTreeSet<String>>,
    /// Those of them that other files may use, as long as they were not searched for.
    reexported: RefCell<Vec<String>>,
    /// What could not be seen of types.
    unseen: RefCell<Vec<Diagnostic>>,
    /// How many parts the type has that is being resolved.
    parts: Cell<usize>,
    /// Whether a file did not parse: what is missed may be in it.
    has_unparsed: Cell<bool>,
}

/// Names one crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrateId(usize);

/// A crate.
pub(crate) struct Crate {
    /// What is set in it, its features included.
    pub(crate) cfg: Cfg,
    /// The crates it names.
    pub(crate) dependencies: BTreeMap<String, Dependency>,
    package: Package,
    /// Whether its tools are wanted, or only its types.
    scanned: bool,
    root_file: PathBuf,
    root: Cell<Option<ScopeId>>,
    /// The crates it names, as far as they were looked for.
    libraries: RefCell<BTreeMap<String, Option<ScopeId>>>,
}

impl Crate {
    /// Returns the folder of its `Cargo.toml`.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.package.folder.as_deref()
    }
}

/// A module, or a block with items of its own.
pub(crate) struct Scope {
    pub(crate) krate: CrateId,
    /// The scope around it.
    pub(crate) parent: Option<ScopeId>,
    /// A block sees the names of the scope around it, a module does not.
    pub(crate) is_block: bool,
    /// Its module as `module_path!()` says it.
    pub(crate) path: String,
    /// The file it stands in.
    pub(crate) file: Rc<SourceFile>,
    folders: module_tree::ModuleDirectories,
    /// Who can name it.
    visibility: names::ItemVisibility,
    /// Whether it is a file of its own, which can still be parsed.
    is_file: bool,
    children: RefCell<BTreeMap<String, ScopeId>>,
    items: OnceCell<ModuleItems>,
}

/// An item that may be annotated: whether it is, names will tell.
#[derive(Clone)]
pub(crate) struct CandidateItem {
    pub(crate) scope: ScopeId,
    pub(crate) item: Rc<syn::Item>,
}

/// A struct or enum as it was declared.
struct DeclaredType {
    scope: ScopeId,
    item: syn::DeriveInput,
    complete: OnceCell<Rc<TypeDefinition>>,
}

impl SourceTree {
    /// Nothing yet; files are counted as they are read, if somebody wants to know.
    pub(crate) fn with_progress(progress: Option<Arc<AtomicUsize>>) -> Self {
        Self { progress, ..Self::default() }
    }

    pub(crate) fn krate(&self, id: CrateId) -> Rc<Crate> {
        self.crates.borrow()[id.0].clone()
    }

    pub(crate) fn scope(&self, id: ScopeId) -> Rc<Scope> {
        self.scopes.borrow()[id.0].clone()
    }

    /// The crate that a scope belongs to.
    pub(crate) fn crate_of(&self, scope: ScopeId) -> Rc<Crate> {
        self.krate(self.scope(scope).krate)
    }

    /// Says that something is wrong, or could not be seen.
    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Says that a file could not be parsed.
    fn report_unparsed(&self, diagnostic: Diagnostic) {
        self.has_unparsed.set(true);
        self.report(diagnostic);
    }

    /// Says that a type could not be seen.
    pub(crate) fn report_unseen(&self, diagnostic: Diagnostic) {
        self.unseen.borrow_mut().push(diagnostic);
    }

    /// Reads a file by its path from a source file. The manifest depends on it, whether or not it is there.
    pub(crate) fn read_beside(&self, source: &SourceFile, path: &str) -> Option<String> {
        let path = source.path.parent()?.join(path);
        self.note_file(&path);
        std::fs::read_to_string(path).ok()
    }

    /// Notes a file that is looked for, whether or not it is there.
    fn note_file(&self, path: &Path) {
        self.files.borrow_mut().push(path.to_owned());
    }

    /// The items that may be annotated, in the order in which they were read.
    pub(crate) fn take_candidates(&self) -> Vec<CandidateItem> {
        self.candidates.take()
    }

    /// What there is to say, and the files that were looked for.
    ///
    /// Where a file did not parse, the types that are missed may be in it: one mistake gives one message.
    pub(crate) fn finish(self) -> (Vec<Diagnostic>, Vec<PathBuf>) {
        let mut diagnostics = self.diagnostics.into_inner();
        if !self.has_unparsed.get() {
            diagnostics.extend(self.unseen.into_inner());
        }
        (diagnostics, self.files.into_inner())
    }

    fn add_scope(&self, scope: Scope) -> ScopeId {
        let mut scopes = self.scopes.borrow_mut();
        scopes.push(Rc::new(scope));
        ScopeId(scopes.len() - 1)
    }

    fn declare(&self, scope: ScopeId, item: syn::DeriveInput) -> DefinitionId {
        let mut definitions = self.definitions.borrow_mut();
        definitions.push(Rc::new(DeclaredType { scope, item, complete: OnceCell::new() }));
        DefinitionId(definitions.len() - 1)
    }

    /// A definition with what is implemented for it.
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
