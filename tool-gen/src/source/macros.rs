//! What macros hide, and the one that hides nothing: `include!`.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;

use proc_macro2::{Span, TokenStream, TokenTree};

use super::load::{Folders, folder_of};
use super::visibility::Visibility;
use super::{Scope, SourceFile, Sources};
use crate::text::{annotations, includes};
use crate::ty::ScopeId;
use crate::{Diagnostic, Place, Severity};

impl Sources {
    /// The items of `include!("file.rs")` belong to the module it stands in, and see its names.
    pub(super) fn include(&self, around: ScopeId, item: &syn::ItemMacro) -> Option<ScopeId> {
        // What is computed, such as a path in `OUT_DIR`, is not there before the build.
        let path = syn::parse2::<syn::LitStr>(item.mac.tokens.clone()).ok()?.value();
        let scope = self.scope(around);
        let path = folder_of(&scope.file.path).join(path);
        self.tried(&path);
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
        let id = self.add_scope(Scope {
            krate: scope.krate,
            parent: Some(around),
            is_block: true,
            path: scope.path.clone(),
            folders: Folders::beside(&file.path),
            file: Rc::new(file),
            is_file: true,
            visibility: Visibility::Everywhere,
            children: RefCell::default(),
            items: OnceCell::new(),
        });
        self.read_modules(id);
        Some(id)
    }

    /// Whether a file without annotations includes one that has some, or that includes others.
    pub(super) fn includes_tools(&self, file: &Path, text: &[u8]) -> bool {
        includes(text).any(|path| {
            let path = folder_of(file).join(path);
            self.tried(&path);
            let text = std::fs::read(&path).unwrap_or_default();
            !annotations(&text).is_empty() || includes(&text).next().is_some()
        })
    }

    /// A tool or a module that a macro makes exists only once the macro is expanded.
    pub(super) fn check_macro(&self, scope: ScopeId, item: &syn::ItemMacro) {
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

/// Says that something stands in a macro.
pub(super) fn hidden_by_macro(what: &str, name: &str, place: Place) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        message: format!("{what} inside the macro `{name}!` cannot be seen in the source"),
        help: Some("write it out, or take the manifest from the program with `Manifest::linked()`".to_owned()),
        place: Some(place),
        compile_error: false,
    }
}

/// Where `#[tool..]` or `#[tool_class..]` stands in the tokens of a macro.
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

/// Where `mod name;` stands in the tokens of a macro.
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
