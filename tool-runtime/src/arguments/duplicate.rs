//! Detection of duplicate keys in maps and free-form values.
//!
//! `serde_json` silently keeps the last of two equal keys there, so a user could approve one value and the handler run
//! with the other. Structs reject duplicates themselves, so only those parts of a text are searched whose keys the model
//! chooses.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use memchr::memmem;
use serde_json::Value;
use tool_model::reference_target;

use super::location::string_end;

/// The parts of an argument whose keys the model chooses.
#[derive(Debug)]
pub(super) enum FreeForm {
    /// None.
    Nowhere,
    /// The values of properties with these names, which are kept with their quotes.
    Below(Vec<memmem::Finder<'static>>),
    /// All.
    Anywhere,
}

impl FreeForm {
    /// Derives the parts from an argument's schema.
    pub(super) fn from_schema(schema: &Value, defs: &BTreeMap<String, Value>) -> Self {
        if is_free(schema, defs, true, 0) {
            return Self::Anywhere;
        }
        let mut names = Vec::new();
        collect(schema, defs, &mut names);
        if has_reference(schema) {
            defs.values().for_each(|def| collect(def, defs, &mut names));
        }
        if names.is_empty() {
            return Self::Nowhere;
        }
        Self::Below(names.iter().map(|name| memmem::Finder::new(name).into_owned()).collect())
    }

    #[inline]
    pub(super) fn is_nowhere(&self) -> bool {
        matches!(self, Self::Nowhere)
    }

    /// Returns the first duplicate key in such a part.
    pub(super) fn duplicate(&self, raw: &str) -> Option<String> {
        let escaped = memchr::memchr(b'\\', raw.as_bytes()).is_some();
        match self {
            // A search for the name does not find it if it is written with escapes.
            Self::Below(names) if !escaped => names.iter().find_map(|name| duplicate_below(name, raw)),
            _ => duplicate_in(raw, escaped),
        }
    }
}

/// Returns the first duplicate key below the properties of one name, in a text without escapes.
fn duplicate_below(name: &memmem::Finder<'_>, mut raw: &str) -> Option<String> {
    while let Some(at) = name.find(raw.as_bytes()) {
        raw = &raw[at + name.needle().len()..];
        if let Some(key) = duplicate_in(raw, false) {
            return Some(key);
        }
    }
    None
}

/// Returns `true` if a value of this schema is an object with free keys, may contain one that is not the value of a
/// property, or may be anything. A struct is behind a `$ref`; an object that is described `in_place` is a map, even if its
/// keys are listed.
fn is_free(schema: &Value, defs: &BTreeMap<String, Value>, in_place: bool, depth: usize) -> bool {
    let Value::Object(object) = schema else { return false };
    if depth > 8 {
        return true;
    }
    if let Some(def) = reference_target(schema).and_then(|name| defs.get(&*name)) {
        return is_free(def, defs, false, depth + 1);
    }
    let may_be_object = match object.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
        Some(name) => name == "object",
        None => !["enum", "const", "anyOf", "oneOf", "allOf"].iter().any(|key| object.contains_key(*key)),
    };
    let is_map = may_be_object && (in_place || !object.contains_key("properties"));
    let has_more = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|key| object.get(*key).is_some_and(Value::is_object));
    let inside = ["items", "prefixItems", "anyOf", "oneOf", "allOf"].iter().filter_map(|key| object.get(*key));
    is_map
        || has_more
        || inside.into_iter().any(|inner| match inner {
            Value::Array(forms) => forms.iter().any(|form| is_free(form, defs, in_place, depth + 1)),
            form => is_free(form, defs, true, depth + 1),
        })
}

