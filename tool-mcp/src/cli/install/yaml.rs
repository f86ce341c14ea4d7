//! YAML files of goose.
//!
//! Lines are inserted into a block mapping, so that comments stay. [`ConfigFormat::apply`](super::edit::ConfigFormat::apply)
//! parses the result, so that a layout that this module does not know is an error and not a broken file.

use std::fmt::Write;

use serde_json::Value;

use super::edit::ConfigEdit;

pub(super) fn render(edit: &ConfigEdit<'_>) -> String {
    format!("{}:\n{}", edit.section, lines(edit, 2))
}

/// Parses a file. An empty one is `null`.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_norway::from_str(text).map_err(|error| format!("not valid YAML: {error}"))
}

/// Returns the text with the entry as the first of its section, or in the place of the entry of the same name.
pub(super) fn insert(text: &str, edit: &ConfigEdit<'_>) -> Option<String> {
    let mut file: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(header) = file.iter().position(|line| key(line, 0) == Some(edit.section)) else {
        let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{separator}{}", render(edit)));
    };
    let end = block_end(&file, header, 0);
    let indent = file[header + 1..end].iter().find_map(|line| indent_of(line)).unwrap_or(2);
    let existing = (header + 1..end).find(|&line| key(file[line], indent) == Some(edit.name.as_str()));
    let replaced = existing.map_or(header + 1..header + 1, |line| line..block_end(&file, line, indent));
    // `extensions: {}` and `extensions: null` become a block.
    let start = match file[header].trim_end().split_once(':') {
        Some((_, value)) if matches!(value.trim(), "{}" | "null" | "~") => format!("{}:\n", edit.section),
        _ => format!("{}\n", file[header].trim_end_matches(['\r', '\n'])),
    };
    file[header] = &start;
    let added = lines(edit, indent);
    let (before, after) = (file[..replaced.start].concat(), file[replaced.end..].concat());
    Some(format!("{before}{added}{after}"))
}

/// Returns the number of spaces before the text of a line, if it has any text besides a comment.
fn indent_of(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(' ');
    (!text.trim().is_empty() && !text.starts_with('#')).then(|| line.len() - text.len())
}

/// Returns the key of a line with this indentation.
fn key(line: &str, indent: usize) -> Option<&str> {
    if indent_of(line) != Some(indent) {
        return None;
    }
    let (key, _) = line[indent..].split_once(':')?;
    Some(key.trim_end().trim_matches(['"', '\'']))
}

/// Returns the index after the last line of the block that starts with a key, without the comments that follow it.
fn block_end(file: &[&str], start: usize, indent: usize) -> usize {
    let inside = |line: &str| indent_of(line).is_none_or(|found| found > indent);
    let end = file[start + 1..].iter().position(|line| !inside(line)).map_or(file.len(), |offset| start + 1 + offset);
    let last = (start..end).rev().find(|&line| indent_of(file[line]).is_some());
    last.map_or(end, |line| line + 1)
}

/// Returns the lines of the entry. Values are JSON, which is YAML too.
fn lines(edit: &ConfigEdit<'_>, indent: usize) -> String {
    let mut text = format!("{:indent$}{}:\n", "", edit.name);
    let empty = serde_json::Map::new();
    for (key, value) in edit.entry.as_object().unwrap_or(&empty) {
        let _ = writeln!(text, "{:width$}{key}: {value}", "", width = indent + 2);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::edit::{ConfigFormat, EditError};
    use super::*;

    fn apply(text: &str, entry: &Value, force: bool) -> Result<Option<String>, EditError> {
        let edit = ConfigEdit { section: "extensions", name: "notes".to_owned(), entry };
        ConfigFormat::Yaml.apply(text, &edit, force)
    }

    const CONFIG: &str = "# Mine.\nGOOSE_MODEL: demo\nextensions:\n    # Built in.\n    developer:\n        enabled: true\n        \
                          type: builtin\n    notes:\n        enabled: false\n        cmd: old\n# The end.\nGOOSE_MODE: auto\n";

    #[test]
    fn an_entry_is_replaced_in_its_place() {
        let entry = json!({"args": ["--port", "1"]});
        assert_eq!(apply(CONFIG, &entry, false), Err(EditError::Different("notes".to_owned())));
        let after = apply(CONFIG, &entry, true).unwrap().unwrap();
        let expected = CONFIG.replace("        enabled: false\n        cmd: old\n", "      args: [\"--port\",\"1\"]\n");
        assert_eq!(after, expected);
        assert_eq!(apply(&after, &entry, false), Ok(None), "a second run changes nothing");
    }

    #[test]
    fn an_entry_is_added_to_any_layout() {
        let entry = json!({"cmd": "C:\\a \"b\"", "envs": {"KEY": "line\nnext #1: ü"}});
        for before in [
            "",
            "GOOSE_MODEL: demo",
            "extensions:\n",
            "extensions: {}\n",
            "extensions: null\r\nGOOSE_MODE: auto\r\n",
            "extensions:\n  developer:\n    enabled: true\n\nGOOSE_MODE: auto\n",
            "extensions: # mine\n   developer: {enabled: true}\n",
            "\"extensions\":\n  'developer':\n    enabled: true",
        ] {
            let after = apply(before, &entry, false).unwrap_or_else(|error| panic!("{before}: {error}")).unwrap();
            let parsed = parse(&after).unwrap();
            assert_eq!(parsed["extensions"]["notes"], entry, "{after}");
            assert!(!before.contains("developer") || parsed["extensions"]["developer"]["enabled"] == true, "{after}");
        }
    }

    #[test]
    fn an_unknown_layout_is_an_error_with_the_entry() {
        let entry = json!({"cmd": "server"});
        let Err(EditError::Layout(text)) = apply("extensions: {developer: {enabled: true}}\n", &entry, false) else {
            panic!("a flow mapping was edited")
        };
        assert_eq!(text, "extensions:\n  notes:\n    cmd: \"server\"\n");
        assert!(matches!(apply("extensions: [1\n", &entry, false), Err(EditError::Syntax(_))));
        assert_eq!(apply("- 1\n", &entry, false), Err(EditError::NotObject(None)));
    }
}
