//! What a change of a manifest means to those who call its tools.
//!
//! ```
//! use tool_model::Manifest;
//! use tool_model::compatibility::{ChangeKind, changes};
//!
//! let manifest = |arguments: &str| {
//!     let tool = format!(r#"{{"description": "Points.", "handler": "app::newest", "arguments": {arguments}}}"#);
//!     Manifest::from_json(&format!(r#"{{"metrics.newest": {tool}}}"#))
//! };
//! let old = manifest(r#"{"limit": {"type": "integer", "required": false, "maximum": 100}}"#)?;
//! let new = manifest(r#"{"limit": {"type": "integer", "required": false, "maximum": 50}}"#)?;
//!
//! let found = changes(&old, &new);
//! assert_eq!(found[0].kind, ChangeKind::Breaking);
//! assert_eq!(found[0].to_string(), "metrics.newest arguments.limit: must be at most 50; it was at most 100");
//! # Ok::<(), tool_model::ManifestError>(())
//! ```
//!
//! # What counts as what
//! A change is **breaking** if a call that was right may now be refused or mean something else, or if a caller may
//! no longer find in the result what it read there:
//! * a tool or an argument that is gone or has another name (the likely pair is named);
//! * an argument that is newly required, takes fewer types or values, or has a tighter bound, another pattern or
//!   another format;
//! * in `returns`, which a caller reads, the opposite: a field that is gone or may be missing, a type or a value more;
//! * a promise that is withdrawn: `read_only` or `idempotent` gone, `destructive` or `sensitive` set (a call that is
//!   not attended is refused then), a shorter `timeout`, `repair` switched off.
//!
//! It is **compatible** if the new schemas allow every call that the old ones allowed: a tool or an optional argument
//! more, a type, a value or a bound widened, another `default`, the opposites of the flags above, `strict`,
//! `sequential`, and another handler under the same name. It is **text** if only what the model reads has changed: descriptions, instructions, category,
//! tags, examples, the order of values.
//!
//! A caller is taken to send only what the old manifest names: a property that an open object newly describes is an
//! addition. Where it cannot be shown that a change is compatible, it is called breaking.
//!
//! # Facts beside the schemas
//! One schema may stand for several Rust types: `u64` and `u128`, `f32` and `f64`, `String` and a type that is parsed. Nor
//! does a schema have the other names of a field (`#[serde(alias)]`). A generator that reads sources can add these facts
//! as keywords ([`RUST_TYPE`], [`ALIASES`], [`VARIANT_ALIASES`], [`VALIDATED`]). Types are compared where both sides
//! have them; an alias counts where the new side has it. Manifests have none of them, so that models do not see them.

mod alternatives;
mod compare;
mod difference;
mod facts;
mod kinds;
mod normal;
mod object;
mod rename;
mod rules;
mod texts;
mod tool;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use crate::Manifest;

pub(crate) use facts::SourceFacts;
pub use facts::{ALIASES, RUST_TYPE, VALIDATED, VARIANT_ALIASES, without_facts};

/// The path of a tool's arguments in a change.
const ARGUMENTS: &str = "arguments";

/// What a change means to callers. In JSON: `breaking`, `compatible`, `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A call that was right may now fail, or a result may lack what a caller reads.
    Breaking,
    /// Every call that the old schemas allowed is allowed by the new ones.
    Compatible,
    /// Only what the model reads has changed.
    Text,
}

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The tool's name; of one that was renamed, the new name, except in the change that says so.
    pub tool: String,
    /// Where in the tool: `arguments.limit`, `arguments.order.items[].sku`, `returns`, `timeout`; empty for the tool
    /// as a whole.
    pub path: String,
    /// What it means.
    pub kind: ChangeKind,
    /// What has changed, in words that follow the path: `must be at most 50; it was at most 100`.
    pub message: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}: {}", self.tool, self.message),
            path => write!(f, "{} {path}: {}", self.tool, self.message),
        }
    }
}

/// Everything that differs, sorted by tool and path; empty exactly if the manifests are equal.
#[must_use]
pub fn changes(old: &Manifest, new: &Manifest) -> Vec<Change> {
    let mut found = Vec::new();
    for (name, was) in old.iter() {
        if let Some(is) = new.get(name) {
            found.extend(tool::changes(name, was, is));
        }
    }
    let mut gone: Vec<_> = old.iter().filter(|(name, _)| new.get(name).is_none()).collect();
    let mut added: Vec<_> = new.iter().filter(|(name, _)| old.get(name).is_none()).collect();
    let change =
        |tool: &str, kind, message: String| Change { tool: tool.to_owned(), path: String::new(), kind, message };
    for (was, is) in rename::tools(&mut gone, &mut added) {
        let message = format!("was renamed to `{}`, it seems; calls of the old name are refused", is.0);
        found.push(change(was.0, ChangeKind::Breaking, message));
        found.extend(tool::changes(is.0, was.1, is.1));
    }
    found.extend(gone.iter().map(|(name, _)| change(name, ChangeKind::Breaking, "is gone".to_owned())));
    found.extend(added.iter().map(|(name, _)| change(name, ChangeKind::Compatible, "is new".to_owned())));
    found.sort_by(|a, b| (&a.tool, &a.path, a.kind).cmp(&(&b.tool, &b.path, b.kind)));
    found
}
