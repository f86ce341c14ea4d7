//! JSON files with comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Value, json};

use super::edit::ConfigEdit;

/// JSON with the comments and trailing commas that clients accept.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn render(edit: &ConfigEdit<'_>) -> String {
    let section = edit.section;
    format!("{:#}\n", json!({section: {&edit.name: edit.entry}}))
}

/// Parses a file. An empty one is `null`.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    jsonc_parser::parse_to_serde_value(text, &OPTIONS).map_err(|error| format!("not valid JSON: {error}"))
}

/// Returns the text with the entry, and with all comments.
pub(super) fn insert(text: &str, edit: &ConfigEdit<'_>) -> Option<String> {
    if text.trim().is_empty() {
        return Some(render(edit));
    }
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let file = root.object_value_or_create()?;
    // `null` is accepted like a missing section.
    let servers = file.object_value_or_set(edit.section);
    match servers.get(&edit.name) {
        Some(existing) => existing.set_value(input(edit.entry)),
        None => drop(servers.append(&edit.name, input(edit.entry))),
    }
    Some(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::{ConfigFormat, EditError};
    use super::*;

    fn edit(entry: &Value) -> ConfigEdit<'_> {
        ConfigEdit { section: "servers", name: "notes".to_owned(), entry }
    }

    fn apply(text: &str, entry: &Value, force: bool) -> Result<Option<String>, EditError> {
        ConfigFormat::Json.apply(text, &edit(entry), force)
    }

    #[test]
    fn comments_and_other_servers_are_kept() {
        let entry = json!({"command": "server", "args": ["mcp"]});
        let before = "{\n  // Our servers.\n  \"servers\": {\n    \"shop\": {\"url\": \"https://example.com\"}, // old\n  },\n  /* keys */ \"inputs\": []\n}\n";
        let after = apply(before, &entry, false).unwrap().unwrap();
        for part in ["// Our servers.", "// old", "/* keys */ \"inputs\": []", "\"url\": \"https://example.com\""] {
            assert!(after.contains(part), "{part} is missing in {after}");
        }
        assert_eq!(parse(&after).unwrap()["servers"]["notes"], entry);
        assert_eq!(apply(&after, &entry, false), Ok(None), "a second run changes nothing");
    }

    #[test]
    fn files_without_servers_get_the_section() {
        let entry = json!({"command": "server"});
        for before in ["", " \n", "{}", "{\"servers\": {}}", "{\"servers\": null}", "{\"theme\": \"dark\"}"] {
            let after = apply(before, &entry, false).unwrap().unwrap();
            assert_eq!(parse(&after).unwrap()["servers"]["notes"], entry, "{before}");
        }
    }

    #[test]
    fn a_different_entry_needs_force() {
        let before = "{\"servers\": {\"notes\": {\"command\": \"old\"} /* mine */}}";
        let entry = json!({"command": "new"});
        assert_eq!(apply(before, &entry, false), Err(EditError::Different("notes".to_owned())));
        let after = apply(before, &entry, true).unwrap().unwrap();
        assert!(after.contains("/* mine */") && !after.contains("old"), "{after}");
    }

    #[test]
    fn invalid_files_are_errors() {
        let entry = json!({});
        for text in ["{", "{\"servers\": {}} x", "{'servers': {}}", "{servers: {}}", "{\"a\": 1 \"b\": 2}"] {
            assert!(matches!(apply(text, &entry, true), Err(EditError::Syntax(_))), "{text}");
        }
        assert_eq!(apply("[]", &entry, true), Err(EditError::NotObject(None)));
        assert_eq!(apply("{\"servers\": 1}", &entry, true), Err(EditError::NotObject(Some("servers"))));
    }

    #[test]
    fn special_characters_survive() {
        let entry = json!({"command": "C:\\Programs\\\"a\".exe", "env": {"KEY": "line\nnext\t\u{1f600}"}});
        let after = apply("{}", &entry, false).unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&after).unwrap()["servers"]["notes"], entry);
    }
}
