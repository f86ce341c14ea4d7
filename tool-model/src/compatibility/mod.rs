//! Compatibility of two versions of a manifest, as seen by the callers of its tools.
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
//! # Kinds of changes
//! A change is **breaking** if a valid call may now be refused or mean something else, or if a caller may no longer find a
//! part of the result that it read:
//! * a tool or an argument was removed, or renamed without its old name as an alias (the likely new name is given);
//! * an alias was removed, or moved to another argument;
//! * an argument is newly required, accepts fewer types or values, or has a tighter bound, another pattern or another
//!   format;
//! * in `returns`, which callers read, the opposite: a field was removed or may be missing, a type or a value was added;
//! * a promise is withdrawn: `read_only` or `idempotent` removed, `destructive` or `sensitive` set (an unattended call is
//!   then refused), a shorter `timeout`, `repair` disabled.
//!
//! It is **compatible** if the new schemas allow every call that the old ones allowed: an additional tool or optional
//! argument, an alias, a wider type, value or bound, another `default`, the opposites of the flags above, `strict`,
//! `sequential`, `supports_streaming` and another handler under the same name. It is **text** if only descriptions for the
//! model have changed:
//! descriptions, instructions, category, tags, examples, the order of values.
//!
//! Callers are assumed to send only what the old manifest names: a property that an open object newly describes is an
//! addition. A change that cannot be shown to be compatible is called breaking.
//!
//! # Facts beside the schemas
//! Several Rust types may have one schema: `u64` and `u128`, `f32` and `f64`, `String` and a parsed type. Nor does a
//! schema have the other names of a field (`#[serde(alias)]`). A generator that reads sources can add these facts as
//! keywords ([`RUST_TYPE`], [`ALIASES`], [`VARIANT_ALIASES`], [`VALIDATED`]). Types are compared where both sides have
//! them; an alias counts where the new side has it. Manifests have none of these keywords, so that models do not see
//! them.

mod alternatives;
mod annotations;
mod comparison;
mod difference;
mod facts;
mod kinds;
mod normalize;
mod properties;
mod rename;
mod rules;
mod tool;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use crate::{Manifest, ToolDefinition};

pub(crate) use facts::SourceFacts;
pub use facts::{ALIASES, RUST_TYPE, VALIDATED, VARIANT_ALIASES, without_facts};

/// The path of a tool's arguments in a change.
const ARGUMENTS: &str = "arguments";

/// The meaning of a change for callers. In JSON: `breaking`, `compatible`, `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A valid call may now fail, or a result may lack a part that a caller reads.
    Breaking,
    /// Every call that the old schemas allowed is allowed by the new ones.
    Compatible,
    /// Only descriptions for the model have changed.
    Text,
}

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The tool's name. For a renamed tool the new name, except in the change that reports the renaming.
    pub tool: String,
    /// The path in the tool: `arguments.limit`, `arguments.order.items[].sku`, `returns`, `timeout`; empty for the tool
    /// as a whole.
    pub path: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The message, which continues the path: `must be at most 50; it was at most 100`.
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

/// Returns `true` if calls with this name reach the tool by an alias.
fn takes(tool: &ToolDefinition, name: &str) -> bool {
    tool.aliases.iter().any(|alias| alias == name)
}

/// Returns all changes, sorted by tool and path. The list is empty exactly if the manifests are equal.
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
        let (kind, message) = match takes(is.1, was.0) {
            true => (ChangeKind::Compatible, format!("was renamed to `{}`; its old name is an alias", is.0)),
            false => {
                let message = format!("was probably renamed to `{}`; calls with the old name are refused", is.0);
                (ChangeKind::Breaking, message)
            }
        };
        found.push(change(was.0, kind, message));
        found.extend(tool::changes(is.0, was.1, is.1));
    }
    found.extend(gone.iter().map(|(name, _)| change(name, ChangeKind::Breaking, "was removed".to_owned())));
    found.extend(added.iter().map(|(name, _)| change(name, ChangeKind::Compatible, "is new".to_owned())));
    found.sort_by(|a, b| (&a.tool, &a.path, a.kind).cmp(&(&b.tool, &b.path, b.kind)));
    found
}
