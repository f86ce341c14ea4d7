//! Extraction of arguments from a text.

use serde_json::{Map, Value};
use tool_runtime::ToolDefinition;
use tool_runtime::manifest::Argument;

use super::words::{Word, words};

/// The arguments of a call that were found in a text.
#[derive(Debug, PartialEq)]
pub(super) struct FilledArguments {
    pub(super) arguments: Map<String, Value>,
    /// The required arguments that were not found.
    pub(super) missing: Vec<String>,
}

/// Extracts arguments from a text: first named ones, then those recognized by type and form, then quoted ones. If a
/// single string is still missing, it gets the remaining words, without stop words and words of the tool's description.
pub(super) fn fill(text: &str, tool: &str, definition: &ToolDefinition) -> FilledArguments {
    let mut text = UnusedWords { words: words(text).into_iter().map(Some).collect() };
    let mut arguments = Map::new();
    for (name, value) in text.named() {
        let value = match definition.arguments.get(name) {
            Some(argument) => typed(value, argument).unwrap_or_else(|| value.into()),
            // The dispatcher reports that there is no such argument.
            None => value.into(),
        };
        arguments.insert(name.to_owned(), value);
    }
    for (name, argument) in &definition.arguments {
        if !arguments.contains_key(name)
            && let Some(value) = text.recognized(name, argument)
        {
            arguments.insert(name.clone(), value);
        }
    }
    if let Some((name, quoted)) = text.quoted(definition, &arguments) {
        arguments.insert(name.to_owned(), quoted.into());
    }
    let mut missing: Vec<String> = definition
        .arguments
        .iter()
        .filter(|(name, argument)| argument.required && !arguments.contains_key(*name))
        .map(|(name, _)| name.clone())
        .collect();
    if let [name] = missing.as_slice()
        && definition.arguments[name].type_name == "string"
        && let Some(rest) = text.rest(tool, definition)
    {
        arguments.insert(name.clone(), rest.into());
        missing.clear();
    }
    FilledArguments { arguments, missing }
}

/// The words that have not been used yet.
struct UnusedWords<'a> {
    words: Vec<Option<Word<'a>>>,
}

impl<'a> UnusedWords<'a> {
    fn named(&mut self) -> Vec<(&'a str, &'a str)> {
        let is_named = |word: &mut Option<Word<'a>>| match word {
            Some(Word::Named(name, value)) => {
                let named = (*name, *value);
                *word = None;
                Some(named)
            }
            _ => None,
        };
        self.words.iter_mut().filter_map(is_named).collect()
    }

    /// Takes a value that can only be meant for this argument.
    fn recognized(&mut self, name: &str, argument: &Argument) -> Option<Value> {
        let is_choice = argument.keywords.contains_key("enum");
        let is_number = matches!(argument.type_name.as_str(), "integer" | "number");
        if argument.type_name == "string"
            && is_location(name)
            && let Some(location) = self.take(|word| match word {
                Word::Plain(word) | Word::Quoted(word) => looks_like_location(word).then(|| (*word).into()),
                Word::Named(..) => None,
            })
        {
            return Some(location);
        }
        if is_choice || (is_number && argument.required) {
            return self.take(|word| match word {
                Word::Plain(word) | Word::Quoted(word) => typed(word, argument),
                Word::Named(..) => None,
            });
        }
        None
    }

    /// Takes a quoted text and returns the argument that it is meant for. A single one is for the first required
    /// string, or else for the first optional one. Several are ambiguous unless exactly one string is missing.
    fn quoted<'d>(
        &mut self,
        definition: &'d ToolDefinition,
        arguments: &Map<String, Value>,
    ) -> Option<(&'d str, &'a str)> {
        let is_text = |argument: &Argument| argument.type_name == "string" && !argument.keywords.contains_key("enum");
        let open = definition.arguments.iter().filter(|(name, _)| !arguments.contains_key(*name));
        let (required, optional): (Vec<_>, Vec<_>) =
            open.filter(|(_, argument)| is_text(argument)).partition(|(_, argument)| argument.required);
        let quotes = self.words.iter().flatten().filter(|word| matches!(word, Word::Quoted(_))).count();
        let meant = match (quotes, required.as_slice()) {
            (1.., [only]) => Some(only.0),
            (1, [first, ..]) => Some(first.0),
            // Quoted text that looks like a location was taken before.
            (1, []) => optional.iter().map(|(name, _)| *name).find(|name| !is_location(name)),
            _ => None,
        };
        let at = self.words.iter().position(|word| matches!(word, Some(Word::Quoted(_))))?;
        let meant = meant?;
        match self.words[at].take()? {
            Word::Quoted(text) => Some((meant, text)),
            Word::Plain(_) | Word::Named(..) => None,
        }
    }

    /// Takes the first word for which `see` returns a value.
    fn take(&mut self, see: impl Fn(&Word<'a>) -> Option<Value>) -> Option<Value> {
        let (at, value) = self.words.iter().enumerate().find_map(|(at, word)| Some((at, see(word.as_ref()?)?)))?;
        self.words[at] = None;
        Some(value)
    }

    /// Returns the remaining words, without stop words and words of the tool's description.
    fn rest(&self, tool: &str, definition: &ToolDefinition) -> Option<String> {
        const STOP_WORDS: &[&str] = &[
            "a", "an", "the", "for", "of", "to", "in", "with", "please", "me", "my", "all", "and", "what", "is",
            "about",
        ];
        let own = format!("{tool} {}", definition.description).to_lowercase();
        let own: Vec<&str> = own.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_left = |word: &&str| {
            let word = word.to_lowercase();
            !STOP_WORDS.contains(&word.as_str()) && word != tool && !own.contains(&word.as_str())
        };
        let plain = self.words.iter().flatten().filter_map(|word| match word {
            Word::Plain(word) => Some(*word),
            _ => None,
        });
        let left: Vec<&str> = plain.filter(is_left).collect();
        (!left.is_empty()).then(|| left.join(" "))
    }
}

