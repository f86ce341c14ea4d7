//! Fingerprints of definitions and manifests, based on SHA-256.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tool_runtime::{Manifest, ToolDefinition};

/// The length of a definition's fingerprint, in hexadecimal digits. 64 bits are enough to avoid accidental collisions;
/// workers of a space are trusted not to construct one.
const DIGITS: usize = 16;

/// Returns the fingerprint of a definition. Its JSON is canonical, so that equal definitions have equal fingerprints.
pub(crate) fn definition(tool: &ToolDefinition) -> String {
    let mut hash = hex(&serde_json::to_vec(tool).unwrap_or_default());
    hash.truncate(DIGITS);
    hash
}

/// Returns the fingerprint of a manifest, and its text.
pub(crate) fn manifest(manifest: &Manifest) -> (String, String) {
    let text = manifest.to_json();
    (self::text(&text), text)
}

pub(crate) fn text(text: &str) -> String {
    hex(text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
