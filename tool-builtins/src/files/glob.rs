//! Glob patterns for file paths.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use tool_runtime::HandlerError;

use super::errors::{FileResult, quote_path};

/// A pattern such as `*.rs` or `src/**/*.rs`.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    matcher: GlobMatcher,
    /// `true` if the pattern contains no `/` and matches the file name alone.
    matches_name: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> FileResult<Self> {
        let bare = pattern.trim_start_matches("./").trim_start_matches('/');
        let glob = GlobBuilder::new(bare).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            HandlerError::retry(format!("{} is not a valid pattern: {}.", quote_path(pattern), error.kind()))
        })?;
        Ok(Self { matcher: glob.compile_matcher(), matches_name: !bare.contains('/') })
    }

    /// Returns `true` if a pattern refers to subdirectories, so that they must be searched.
    pub(super) fn has_directories(pattern: &str) -> bool {
        pattern.trim_start_matches("./").contains('/') || pattern.contains("**")
    }

    /// Returns `true` if a path, relative to the start of the walk, matches.
    pub(super) fn matches(&self, path: &Path) -> bool {
        if self.matches_name {
            path.file_name().is_some_and(|name| self.matcher.is_match(Path::new(name)))
        } else {
            self.matcher.is_match(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_slash_matches_names() {
        let matches = |pattern: &str, path: &str| Glob::new(pattern).unwrap().matches(Path::new(path));
        assert!(matches("*.rs", "src/deep/main.rs"));
        assert!(matches("*.{ts,tsx}", "App.tsx"));
        assert!(matches("src/**/*.rs", "src/main.rs") && matches("src/**/*.rs", "src/a/b.rs"));
        assert!(!matches("src/*.rs", "src/a/b.rs") && !matches("*.rs", "main.rs.bak"));
        assert!(matches("./src/*.rs", "src/a.rs"));
        assert!(Glob::new("a{b").unwrap_err().to_string().contains("`a{b` is not a valid pattern"));
    }
}