/// Collects the names of the properties whose values have free keys.
fn collect(schema: &Value, defs: &BTreeMap<String, Value>, names: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                let Value::Object(properties) = value else {
                    collect(value, defs, names);
                    continue;
                };
                if key != "properties" {
                    collect(value, defs, names);
                    continue;
                }
                for (name, property) in properties {
                    let quoted = format!("\"{name}\"");
                    if !is_free(property, defs, true, 0) {
                        collect(property, defs, names);
                    } else if !names.contains(&quoted) {
                        names.push(quoted);
                    }
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, defs, names)),
        _ => {}
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.contains_key("$ref") || object.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// Returns the first duplicate key in the value at the beginning of a text, possibly behind a colon. The text is valid
/// JSON; `escaped` is `true` if it contains a backslash.
fn duplicate_in(text: &str, escaped: bool) -> Option<String> {
    if !escaped && let Some(found) = flat_duplicate(text.as_bytes()) {
        // Without escapes, a key is the text between its quotes.
        return found.map(|key| String::from_utf8_lossy(key).into_owned());
    }
    duplicate_by_hash(text)
}

/// Searches a small object of scalars, which is what most maps are. Returns `None` for any other value.
#[expect(
    clippy::option_option,
    reason = "the outer `None` is for values of another form, the inner one for no duplicate"
)]
fn flat_duplicate(bytes: &[u8]) -> Option<Option<&[u8]>> {
    let mut rest = match after_space(bytes) {
        [b'{', inside @ ..] => inside,
        [] | [b'[', ..] => return None,
        _ => return Some(None),
    };
    let mut keys: [&[u8]; 8] = [&[]; 8];
    let mut count = 0;
    loop {
        rest = match rest {
            [b'"', key @ ..] => key,
            [b'}', ..] => return Some(None),
            [_, behind @ ..] => {
                rest = behind;
                continue;
            }
            [] => return None,
        };
        let (key, behind) = to_quote(rest)?;
        if keys.get(..count)?.contains(&key) {
            return Some(Some(key));
        }
        *keys.get_mut(count)? = key;
        count += 1;
        rest = match after_space(behind) {
            [b'"', text @ ..] => to_quote(text)?.1,
            [b'{' | b'[', ..] => return None,
            // A number or a literal. The search for the next key skips it.
            other => other,
        };
    }
}

/// Skips white space and the colon of a key. The text is valid, so every byte up to `b' '` between tokens is white space.
#[inline]
fn after_space(mut bytes: &[u8]) -> &[u8] {
    while let [..=b' ' | b':', behind @ ..] = bytes {
        bytes = behind;
    }
    bytes
}

/// Splits at the next double quote. Searches eight bytes at a time: strings are short, and a call of `memchr` costs more.
#[inline]
fn to_quote(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    const ONES: u64 = u64::MAX / 255;
    let mut length = 0;
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        // The XOR makes a quote zero. Only the first zero byte is certain to set its high bit here.
        let without = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(b'"'));
        let found = without.wrapping_sub(ONES) & !without & (ONES * 0x80);
        if found != 0 {
            return at_quote(bytes, length + found.trailing_zeros() as usize / 8);
        }
        length += 8;
        rest = behind;
    }
    at_quote(bytes, length + rest.iter().position(|&byte| byte == b'"')?)
}

#[inline]
fn at_quote(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let (before, behind) = bytes.split_at_checked(at)?;
    Some((before, behind.get(1..)?))
}

/// Returns the first duplicate key of a valid JSON text.
pub(crate) fn duplicate_key(text: &str) -> Option<String> {
    duplicate_by_hash(text)
}

