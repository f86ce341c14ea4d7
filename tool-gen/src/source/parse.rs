//! From the text of a file to its items.

use super::SourceFile;
use crate::text::{TooDeep, annotations, check_nesting, without_bodies};
use crate::{Diagnostic, Severity};

/// Parses what stands outside of function bodies.
pub(super) fn parse_outline(file: &SourceFile) -> Result<syn::File, Box<Diagnostic>> {
    file.check_size()?;
    let error = |wrong: &syn::Error| {
        Box::new(Diagnostic {
            severity: Severity::Error,
            message: in_our_words(wrong),
            help: Some("its types and tools are left out until it compiles".to_owned()),
            place: Some(file.place(wrong.span())),
            compile_error: true,
        })
    };
    let text = file.text();
    let outline = without_bodies(&text, &annotations(text.as_bytes())).map_err(|deep| too_deep(file, deep))?;
    syn::parse_file(&outline).or_else(|wrong| match check_nesting(&text) {
        // The parser is right, should the outline be wrong.
        Ok(()) => syn::parse_file(&text).map_err(|wrong| error(&wrong)),
        Err(_) => Err(error(&wrong)),
    })
}

/// A limit of ours: rustc may well compile it.
pub(super) fn too_deep(file: &SourceFile, deep: TooDeep) -> Box<Diagnostic> {
    Box::new(Diagnostic {
        severity: Severity::Error,
        message: "this is nested too deeply to be read here".to_owned(),
        help: Some("move it into a file without tools and their types, or take the manifest from the program with `Manifest::linked()`".to_owned()),
        place: Some(file.place_at(deep.at)),
        compile_error: false,
    })
}

fn in_our_words(wrong: &syn::Error) -> String {
    match wrong.to_string() {
        lexer if lexer.contains("token stream") => {
            "a bracket, a quote or a comment is opened here and not closed, or closed and not opened".to_owned()
        }
        parser => format!("this does not parse: {parser}"),
    }
}
