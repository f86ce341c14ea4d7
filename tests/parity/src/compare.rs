//! Differences between two manifests.
//!
//! Manifests are compared as text, by line, so that nothing in them goes unnoticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use similar::{ChangeTag, TextDiff};

/// A tool that two manifests describe differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The name of the tool.
    pub tool: String,
    /// The handler of the tool, from either manifest.
    pub handler: String,
    /// The lines that differ, with some context.
    pub diff: String,
}

/// Splits the text of a manifest into entries by tool name.
#[must_use]
pub fn entries(manifest: &str) -> BTreeMap<&str, &str> {
    let mut entries = BTreeMap::new();
    let mut rest = manifest;
    while let Some(start) = rest.find("\n  \"") {
        let entry = &rest[start + 1..];
        let end = entry.find("\n  \"").or_else(|| entry.rfind("\n}")).unwrap_or(entry.len());
        let name = entry[3..end].split('"').next().unwrap_or_default();
        // The last entry has no comma.
        entries.insert(name, entry[..end].trim_end_matches(','));
        rest = &entry[end..];
    }
    entries
}

/// Returns the tools in which two manifests differ: `-` is the compiler's line, `+` the generator's.
#[must_use]
pub fn differences(linked: &str, scanned: &str) -> Vec<Difference> {
    let (linked, scanned) = (entries(linked), entries(scanned));
    let names: BTreeSet<&str> = linked.keys().chain(scanned.keys()).copied().collect();
    let entry = |entries: &BTreeMap<&str, &str>, name: &str| entries.get(name).copied().unwrap_or_default().to_owned();
    let differing = names.into_iter().filter(|name| linked.get(name) != scanned.get(name));
    differing
        .map(|name| {
            let (linked, scanned) = (entry(&linked, name), entry(&scanned, name));
            let either = if linked.is_empty() { &scanned } else { &linked };
            Difference { tool: name.to_owned(), handler: handler(either).to_owned(), diff: diff(&linked, &scanned) }
        })
        .collect()
}

/// Returns the handler that an entry names.
fn handler(entry: &str) -> &str {
    let after = entry.split_once("\"handler\": \"").map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default()
}

/// Returns the lines that differ between two texts, with three lines of context.
#[must_use]
pub fn diff(old: &str, new: &str) -> String {
    let lines = TextDiff::from_lines(old, new);
    let mut written = String::new();
    for (index, operations) in lines.grouped_ops(3).iter().enumerate() {
        if index > 0 {
            written.push_str("  ...\n");
        }
        for change in operations.iter().flat_map(|operation| lines.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            // Writing to a string never fails.
            let _ = writeln!(written, "{sign} {}", change.value().trim_end_matches('\n'));
        }
    }
    written
}