/// Searches any value.
fn duplicate_by_hash(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut open: Vec<HashSet<Cow<'_, str>>> = Vec::new();
    let mut string = 0..0;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => {
                let end = string_end(bytes, at);
                string = at..end;
                at = end;
                continue;
            }
            // The value was neither an object nor an array.
            b',' if open.is_empty() => return None,
            b':' => {
                let key = plain(&text[string.clone()]);
                if let Some(keys) = open.last_mut()
                    && let Some(known) = keys.replace(key)
                {
                    return Some(known.into_owned());
                }
            }
            b'{' | b'[' => open.push(HashSet::new()),
            b'}' | b']' => {
                open.pop()?;
                if open.is_empty() {
                    return None;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns a key without its quotes and escapes.
fn plain(key: &str) -> Cow<'_, str> {
    if !key.contains('\\') {
        return Cow::Borrowed(key.trim_matches('"'));
    }
    serde_json::from_str(key).map_or(Cow::Borrowed(key), Cow::<str>::Owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_duplicate_keys_of_one_object_only() {
        let duplicate_in = |text: &str| super::duplicate_in(text, text.contains('\\'));
        assert_eq!(duplicate_in(r#"{"a": {"x": 1, "y": {"x": 2}}, "b": [{"x": 1}, {"x": 1}]}"#), None);
        assert_eq!(duplicate_in(r#"{"a": [{"k": 1, "\u006b" : 2}]}"#).as_deref(), Some("k"));
        assert_eq!(duplicate_in(r#"{"a": "b", "c": ["a", "a", {"a": "a"}]} {"x": 1, "x": 2}"#), None);
        assert_eq!(duplicate_in(r#""text", "a": 1, "a": 2"#), None);
        assert_eq!(duplicate_in(r#": {"a" : 1 , "b":null,"a": true}, "c": 1"#).as_deref(), Some("a"));
        assert_eq!(duplicate_in(r#": {"a": "b", "b": "a", "c": -1.5e3 }, "a": 1, "a": 2"#), None);
        assert_eq!(duplicate_in("{}"), None);
        assert_eq!(duplicate_in(r#"{"": 1}"#), None);
        assert_eq!(duplicate_in(r#"{"": 1, "é": 2, "": 3}"#).as_deref(), Some(""));
        assert_eq!(duplicate_in(r#"{"é": 1,"e":2 ,"é":3}"#).as_deref(), Some("é"));
        assert_eq!(duplicate_in(r#"{"a": 1, "b": {"a": 1, "a": 2}}"#).as_deref(), Some("a"));
        let many: String = (0..40).map(|number| format!("\"k{number}\": 1,")).collect();
        assert_eq!(duplicate_in(&format!("{{{many} \"k7\": 2}}")).as_deref(), Some("k7"));
        assert_eq!(duplicate_in(&format!("{{{many} \"other\": 2}}")), None);
    }

    #[test]
    fn finds_the_next_quote_wherever_it_is() {
        for length in 0..40 {
            let mut text = vec![b'!'; length];
            assert_eq!(to_quote(&text), None);
            text.extend_from_slice(b"\"#\"");
            for start in 0..=length {
                let expected = (&text[start..length], &b"#\""[..]);
                assert_eq!(to_quote(&text[start..]), Some(expected), "{length} from {start}");
            }
        }
    }

    #[test]
    fn searches_only_where_keys_are_free() {
        let defs = BTreeMap::from([(
            "Order".to_owned(),
            json!({"type": "object", "properties": {"id": {"type": "string"}, "labels": {"type": "object"}}}),
        )]);
        let free = FreeForm::from_schema(&json!({"type": "array", "items": {"$ref": "#/$defs/Order"}}), &defs);
        assert!(matches!(&free, FreeForm::Below(names) if names.len() == 1), "{free:?}");
        assert_eq!(
            free.duplicate(r#"[{"id": "labels", "labels": {"a": 1}}, {"labels": {"b": 1, "b": 2}}]"#).as_deref(),
            Some("b")
        );
        assert_eq!(free.duplicate(r#"[{"id": "1", "labels": {"a": 1, "b": 2}}]"#), None);
        assert_eq!(free.duplicate(r#"[{"l\u0061bels": {"a": 1, "a": 2}}]"#).as_deref(), Some("a"));
        assert!(matches!(FreeForm::from_schema(&json!({"type": "integer"}), &defs), FreeForm::Nowhere));
        assert!(matches!(FreeForm::from_schema(&json!({}), &defs), FreeForm::Anywhere));
    }
}
