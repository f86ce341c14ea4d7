//! One value in the form that a schema asks for, if it is the same value.

use super::loose::is_number;
use super::tree::Node;
use super::unwrap::unwrap;

/// What a text says, as a value of a type. Nothing for texts: they stay what they are.
pub(super) fn from_text(said: &str, type_name: &str) -> Option<Node> {
    let trimmed = said.trim();
    match type_name {
        "integer" => whole(trimmed).map(Node::Number),
        "number" => is_number(trimmed).then(|| Node::Number(trimmed.to_owned())),
        "boolean" if trimmed.eq_ignore_ascii_case("true") => Some(Node::Bool(true)),
        "boolean" if trimmed.eq_ignore_ascii_case("false") => Some(Node::Bool(false)),
        "array" => unwrap(said, |_, _, _| {}).filter(|node| matches!(node, Node::Array(_))),
        "object" => unwrap(said, |_, _, _| {}).filter(|node| matches!(node, Node::Object(_))),
        _ => None,
    }
}

/// A number without its fraction, if that is zero. One with an exponent is not taken: it was not meant to be counted.
pub(super) fn whole(number: &str) -> Option<String> {
    if !is_number(number) {
        return None;
    }
    let (digits, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_whole = fraction.bytes().all(|digit| digit == b'0') && !digits.contains(['e', 'E']);
    // `serde_json` reads `-0` as a float.
    is_whole.then(|| if digits == "-0" { "0" } else { digits }.to_owned())
}

/// The one of several words that differs from what is said in its case only.
pub(super) fn in_other_case<'a>(said: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = said.to_lowercase();
    let mut found = None;
    for word in words {
        if word == said || (word.to_lowercase() == lower && found.replace(word).is_some()) {
            return None;
        }
    }
    found
}
