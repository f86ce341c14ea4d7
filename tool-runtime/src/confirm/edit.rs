//! Arguments in a person's hands: as a text to edit, and back.
//!
//! A secret is not put into the text: an editor keeps copies, and a page has a history. A mark stands in its place, and
//! is replaced by the secret again where it still stands, however things around it were moved.

use std::fmt;

use serde_json::{Map, Value};

use super::Question;
use crate::arguments::{beyond_64_bits, duplicate_key};
use crate::display;
use crate::redact::Redaction;

impl Question {
    /// The arguments as a text for a person to edit: JSON, with a mark such as `"*** 1"` in place of each secret.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use serde_json::json;
    /// use tool_runtime::Manifest;
    /// use tool_runtime::confirm::Question;
    ///
    /// let manifest = Manifest::from_json(
    ///     r#"{"login": {"description": "", "handler": "login", "arguments": {
    ///         "user": {"type": "string", "required": true},
    ///         "password": {"type": "string", "required": true, "writeOnly": true}
    ///     }}}"#,
    /// )?;
    /// let definition = Arc::new(manifest.get("login").unwrap().clone());
    /// let question = Question::new("login", definition, json!({"user": "ada", "password": "1815"}));
    ///
    /// let text = question.to_edit();
    /// assert_eq!(text, "{\n  \"password\": \"*** 1\",\n  \"user\": \"ada\"\n}");
    /// let edited = question.edited(&text.replace("ada", "bob"))?;
    /// assert_eq!(edited, json!({"user": "bob", "password": "1815"}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_edit(&self) -> String {
        display::json(&self.marked())
    }

    /// The arguments with a mark in place of each secret.
    pub(super) fn marked(&self) -> Value {
        let mut count = 0;
        Redaction::new(&self.definition).replace(&self.arguments, &mut |_| {
            count += 1;
            mark(count)
        })
    }

    /// The arguments that an edited text stands for, for [`Decision::Edit`](super::Decision::Edit) or
    /// [`approve_with`](crate::Dispatcher::approve_with), with the secrets where their marks stand. Whether they fit the
    /// tool is found out when they run.
    ///
    /// # Errors
    /// When the text is no JSON object, or can be read in more than one way: what a person meant, what they are shown
    /// and what runs must be the same.
    pub fn edited(&self, text: &str) -> Result<Value, EditError> {
        let edited: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| EditError(format!("that is no JSON object: {error}")))?;
        if let Some(key) = duplicate_key(text) {
            return Err(EditError(format!("`{key}` stands twice in one object")));
        }
        if let Some(number) = beyond_64_bits(text) {
            return Err(EditError(format!("{number} has more digits than can be kept")));
        }
        self.unmarked(&Value::Object(edited))
    }

    fn unmarked(&self, edited: &Value) -> Result<Value, EditError> {
        let redaction = Redaction::new(&self.definition);
        let mut marks = Marks { secrets: Vec::new(), unknown: None };
        let marked = redaction.replace(&self.arguments, &mut |secret| {
            marks.secrets.push(secret.clone());
            mark(marks.secrets.len())
        });
        // Where no secret belongs a mark is a text like any other: it must not fetch a secret there.
        let mut unmarked = redaction.replace(edited, &mut |value| marks.resolve(value));
        for (name, value) in unmarked.as_object_mut().into_iter().flatten() {
            // An argument that was left alone is the same, also if it was hidden for its shape where no secret belongs.
            if let Some(before) = self.arguments.get(name).filter(|_| marked.get(name) == edited.get(name)) {
                value.clone_from(before);
            }
        }
        match marks.unknown {
            None => Ok(unmarked),
            Some(number) => Err(EditError(format!("there is no secret `{MARK}{number}`"))),
        }
    }
}

/// The secrets that marks stand for, in the order of their numbers.
struct Marks {
    secrets: Vec<Value>,
    /// The number of a mark that stands for none.
    unknown: Option<String>,
}

impl Marks {
    /// Puts the secrets back into a value that is hidden as a whole, and may have marks further inside.
    fn resolve(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix(MARK) {
                Some(number) => self.secret(number),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.resolve(item)).collect(),
            Value::Object(entries) => {
                let resolved = entries.iter().map(|(key, value)| (key.clone(), self.resolve(value)));
                Value::Object(resolved.collect())
            }
            plain => plain.clone(),
        }
    }

    fn secret(&mut self, number: &str) -> Value {
        let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| self.secrets.get(index)).cloned().unwrap_or_else(|| {
            self.unknown = Some(number.to_owned());
            Value::Null
        })
    }
}

