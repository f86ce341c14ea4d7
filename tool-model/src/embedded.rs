//! Manifests compiled into a program.

use crate::{Manifest, ManifestError};

/// The text of a manifest that was compiled into the program, as returned by `tool_runtime::manifest!()`.
///
/// Parsed when a dispatcher is built, which reports an invalid manifest.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedManifest {
    path: &'static str,
    text: &'static str,
}

impl EmbeddedManifest {
    /// Creates an embedded manifest from its text and its path, which error messages name.
    #[must_use]
    pub const fn new(path: &'static str, text: &'static str) -> Self {
        Self { path, text }
    }

    /// Returns the text of the file.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }
}

impl TryFrom<EmbeddedManifest> for Manifest {
    type Error = ManifestError;

    fn try_from(embedded: EmbeddedManifest) -> Result<Self, ManifestError> {
        Self::from_json(embedded.text).map_err(|error| error.in_file(embedded.path))
    }
}
