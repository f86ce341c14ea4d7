//! What definitions and manifests are known by: the beginning of their SHA-256, and all of it.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tool_runtime::{Manifest, ToolDefinition};

/// How many hexadecimal digits of a definition's hash stand in its subject. Workers that a space lets in are not set on
/// collisions: these 64 bits tell apart what they offer by accident.
const DIGITS: usize = 16;

/// What a definition is known by. Its JSON has one form, so that equal definitions have equal fingerprints.
pub(crate) fn of_tool(definition: &ToolDefinition) -> String {
    let mut hash = hex(&serde_json::to_vec(definition).unwrap_or_default());
    hash.truncate(DIGITS);
    hash
}

/// What a manifest is known by, and its text.
pub(crate) fn of_manifest(manifest: &Manifest) -> (String, String) {
    let text = manifest.to_json();
    (of_text(&text), text)
}

pub(crate) fn of_text(text: &str) -> String {
    hex(text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
