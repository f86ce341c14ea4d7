//! A manifest that is part of the program.

use crate::{Manifest, ManifestError};

/// The text of a manifest that was compiled into the program; what `tool_runtime::manifest!()` gives.
///
/// It is read when a dispatcher is built, which reports a text that is no manifest.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedManifest {
    path: &'static str,
    text: &'static str,
}

impl EmbeddedManifest {
    /// A text, and the file it came from, for errors.
    #[must_use]
    pub const fn new(path: &'static str, text: &'static str) -> Self {
        Self { path, text }
    }

    /// The text as it stands in the file.
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
