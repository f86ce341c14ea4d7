//! The module tree: finds the files of modules as rustc does, and follows `include!`.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Attribute, Item, ItemMod};

use super::file::{parse_outline, too_deep};
use super::names::ItemVisibility;
use super::{CrateId, SourceFile, SourceScope, SourceTree};
use crate::cfg::string_value;
use crate::text::{annotations, includes, may_declare_modules, modules_only};
use crate::ty::ScopeId;
use crate::{Diagnostic, Severity, SourcePlace};

/// The deepest module that is read. Only a cycle of links leads deeper.
const DEEPEST_MODULE: usize = 100;

/// From this depth on, each file is compared with the files of the enclosing modules. This detects cycles late, but
/// costs other crates nothing.
const SUSPICIOUS_DEPTH: usize = 16;

/// The directories of a module's submodules.
#[derive(Clone, Debug)]
pub(super) struct ModuleDirectories {
    /// For `mod name;`.
    modules: PathBuf,
    /// For `#[path = ".."]`.
    paths: PathBuf,
}

impl ModuleDirectories {
    /// Returns the directories for the root of a crate, a `mod.rs`, or a file of `#[path]`.
    pub(super) fn beside(file: &Path) -> Self {
        let directory = directory_of(file);
        Self { modules: directory.clone(), paths: directory }
    }

    /// Returns the directories for a file with the name of its module.
    fn below(file: &Path) -> Self {
        Self { modules: file.with_extension(""), paths: directory_of(file) }
    }

    /// Returns the directories for an inline module.
    fn inside(&self, name: &str, path: Option<&str>) -> Self {
        let directory = match path {
            Some(path) => self.paths.join(path),
            None => self.modules.join(name),
        };
        Self { modules: directory.clone(), paths: directory }
    }
}

type MissingFile = (String, Option<String>);

