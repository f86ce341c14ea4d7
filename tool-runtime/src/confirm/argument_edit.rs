//! Editing of arguments by a user.
//!
//! Secrets are not part of the edited text, because editors keep copies and browsers keep a history. A mark replaces each
//! secret, and is resolved to the secret again wherever the edited text still contains it.

use std::fmt;

use serde_json::{Map, Value};

use super::Question;
use crate::arguments::{beyond_64_bits, duplicate_key};
use crate::display;
use crate::redact::Redaction;

impl Question {
    /// Returns the arguments as JSON text for a user to edit, with a mark such as `"*** 1"` in place of each secret.
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

    /// Returns the arguments with a mark in place of each secret.
    pub(super) fn marked(&self) -> Value {
        let mut count = 0;
        Redaction::new(&self.definition).replace(&self.arguments, &mut |_| {
            count += 1;
            mark(count)
        })
    }

    /// Parses edited arguments and resolves their marks, for [`Decision::Edit`](super::Decision::Edit) or
    /// [`approve_with`](crate::Dispatcher::approve_with). They are validated against the tool when the call runs.
    ///
    /// # Errors
    /// Fails if the text is not a JSON object, or is ambiguous: has duplicate keys, or integers beyond 64 bits.
    pub fn edited(&self, text: &str) -> Result<Value, EditError> {
        let edited: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| EditError(format!("not a JSON object: {error}")))?;
        if let Some(key) = duplicate_key(text) {
            return Err(EditError(format!("duplicate key `{}`", display::excerpt(&key))));
        }
        if let Some(number) = beyond_64_bits(text) {
            return Err(EditError(format!("{} does not fit into 64 bits", display::excerpt(number))));
        }
        self.unmarked(&Value::Object(edited))
    }

    fn unmarked(&self, edited: &Value) -> Result<Value, EditError> {
        let redaction = Redaction::new(&self.definition);
        let mut marks = SecretMarks { secrets: Vec::new(), unknown: None };
        let marked = redaction.replace(&self.arguments, &mut |secret| {
            marks.secrets.push(secret.clone());
            mark(marks.secrets.len())
        });
        // Outside of secret places a mark is an ordinary string, and must not be resolved.
        let mut unmarked = redaction.replace(edited, &mut |value| marks.resolve(value));
        for (name, value) in unmarked.as_object_mut().into_iter().flatten() {
            // An unchanged argument keeps its value, also if it was hidden only because of an unexpected shape.
            if let Some(before) = self.arguments.get(name).filter(|_| marked.get(name) == edited.get(name)) {
                value.clone_from(before);
            }
        }
        match marks.unknown {
            None => Ok(unmarked),
            Some(number) => Err(EditError(format!("unknown secret `{MARK}{number}`"))),
        }
    }
}

/// The secrets behind the marks, in the order of their numbers.
struct SecretMarks {
    secrets: Vec<Value>,
    /// The number of a mark without a secret.
    unknown: Option<String>,
}

impl SecretMarks {
    /// Resolves all marks inside a value that was hidden as a whole.
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

/// The prefix of a mark, before its number.
const MARK: &str = "*** ";

fn mark(number: usize) -> Value {
    Value::from(format!("{MARK}{number}"))
}

/// The error for an invalid edit, written for the user who made it.
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
    fn resolves_marks_to_their_secrets() {
        let arguments = json!({
            "token": "S-token",
            "accounts": [{"user": "ada", "key": "S-ada"}, {"user": "bob", "key": "S-bob"}],
        });
        let question = question(arguments.clone());
        let text = question.to_edit();
        assert!(!text.contains("S-"), "{text}");
        assert_eq!(question.edited(&text), Ok(arguments));

        // Removing or moving an item does not mix up secrets.
        let mut fewer: Value = serde_json::from_str(&text).unwrap();
        fewer["accounts"].as_array_mut().unwrap().remove(0);
        let expected = json!({"token": "S-token", "accounts": [{"user": "bob", "key": "S-bob"}]});
        assert_eq!(question.edited(&fewer.to_string()), Ok(expected));
        // A user may type a new secret.
        assert_eq!(question.edited(r#"{"token": "typed"}"#), Ok(json!({"token": "typed"})));
    }

    /// Marks that are moved into a hidden value are resolved too.
    #[test]
    fn restores_values_that_were_hidden_as_a_whole() {
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
        assert_eq!(error.to_string(), "unknown secret `*** 77`");
    }

    /// A mark that a model writes into a public argument must not expose the secret.
    #[test]
    fn resolves_marks_only_in_secret_places() {
        let question = question(json!({"token": "S", "note": "*** 1"}));
        let edited = question.edited(&question.to_edit()).unwrap();
        assert_eq!(edited, json!({"token": "S", "note": "*** 1"}));
        for text in [r#"{"token": "*** 2"}"#, r#"{"token": "*** 0"}"#, r#"{"token": "*** x"}"#] {
            assert!(question.edited(text).unwrap_err().to_string().contains("unknown secret"), "{text}");
        }
    }

    #[test]
    fn rejects_ambiguous_json() {
        let question = question(json!({}));
        for (text, error) in [
            (r#"{"note": "a", "note": "b"}"#, "duplicate key `note`"),
            (r#"{"note": "a", "\u006eote": "b"}"#, "duplicate key `note`"),
            (r#"{"accounts": [{"user": "a", "user": "b"}]}"#, "duplicate key `user`"),
            (r#"{"note": 18446744073709551616}"#, "18446744073709551616 does not fit into 64 bits"),
            ("[]", "not a JSON object"),
            (r#"{"note": "a",}"#, "not a JSON object"),
        ] {
            let found = question.edited(text).unwrap_err().to_string();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }
}
