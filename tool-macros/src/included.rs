//! The files that documentation comes from, as the compiler finds them.

use std::fs;

use proc_macro2::Span;
use tool_syntax::IncludedFiles;

/// Reads files beside the source. The attribute stays on the item, so that rustc notes that the crate depends on them.
pub(crate) struct SourceFiles;

impl IncludedFiles for SourceFiles {
    fn read(&self, path: &str, at: Span) -> Option<String> {
        let source = at.unwrap().local_file()?;
        // rustc reports a file that cannot be read.
        Some(fs::read_to_string(source.parent()?.join(path)).unwrap_or_default())
    }

    fn manifest_dir(&self) -> Option<String> {
        std::env::var("CARGO_MANIFEST_DIR").ok()
    }
}
