//! Documentation files, located as rustc does.

use std::fs;

use proc_macro2::Span;
use tool_syntax::IncludedFiles;

/// Files next to the source file. The `#[doc]` attribute stays on the item, so rustc tracks the dependency.
pub(crate) struct SourceFiles;

impl IncludedFiles for SourceFiles {
    fn read(&self, path: &str, at: Span) -> Option<String> {
        let source = at.unwrap().local_file()?;
        // rustc reports files that cannot be read.
        Some(fs::read_to_string(source.parent()?.join(path)).unwrap_or_default())
    }

    fn manifest_dir(&self) -> Option<String> {
        std::env::var("CARGO_MANIFEST_DIR").ok()
    }
}