/// What stands before the number of a secret.
const MARK: &str = "*** ";

fn mark(number: usize) -> Value {
    Value::from(format!("{MARK}{number}"))
}

/// Why an edited text cannot be taken, in words for whoever edited it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError(String);

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EditError {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn question(arguments: Value) -> Question {
        let account = json!({"type": "object", "properties": {
            "user": {"type": "string"}, "key": {"type": "string", "writeOnly": true}
        }});
        let definition = json!({"description": "", "handler": "", "arguments": {
            "note": {"type": "string", "required": false},
            "token": {"type": "string", "required": false, "writeOnly": true},
            "accounts": {"type": "array", "required": false, "items": account}
        }});
        Question::new("t", Arc::new(serde_json::from_value(definition).unwrap()), arguments)
    }

    #[test]
    fn a_secret_comes_back_where_its_mark_stands() {
        let arguments = json!({
            "token": "S-token",
            "accounts": [{"user": "ada", "key": "S-ada"}, {"user": "bob", "key": "S-bob"}],
        });
        let question = question(arguments.clone());
        let text = question.to_edit();
        assert!(!text.contains("S-"), "{text}");
        assert_eq!(question.edited(&text), Ok(arguments));

        // Whoever takes one out or moves it gets no other's secret.
        let mut fewer: Value = serde_json::from_str(&text).unwrap();
        fewer["accounts"].as_array_mut().unwrap().remove(0);
        let expected = json!({"token": "S-token", "accounts": [{"user": "bob", "key": "S-bob"}]});
        assert_eq!(question.edited(&fewer.to_string()), Ok(expected));
        // A new secret can be typed.
        assert_eq!(question.edited(r#"{"token": "typed"}"#), Ok(json!({"token": "typed"})));
    }

    /// A value that is hidden as a whole comes back as a whole; and whoever moves marks into one gets its secrets.
    #[test]
    fn a_value_that_does_not_fit_comes_back_whole() {
        let arguments = json!({
            "accounts": [["ada", "S-ada"], {"user": ["S-list"], "key": 1}, {"acct": {"key": "S-deep", "note": "*** 1"}}],
            "acounts": {"key": "S-misspelt", "note": "*** 9"},
            "note": {"key": "S-note"},
            "token": {"value": "S-token"},
        });
        let question = question(arguments.clone());
        let text = question.to_edit();
        assert!(!text.contains("S-"), "{text}");
        assert_eq!(question.edited(&text), Ok(arguments));

        let moved = question.edited(r#"{"accounts": [{"acct": {"key": "*** 1", "also": ["*** 2"]}}]}"#).unwrap();
        let expected =
            json!({"accounts": [{"acct": {"key": ["ada", "S-ada"], "also": [{"user": ["S-list"], "key": 1}]}}]});
        assert_eq!(moved, expected);
        let error = question.edited(r#"{"accounts": [{"acct": {"key": "*** 77"}}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "there is no secret `*** 77`");
    }

    /// A model that writes a mark where anybody can read it must not be sent the secret there.
    #[test]
    fn a_mark_fetches_a_secret_only_where_one_belongs() {
        let question = question(json!({"token": "S", "note": "*** 1"}));
        let edited = question.edited(&question.to_edit()).unwrap();
        assert_eq!(edited, json!({"token": "S", "note": "*** 1"}));
        for text in [r#"{"token": "*** 2"}"#, r#"{"token": "*** 0"}"#, r#"{"token": "*** x"}"#] {
            assert!(question.edited(text).unwrap_err().to_string().contains("there is no secret"), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let question = question(json!({}));
        for (text, error) in [
            (r#"{"note": "a", "note": "b"}"#, "`note` stands twice in one object"),
            (r#"{"note": "a", "\u006eote": "b"}"#, "`note` stands twice in one object"),
            (r#"{"accounts": [{"user": "a", "user": "b"}]}"#, "`user` stands twice in one object"),
            (r#"{"note": 18446744073709551616}"#, "18446744073709551616 has more digits than can be kept"),
            ("[]", "that is no JSON object"),
            (r#"{"note": "a",}"#, "that is no JSON object"),
        ] {
            let found = question.edited(text).unwrap_err().to_string();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }
}
