//! Lossless conversions of single values.

use super::json_node::JsonNode;
use super::loose_json::is_number;
use super::unwrap::unwrap;

/// Parses a string as a value of a JSON type. Returns `None` for `string`: strings are left as they are.
pub(super) fn from_text(said: &str, type_name: &str) -> Option<JsonNode> {
    let trimmed = said.trim();
    match type_name {
        "integer" => whole(trimmed).map(JsonNode::Number),
        "number" => is_number(trimmed).then(|| JsonNode::Number(trimmed.to_owned())),
        "boolean" if trimmed.eq_ignore_ascii_case("true") => Some(JsonNode::Bool(true)),
        "boolean" if trimmed.eq_ignore_ascii_case("false") => Some(JsonNode::Bool(false)),
        "array" => unwrap(said, |_, _, _| {}).filter(|node| matches!(node, JsonNode::Array(_))),
        "object" => unwrap(said, |_, _, _| {}).filter(|node| matches!(node, JsonNode::Object(_))),
        _ => None,
    }
}

/// The number of digits of the largest 128-bit integer.
const MOST_DIGITS: usize = 39;

/// Returns the digits of a number that is an integer, however it is written: `2.0`, `1e2`, `1.5e1`, `200e-2`.
pub(super) fn whole(number: &str) -> Option<String> {
    if !is_number(number) {
        return None;
    }
    let (sign, unsigned) = number.split_at(usize::from(number.starts_with('-')));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{after}");
    let significant = digits.trim_end_matches('0');
    // `serde_json` reads `-0` as a float.
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let behind_the_point = i64::try_from(after.len()).ok()?;
    let zeros = exponent.parse::<i64>().ok()?.checked_sub(behind_the_point)?.checked_add(dropped)?;
    let zeros = usize::try_from(zeros).ok()?;
    let significant = significant.trim_start_matches('0');
    let length = significant.len().checked_add(zeros)?;
    (length <= MOST_DIGITS.max(number.len())).then(|| format!("{sign}{significant}{}", "0".repeat(zeros)))
}

/// Returns the listed string that differs from the received one only in case, if there is exactly one.
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
