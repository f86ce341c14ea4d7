//! Removal of quotes and code fences around arguments.

use std::borrow::Cow;

use super::json_node::JsonNode;
use super::loose_json::parse;
use super::repair_log::{RepairLog, RepairReason};

/// The number of wrappers around a text. Models were seen to use two.
const MOST: usize = 4;

/// Parses the arguments of a text.
pub(super) fn unwrap_arguments(text: &str, log: &mut RepairLog<'_>) -> Option<Vec<(String, JsonNode)>> {
    let node = unwrap(text, |from, to, why| log.add_whole(from, to, why))?;
    match node {
        JsonNode::Object(arguments) => Some(arguments),
        // `null` and an empty string mean no arguments.
        JsonNode::Null => {
            log.add_whole("null", "{}", RepairReason::Null);
            Some(Vec::new())
        }
        JsonNode::Text(_) if node.said()?.trim().is_empty() => {
            log.add_whole(text, "{}", RepairReason::Null);
            Some(Vec::new())
        }
        _ => None,
    }
}

/// Returns the array or object inside a text, which may be in quotes or in a code fence, more than once. Any other value
/// is returned unchanged.
pub(super) fn unwrap(text: &str, mut note: impl FnMut(&str, &str, RepairReason)) -> Option<JsonNode> {
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

/// Returns the content of a code fence that is the whole text.
fn inside_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    // The fence may name a language.
    Some(inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}