impl SourceTree {
    pub(super) fn add_file(
        &self,
        krate: CrateId,
        parent: Option<ScopeId>,
        path: String,
        file: SourceFile,
        directories: ModuleDirectories,
        visibility: ItemVisibility,
    ) -> ScopeId {
        if let Some(files) = &self.progress {
            files.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        self.add_scope(SourceScope {
            krate,
            parent,
            is_block: false,
            path,
            file: Rc::new(file),
            directories,
            visibility,
            is_file: true,
            children: RefCell::default(),
            items: OnceCell::new(),
        })
    }

    /// Adds a block of a function.
    pub(super) fn add_block(&self, parent: ScopeId) -> ScopeId {
        let around = self.scope(parent);
        self.add_scope(SourceScope {
            krate: around.krate,
            parent: Some(parent),
            is_block: true,
            path: around.path.clone(),
            file: around.file.clone(),
            directories: around.directories.clone(),
            visibility: ItemVisibility::Everywhere,
            is_file: false,
            children: RefCell::default(),
            items: OnceCell::new(),
        })
    }

    /// Follows the modules of a file. Parses the whole file if it has annotations, else only its `mod` items.
    pub(super) fn read_modules(&self, id: ScopeId) {
        let scope = self.scope(id);
        let text = scope.file.text();
        let is_worth_it =
            || !annotations(text.as_bytes()).is_empty() || self.includes_tools(&scope.file.path, text.as_bytes());
        if self.krate(scope.krate).scanned && is_worth_it() {
            return self.parse(id);
        }
        scope.file.drop_text();
        if may_declare_modules(text.as_bytes()) {
            let outline = match modules_only(&text) {
                Ok(outline) => outline,
                Err(deep) => return self.report_in_scanned(&scope, *too_deep(&scope.file, deep)),
            };
            // rustc reports the error, and the file has no tools.
            let Ok(file) = syn::parse_file(&outline.text) else { return };
            for (name, at) in outline.in_macros {
                let hidden = hidden_by_macro("a module", &name, scope.file.place_at(at));
                self.report_in_scanned(&scope, hidden);
            }
            if self.krate(scope.krate).cfg.is_enabled_expanded(&file.attrs) {
                self.declare_modules(id, file.items);
            }
        }
    }

    /// Reports a problem in a crate whose tools are read. In other crates it matters only if a type is missing.
    pub(super) fn report_in_scanned(&self, scope: &SourceScope, diagnostic: Diagnostic) {
        if self.krate(scope.krate).scanned {
            self.report(diagnostic);
        }
    }

    fn declare_modules(&self, id: ScopeId, items: Vec<Item>) {
        let cfg = &self.crate_of(id).cfg;
        for item in items {
            let Item::Mod(module) = item else { continue };
            let mut attributes = module.attrs.clone();
            cfg.expand(&mut attributes);
            if cfg.is_enabled(&attributes) {
                self.enter_module(id, module, &attributes, false);
            }
        }
    }

    /// Returns the items of a module, and parses its file if needed.
    pub(crate) fn items<'s>(&self, scope: &'s SourceScope, id: ScopeId) -> Option<&'s super::ModuleItems> {
        let mut file = Some(id);
        while let (None, Some(id)) = (scope.items.get(), file) {
            let around = self.scope(id);
            if around.is_file && around.items.get().is_none() {
                self.parse(id);
            }
            file = if around.is_file { None } else { around.parent };
        }
        scope.items.get()
    }

    /// Parses a file and reads all of its items.
    fn parse(&self, id: ScopeId) {
        let scope = self.scope(id);
        let krate = self.krate(scope.krate);
        match parse_outline(&scope.file) {
            Ok(file) if krate.cfg.is_enabled_expanded(&file.attrs) => self.read_items(id, file.items),
            Ok(_) => self.read_items(id, Vec::new()),
            Err(diagnostic) => {
                self.report_unparsed(*diagnostic);
                self.read_items(id, Vec::new());
            }
        }
    }

    /// Enters an inline module, or the file of a module.
    pub(super) fn enter_module(&self, around: ScopeId, module: ItemMod, attributes: &[Attribute], fill: bool) {
        let name = syn::ext::IdentExt::unraw(&module.ident).to_string();
        let path = string_value(attributes, "path");
        let known = self.scope(around).children.borrow().get(&name).copied();
        let Some((_, items)) = module.content else {
            if known.is_none() {
                self.enter_file(around, &module, &name, path.as_deref());
            }
            return;
        };
        let id = known.unwrap_or_else(|| {
            let scope = self.scope(around);
            let id = self.add_scope(SourceScope {
                krate: scope.krate,
                parent: Some(around),
                is_block: false,
                path: format!("{}::{}", scope.path, module.ident),
                file: scope.file.clone(),
                directories: scope.directories.inside(&name, path.as_deref()),
                visibility: self.visibility(&module.vis, around),
                is_file: false,
                children: RefCell::default(),
                items: OnceCell::new(),
            });
            scope.children.borrow_mut().insert(name, id);
            id
        });
        if fill { self.read_items(id, items) } else { self.declare_modules(id, items) }
    }

    fn enter_file(&self, around: ScopeId, module: &ItemMod, name: &str, path: Option<&str>) {
        let scope = self.scope(around);
        let wrong = |message: String, help: Option<String>, compile_error: bool| {
            let place = Some(scope.file.place(module.ident.span()));
            let diagnostic = Diagnostic { severity: Severity::Error, message, help, place, compile_error };
            self.report_in_scanned(&scope, diagnostic);
        };
        let (file, directories) = match self.find_file(&scope.directories, name, path) {
            Ok(found) => found,
            Err((message, help)) => return wrong(message, help, true),
        };
        let depth = scope.path.matches("::").count();
        if (path.is_some() || depth > SUSPICIOUS_DEPTH) && self.is_above(around, &file) {
            let message = format!("module `{name}` refers to {}, which contains it", file.display());
            return wrong(message, Some("a file cannot be a module of itself; change its `#[path]`".to_owned()), true);
        }
        if depth > DEEPEST_MODULE {
            let message =
                format!("modules are nested more than {DEEPEST_MODULE} levels deep; {} is skipped", file.display());
            // Our own limit: rustc goes deeper.
            return wrong(message, Some("check for a link to a parent directory".to_owned()), false);
        }
        let file = match SourceFile::read(&file) {
            Ok(file) => file,
            Err(diagnostic) => return self.report_in_scanned(&scope, *diagnostic),
        };
        let module_path = format!("{}::{}", scope.path, module.ident);
        let visibility = self.visibility(&module.vis, around);
        let id = self.add_file(scope.krate, Some(around), module_path, file, directories, visibility);
        scope.children.borrow_mut().insert(name.to_owned(), id);
        self.read_modules(id);
    }

    /// Returns `true` if a file is that of a module or of an enclosing module.
    pub(super) fn is_above(&self, scope: ScopeId, file: &Path) -> bool {
        let file = canonical(file);
        let mut next = Some(scope);
        while let Some(id) = next {
            let scope = self.scope(id);
            if canonical(&scope.file.path) == file {
                return true;
            }
            next = scope.parent;
        }
        false
    }

    /// Returns the file of `mod name;` and the directories of its submodules.
    fn find_file(
        &self,
        directories: &ModuleDirectories,
        name: &str,
        path: Option<&str>,
    ) -> Result<(PathBuf, ModuleDirectories), MissingFile> {
        if let Some(path) = path {
            let file = directories.paths.join(path);
            let directories = ModuleDirectories::beside(&file);
            self.note_file(&file);
            return Ok((file, directories));
        }
        let flat_name = format!("{name}.rs");
        let flat = directories.modules.join(&flat_name);
        let nested = directories.modules.join(name).join("mod.rs");
        let has_flat = self.directory_has(&directories.modules, &flat_name);
        // A broken link exists and cannot be read.
        let has_nested = self.directory_has(&directories.modules, name) && std::fs::symlink_metadata(&nested).is_ok();
        if has_flat == has_nested {
            // Either file may be created or removed.
            self.note_file(&flat);
            self.note_file(&nested);
        }
        match (has_flat, has_nested) {
            (true, true) => Err((
                format!("module `{name}` has two files: {} and {}", flat.display(), nested.display()),
                Some("remove or rename one of them".to_owned()),
            )),
            (true, false) => {
                self.note_file(&flat);
                let directories = ModuleDirectories::below(&flat);
                Ok((flat, directories))
            }
            (false, true) => {
                self.note_file(&nested);
                let directories = ModuleDirectories::beside(&nested);
                Ok((nested, directories))
            }
            (false, false) => Err((
                format!("module `{name}` has no file"),
                Some(format!("create {} or {}", flat.display(), nested.display())),
            )),
        }
    }

    /// Returns `true` if a directory has an entry. Directories are listed once: most modules have neighbours.
    fn directory_has(&self, directory: &Path, name: &str) -> bool {
        let mut listings = self.listings.borrow_mut();
        if !listings.contains_key(directory) {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            listings.insert(directory.to_owned(), entries.map(|entry| entry.file_name()).collect());
        }
        listings.get(directory).is_some_and(|entries| entries.contains(std::ffi::OsStr::new(name)))
    }

    /// Reads the file of `include!("file.rs")`. Its items belong to the enclosing module and see its names.
    pub(super) fn include(&self, around: ScopeId, item: &syn::ItemMacro) -> Option<ScopeId> {
        // A computed path, such as one in `OUT_DIR`, does not exist before the build.
        let path = syn::parse2::<syn::LitStr>(item.mac.tokens.clone()).ok()?.value();
        let scope = self.scope(around);
        let path = directory_of(&scope.file.path).join(path);
        self.note_file(&path);
        if self.is_above(around, &path) {
            return None;
        }
        let file = match SourceFile::read(&path) {
            Ok(file) => file,
            Err(diagnostic) => {
                self.report_in_scanned(&scope, *diagnostic);
                return None;
            }
        };
        let id = self.add_scope(SourceScope {
            krate: scope.krate,
            parent: Some(around),
            is_block: true,
            path: scope.path.clone(),
            directories: ModuleDirectories::beside(&file.path),
            file: Rc::new(file),
            is_file: true,
            visibility: ItemVisibility::Everywhere,
            children: RefCell::default(),
            items: OnceCell::new(),
        });
        self.read_modules(id);
        Some(id)
    }

    /// Returns `true` if a file includes another that has annotations or includes others.
    pub(super) fn includes_tools(&self, file: &Path, text: &[u8]) -> bool {
        includes(text).any(|path| {
            let path = directory_of(file).join(path);
            self.note_file(&path);
            let text = std::fs::read(&path).unwrap_or_default();
            !annotations(&text).is_empty() || includes(&text).next().is_some()
        })
    }

    /// Warns about a tool or a module inside of a macro call, which exists only once the macro is expanded.
    pub(crate) fn check_macro(&self, scope: ScopeId, item: &syn::ItemMacro) {
        let name = item.mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let file = &self.scope(scope).file;
        if let Some(span) = annotation_in(item.mac.tokens.clone()) {
            self.report(hidden_by_macro("a tool", &name, file.place(span)));
        }
        if name != "macro_rules"
            && let Some(span) = module_in(item.mac.tokens.clone())
        {
            self.report(hidden_by_macro("a module", &name, file.place(span)));
        }
    }
}

