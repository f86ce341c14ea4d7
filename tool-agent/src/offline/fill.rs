//! Arguments from a text.

use serde_json::{Map, Value};
use tool_runtime::ToolDefinition;
use tool_runtime::manifest::Argument;

use super::words::{Word, words};

/// The arguments of a call, as far as a text has them.
#[derive(Debug, PartialEq)]
pub(super) struct Filled {
    pub(super) arguments: Map<String, Value>,
    /// What is required and not to be found.
    pub(super) missing: Vec<String>,
}

/// Takes arguments from a text: first what is named, then what can be known by its type and its form, then what is in
/// quotes, and last, for the one text that is missing, what is neither a word of the tool nor one that says nothing.
pub(super) fn fill(text: &str, tool: &str, definition: &ToolDefinition) -> Filled {
    let mut text = Text { words: words(text).into_iter().map(Some).collect() };
    let mut arguments = Map::new();
    for (name, value) in text.named() {
        let value = match definition.arguments.get(name) {
            Some(argument) => typed(value, argument).unwrap_or_else(|| value.into()),
            // That there is no such argument is for the dispatcher to say.
            None => value.into(),
        };
        arguments.insert(name.to_owned(), value);
    }
    for (name, argument) in &definition.arguments {
        if !arguments.contains_key(name)
            && let Some(value) = text.recognised(name, argument)
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
    Filled { arguments, missing }
}

/// The words that nothing was taken from yet.
struct Text<'a> {
    words: Vec<Option<Word<'a>>>,
}

impl<'a> Text<'a> {
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

    /// A value that can only be meant for this argument.
    fn recognised(&mut self, name: &str, argument: &Argument) -> Option<Value> {
        let is_choice = argument.keywords.contains_key("enum");
        let is_number = matches!(argument.type_name.as_str(), "integer" | "number");
        if argument.type_name == "string"
            && is_place(name)
            && let Some(place) = self.take(|word| match word {
                Word::Plain(word) | Word::Quoted(word) => looks_like_a_place(word).then(|| (*word).into()),
                Word::Named(..) => None,
            })
        {
            return Some(place);
        }
        if is_choice || (is_number && argument.required) {
            return self.take(|word| match word {
                Word::Plain(word) | Word::Quoted(word) => typed(word, argument),
                Word::Named(..) => None,
            });
        }
        None
    }

    /// The argument that a text in quotes is meant for. One alone is for the first text that is required, or else for the
    /// first that may be given. Of several nobody knows which is which, unless a single text is missing.
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
            // What is not like a place is none.
            (1, []) => optional.iter().map(|(name, _)| *name).find(|name| !is_place(name)),
            _ => None,
        };
        let at = self.words.iter().position(|word| matches!(word, Some(Word::Quoted(_))))?;
        let meant = meant?;
        match self.words[at].take()? {
            Word::Quoted(text) => Some((meant, text)),
            Word::Plain(_) | Word::Named(..) => None,
        }
    }

    /// The first word in which something is seen; it is used up.
    fn take(&mut self, see: impl Fn(&Word<'a>) -> Option<Value>) -> Option<Value> {
        let (at, value) = self.words.iter().enumerate().find_map(|(at, word)| Some((at, see(word.as_ref()?)?)))?;
        self.words[at] = None;
        Some(value)
    }

    /// What is left, without words that are the tool's own or say nothing.
    fn rest(&self, tool: &str, definition: &ToolDefinition) -> Option<String> {
        const NOTHING: &[&str] = &[
            "a", "an", "the", "for", "of", "to", "in", "with", "please", "me", "my", "all", "and", "what", "is",
            "about",
        ];
        let own = format!("{tool} {}", definition.description).to_lowercase();
        let own: Vec<&str> = own.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_left = |word: &&str| {
            let word = word.to_lowercase();
            !NOTHING.contains(&word.as_str()) && word != tool && !own.contains(&word.as_str())
        };
        let plain = self.words.iter().flatten().filter_map(|word| match word {
            Word::Plain(word) => Some(*word),
            _ => None,
        });
        let left: Vec<&str> = plain.filter(is_left).collect();
        (!left.is_empty()).then(|| left.join(" "))
    }
}

/// Whether an argument of this name says where something is.
fn is_place(name: &str) -> bool {
    ["path", "file", "folder", "directory", "url", "uri"].iter().any(|word| name.contains(word))
}

fn looks_like_a_place(word: &str) -> bool {
    if word.contains(['*', '?']) && !word.contains("://") {
        return false;
    }
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
    });
    word.contains('/') || has_extension || word == "."
}

/// What a word means as a value of this argument, if it can be one.
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
    fn arguments_are_taken_by_name_by_type_and_by_form() {
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
    fn the_one_text_that_is_missing_is_what_is_left() {
        let (arguments, missing) =
            filled("please search the files for lost keys", json!({"pattern": required("string")}));
        assert_eq!((arguments, missing.len()), (json!({"pattern": "lost keys"}), 0));
    }

    #[test]
    fn a_text_in_quotes_goes_where_there_is_no_doubt() {
        let optional = || json!({"type": "string", "required": false});
        let text = r#"search "fn main""#;
        let one = json!({"glob": optional(), "pattern": required("string")});
        assert_eq!(filled(text, one.clone()), (json!({"pattern": "fn main"}), vec![]));
        assert_eq!(filled(r#"search "a" "b""#, one), (json!({"pattern": "a"}), vec![]), "it is the only one missing");

        let two = json!({"from": required("string"), "to": required("string")});
        let (arguments, missing) = filled(text, two.clone());
        assert_eq!((arguments, missing), (json!({"from": "fn main"}), vec!["to".to_owned()]), "the rest is asked for");
        let (arguments, missing) = filled(r#"move "a" "b""#, two.clone());
        assert_eq!((arguments, missing.len()), (json!({}), 2), "nobody knows which is which");
        assert_eq!(filled(r#"move from="a" "b""#, two), (json!({"from": "a", "to": "b"}), vec![]));

        let none = json!({"glob": optional(), "path": optional(), "text": optional()});
        assert_eq!(
            filled(r#"list "*.rs""#, none.clone()),
            (json!({"glob": "*.rs"}), vec![]),
            "no place, and the first"
        );
        assert_eq!(filled(r#"list "a" "b""#, none), (json!({}), vec![]));
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let two = json!({"pattern": required("string"), "limit": required("integer")});
        assert_eq!(filled("search files", two), (json!({}), vec!["limit".to_owned(), "pattern".to_owned()]));
        assert_eq!(filled("search x=1", json!({})), (json!({"x": "1"}), vec![]));
    }
}
