//! Takes arguments out of what they stand in: quotes, a code fence.

use std::borrow::Cow;

use super::loose::parse;
use super::note::{Notes, RepairReason};
use super::tree::Node;

/// How often a text may be wrapped. Twice has been seen.
const MOST: usize = 4;

/// The arguments of a text, by name.
pub(super) fn unwrap_arguments(text: &str, notes: &mut Notes<'_>) -> Option<Vec<(String, Node)>> {
    let node = unwrap(text, |from, to, why| notes.add_whole(from, to, why))?;
    match node {
        Node::Object(arguments) => Some(arguments),
        // No arguments are none.
        Node::Null => {
            notes.add_whole("null", "{}", RepairReason::Null);
            Some(Vec::new())
        }
        Node::Text(_) if node.said()?.trim().is_empty() => {
            notes.add_whole(text, "{}", RepairReason::Null);
            Some(Vec::new())
        }
        _ => None,
    }
}

/// The list or object that a text holds, which may stand in quotes, or in a code fence, more than once. Any other
/// value is given back as it stands.
pub(super) fn unwrap(text: &str, mut note: impl FnMut(&str, &str, RepairReason)) -> Option<Node> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST {
        if let Some(inside) = inside_fence(&text) {
            note(&text, inside, RepairReason::CodeFence);
            text = Cow::Owned(inside.to_owned());
        }
        let (node, is_loose) = parse(&text)?;
        if is_loose {
            note(&text, &node.to_string(), RepairReason::Syntax);
        }
        match node.said() {
            Some(said) if !said.trim().is_empty() => {
                note(&text, &said, RepairReason::Quoted);
                let said = said.into_owned();
                text = Cow::Owned(said);
            }
            _ => return Some(node),
        }
    }
    None
}

/// What stands in a code fence that is the whole text.
fn inside_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    // The name of the language.
    Some(inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}
