//! Patterns for names of files.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use tool_runtime::HandlerError;

use super::failure::Outcome;

/// A pattern such as `*.rs` or `src/**/*.rs`.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    matcher: GlobMatcher,
    /// Whether it is about the name alone: it has no `/`.
    is_of_name: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Outcome<Self> {
        let bare = pattern.trim_start_matches("./").trim_start_matches('/');
        let glob = GlobBuilder::new(bare).literal_separator(true).build();
        let glob =
            glob.map_err(|error| HandlerError::retry(format!("`{pattern}` is no pattern: {}.", error.kind())))?;
        Ok(Self { matcher: glob.compile_matcher(), is_of_name: !bare.contains('/') })
    }

    /// Whether it says something about folders, so that they have to be gone into.
    pub(super) fn has_folders(pattern: &str) -> bool {
        pattern.trim_start_matches("./").contains('/') || pattern.contains("**")
    }

    /// Whether a path fits, as seen from where the walk began.
    pub(super) fn fits(&self, path: &Path) -> bool {
        if self.is_of_name {
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
    fn a_pattern_without_folders_is_about_names() {
        let fits = |pattern: &str, path: &str| Glob::new(pattern).unwrap().fits(Path::new(path));
        assert!(fits("*.rs", "src/deep/main.rs"));
        assert!(fits("*.{ts,tsx}", "App.tsx"));
        assert!(fits("src/**/*.rs", "src/main.rs") && fits("src/**/*.rs", "src/a/b.rs"));
        assert!(!fits("src/*.rs", "src/a/b.rs") && !fits("*.rs", "main.rs.bak"));
        assert!(fits("./src/*.rs", "src/a.rs"));
        assert!(Glob::new("a{b").unwrap_err().to_string().contains("`a{b` is no pattern"));
    }
}