/// Returns the directory of a file, or `.`.
pub(super) fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(directory) if directory != Path::new("") => directory.to_owned(),
        _ => PathBuf::from("."),
    }
}

pub(super) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a warning about an item inside of a macro call.
pub(super) fn hidden_by_macro(what: &str, name: &str, place: SourcePlace) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        message: format!("{what} inside of the macro `{name}!` cannot be read from the source"),
        help: Some("write it without the macro, or use the program's manifest with `Manifest::linked()`".to_owned()),
        place: Some(place),
        compile_error: false,
    }
}

/// Finds `#[tool..]` or `#[tool_class..]` in the tokens of a macro.
fn annotation_in(tokens: TokenStream) -> Option<Span> {
    let mut after_hash = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let names_tool = after_hash
                    && group.delimiter() == proc_macro2::Delimiter::Bracket
                    && path_ends_in_tool(group.stream());
                if names_tool {
                    return Some(group.span());
                }
                if let Some(span) = annotation_in(group.stream()) {
                    return Some(span);
                }
                after_hash = false;
            }
            TokenTree::Punct(sign) => after_hash = sign.as_char() == '#',
            _ => after_hash = false,
        }
    }
    None
}

fn path_ends_in_tool(tokens: TokenStream) -> bool {
    let mut last = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => last = name.to_string(),
            TokenTree::Punct(sign) if sign.as_char() == ':' || sign.as_char() == '$' => {}
            _ => break,
        }
    }
    matches!(last.as_str(), "tool" | "tool_class")
}

/// Finds `mod name;` in the tokens of a macro.
fn module_in(tokens: TokenStream) -> Option<Span> {
    let mut module = None;
    let mut named = false;
    for token in tokens {
        match (token, module) {
            (TokenTree::Group(group), _) => {
                if let Some(span) = module_in(group.stream()) {
                    return Some(span);
                }
                module = None;
            }
            (TokenTree::Ident(word), _) if word == "mod" => (module, named) = (Some(word.span()), false),
            (TokenTree::Ident(_), Some(_)) if !named => named = true,
            (TokenTree::Punct(sign), Some(span)) if named && sign.as_char() == ';' => return Some(span),
            _ => module = None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_parent_is_in_the_current_directory() {
        assert_eq!(directory_of(Path::new("lib.rs")), Path::new("."));
        assert_eq!(directory_of(Path::new("src/lib.rs")), Path::new("src"));
        assert_eq!(ModuleDirectories::beside(Path::new("lib.rs")).modules, Path::new("."));
    }
}
