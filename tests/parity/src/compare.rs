//! Two manifests side by side.

use std::fmt::Write;

use similar::{ChangeTag, TextDiff};
use tool_model::{Manifest, ToolDefinition, to_pretty};

/// A tool that two manifests describe differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its name.
    pub tool: String,
    /// Its handler, as either says it.
    pub handler: String,
    /// The lines that differ, with some around them.
    pub diff: String,
}

/// The tools in which the manifests differ; `-` is what the compiler says, `+` what the source was read as.
#[must_use]
pub fn differences(linked: &Manifest, scanned: &Manifest) -> Vec<Difference> {
    let mut names: Vec<&str> = linked.iter().chain(scanned.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let differing = names.into_iter().filter(|name| text(linked.get(name)) != text(scanned.get(name)));
    differing
        .map(|name| Difference {
            tool: name.to_owned(),
            handler: linked.get(name).or(scanned.get(name)).map(|tool| tool.handler.clone()).unwrap_or_default(),
            diff: diff(&text(linked.get(name)), &text(scanned.get(name))),
        })
        .collect()
}

fn text(tool: Option<&ToolDefinition>) -> String {
    tool.map(to_pretty).unwrap_or_default()
}

/// The lines that differ between two texts, with three around them.
#[must_use]
pub fn diff(old: &str, new: &str) -> String {
    let mut written = String::new();
    for group in TextDiff::from_lines(old, new).grouped_ops(3).iter().enumerate() {
        let (index, operations) = group;
        if index > 0 {
            written.push_str("  ...\n");
        }
        let lines = TextDiff::from_lines(old, new);
        for change in operations.iter().flat_map(|operation| lines.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            // A string takes everything.
            let _ = writeln!(written, "{sign} {}", change.value().trim_end_matches('\n'));
        }
    }
    written
}