/// Returns `true` if an argument of this name is a location.
fn is_location(name: &str) -> bool {
    ["path", "file", "folder", "directory", "url", "uri"].iter().any(|word| name.contains(word))
}

fn looks_like_location(word: &str) -> bool {
    if word.contains(['*', '?']) && !word.contains("://") {
        return false;
    }
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
    });
    word.contains('/') || has_extension || word == "."
}

/// Parses a word as a value of this argument.
fn typed(word: &str, argument: &Argument) -> Option<Value> {
    if let Some(Value::Array(choices)) = argument.keywords.get("enum") {
        let is_meant = |choice: &&Value| match choice {
            Value::String(choice) => choice.eq_ignore_ascii_case(word),
            choice => serde_json::from_str::<Value>(word).is_ok_and(|value| value == **choice),
        };
        return choices.iter().find(is_meant).cloned();
    }
    match argument.type_name.as_str() {
        "string" => Some(word.into()),
        "integer" => word.parse::<i64>().ok().map(Value::from),
        "number" => word.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        "boolean" => match word.to_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true.into()),
            "false" | "no" | "off" => Some(false.into()),
            _ => None,
        },
        "array" if !word.starts_with('[') => {
            let items = argument.keywords.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
            let item = Argument::new(items.unwrap_or("string"), true);
            word.split(',').map(|one| typed(one.trim(), &item)).collect()
        }
        _ => serde_json::from_str(word).ok().or_else(|| (argument.type_name == "any").then(|| word.into())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(text: &str, arguments: Value) -> (Value, Vec<String>) {
        let definition = json!({"description": "Search files.", "handler": "h", "arguments": arguments});
        let definition: ToolDefinition = serde_json::from_value(definition).unwrap();
        let filled = fill(text, "files.search", &definition);
        (filled.arguments.into(), filled.missing)
    }

    fn required(type_name: &str) -> Value {
        json!({"type": type_name, "required": true})
    }

    #[test]
    fn fills_arguments_by_name_by_type_and_by_form() {
        let all = json!({
            "path": {"type": "string", "required": false}, "pattern": required("string"), "limit": required("integer"),
            "order": {"type": "string", "required": true, "enum": ["up", "down"]}, "tags": required("array"),
            "deep": {"type": "boolean", "required": false}, "extra": {"type": "integer", "required": false},
        });
        let text = r#"search "fn main" in src/lib.rs, 5 of them, Down tags=a,b deep=yes"#;
        let expected = json!({
            "path": "src/lib.rs", "pattern": "fn main", "limit": 5, "order": "down", "tags": ["a", "b"], "deep": true,
        });
        assert_eq!(filled(text, all), (expected, vec![]));
    }

    #[test]
    fn the_only_missing_string_gets_the_remaining_words() {
        let (arguments, missing) =
            filled("please search the files for lost keys", json!({"pattern": required("string")}));
        assert_eq!((arguments, missing.len()), (json!({"pattern": "lost keys"}), 0));
    }

    #[test]
    fn quoted_text_fills_an_unambiguous_argument() {
        let optional = || json!({"type": "string", "required": false});
        let text = r#"search "fn main""#;
        let one = json!({"glob": optional(), "pattern": required("string")});
        assert_eq!(filled(text, one.clone()), (json!({"pattern": "fn main"}), vec![]));
        assert_eq!(filled(r#"search "a" "b""#, one), (json!({"pattern": "a"}), vec![]), "it is the only one missing");

        let two = json!({"from": required("string"), "to": required("string")});
        let (arguments, missing) = filled(text, two.clone());
        assert_eq!((arguments, missing), (json!({"from": "fn main"}), vec!["to".to_owned()]), "the other is missing");
        let (arguments, missing) = filled(r#"move "a" "b""#, two.clone());
        assert_eq!((arguments, missing.len()), (json!({}), 2), "ambiguous");
        assert_eq!(filled(r#"move from="a" "b""#, two), (json!({"from": "a", "to": "b"}), vec![]));

        let none = json!({"glob": optional(), "path": optional(), "text": optional()});
        assert_eq!(
            filled(r#"list "*.rs""#, none.clone()),
            (json!({"glob": "*.rs"}), vec![]),
            "the first that is not a location"
        );
        assert_eq!(filled(r#"list "a" "b""#, none), (json!({}), vec![]));
    }

    #[test]
    fn reports_missing_arguments() {
        let two = json!({"pattern": required("string"), "limit": required("integer")});
        assert_eq!(filled("search files", two), (json!({}), vec!["limit".to_owned(), "pattern".to_owned()]));
        assert_eq!(filled("search x=1", json!({})), (json!({"x": "1"}), vec![]));
    }
}
