//! Golden manifests of the fixtures, compared byte by byte.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tool-tests golden` rewrites them; read the diff before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use tool_model::registrations;
use tool_runtime::Manifest;

use crate::fixtures;

/// One golden file per theme, named after its module.
macro_rules! golden {
    ($($theme:ident)*) => {
        const THEMES: &[&str] = &[$(stringify!($theme)),*];
        $(#[test]
        fn $theme() {
            compare(stringify!($theme));
        })*
    };
}

golden! {
    aliases backends borrowed classes collections conversions docs enums explicit functions generics hints opaque options previews receivers
    recursive
    returns rules scalars streams structs texts wide
}

#[track_caller]
fn compare(theme: &str) {
    let path = golden_path(theme);
    let is = fixtures::theme(theme).to_json();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, is).expect("the golden file can be written");
        return;
    }
    let was = fs::read_to_string(&path).unwrap_or_default();
    if let Some((line, was, is)) = first_difference(&was, &is) {
        panic!("{}:{line} differs; `UPDATE_GOLDEN=1` writes it again\n  golden: {was}\n  now:    {is}", path.display());
    }
}

fn golden_path(theme: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{theme}.json"))
}

fn first_difference<'a>(was: &'a str, is: &'a str) -> Option<(usize, &'a str, &'a str)> {
    if was == is {
        return None;
    }
    let (mut was, mut is) = (was.split('\n'), is.split('\n'));
    let mut line = 0;
    loop {
        line += 1;
        match (was.next(), is.next()) {
            (Some(was), Some(is)) if was == is => {}
            (was, is) => return Some((line, was.unwrap_or("(the end)"), is.unwrap_or("(the end)"))),
        }
    }
}

/// A theme without a golden file would go untested.
#[test]
fn every_theme_has_a_golden_file() {
    let all = registrations();
    let fixtures = all.iter().filter_map(|tool| tool.handler.strip_prefix("tool_tests::"));
    for module in fixtures.filter_map(|handler| handler.split("::").next()) {
        assert!(THEMES.contains(&module), "add `{module}` to the list above");
    }
    for file in fs::read_dir(golden_path("x").parent().expect("a directory")).expect("the golden files") {
        let name = file.expect("a file").file_name();
        let theme = name.to_string_lossy().trim_end_matches(".json").to_owned();
        assert!(THEMES.contains(&theme.as_str()), "{theme} is the theme of no fixture");
    }
}

/// Two fixtures with the same name would hide each other.
#[test]
fn every_fixture_is_in_the_manifest() {
    let manifest = fixtures::manifest();
    let all = registrations();
    let fixtures = all.iter().filter(|tool| tool.handler.starts_with("tool_tests::"));
    let listed = |name: &str, handler: &str| manifest.get(name).is_some_and(|entry| entry.handler == handler);
    let hidden: Vec<&str> = fixtures.filter(|tool| !listed(tool.name, tool.handler)).map(|tool| tool.name).collect();
    assert_eq!(hidden, ["manual.run"], "only what is `manual` is not in the manifest");
}

/// linkme returns the tools in linker order.
#[test]
fn the_manifest_is_sorted_and_deterministic() {
    let text = Manifest::linked().to_json();
    assert_eq!(text, Manifest::linked().to_json());
    let manifest = Manifest::linked();
    let names: Vec<&str> = manifest.iter().map(|(name, _)| name).collect();
    assert!(names.is_sorted());
}

#[test]
fn manifests_round_trip_through_text() {
    let manifest = fixtures::manifest();
    let text = manifest.to_json();
    let read = Manifest::from_json(&text).expect("a manifest");
    assert_eq!(read, *manifest);
    assert_eq!(read.to_json(), text);
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));

    let through_serde: Manifest = serde_json::from_value(serde_json::to_value(manifest).unwrap()).unwrap();
    assert_eq!(through_serde, *manifest);
    assert_eq!(serde_json::to_string_pretty(manifest).unwrap() + "\n", text);
}

/// Another program may sort keys differently; the parsed manifest is the same.
#[test]
fn key_order_does_not_matter() {
    let manifest = fixtures::manifest();
    let value: serde_json::Value = serde_json::from_str(&manifest.to_json()).unwrap();
    let reversed = reversed(&value);
    assert_ne!(reversed, manifest.to_json());
    let read = Manifest::from_json(&reversed).expect("a manifest");
    assert_eq!(read, *manifest);
    assert_eq!(read.to_json(), manifest.to_json());
}

/// JSON with the keys of all objects in reverse order.
fn reversed(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Object(object) => {
            let mut entries: Vec<String> = object
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), reversed(value)))
                .collect();
            entries.sort();
            entries.reverse();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

/// The keys of a tool and of an argument come in their documented order.
#[test]
fn keys_are_written_in_the_documented_order() {
    let text = fixtures::theme("rules").to_json();
    let tool = &text[text.find("\"rules.named\"").expect("the tool")..];
    let argument = &tool[tool.find("\"token\"").expect("the argument")..];
    let keys: Vec<&str> = ["\"type\"", "\"required\"", "\"minLength\"", "\"writeOnly\"", "\"description\""].to_vec();
    let places: Vec<usize> = keys.iter().map(|key| argument.find(key).expect("the key")).collect();
    assert!(places.is_sorted(), "{places:?}");
    let tool = fixtures::theme("options").to_json();
    let keys =
        ["description", "handler", "arguments", "category", "destructive", "idempotent", "instructions", "repair"];
    let tool = &tool[tool.find("\"options.all\"").expect("the tool")..];
    let places: Vec<usize> = keys.iter().map(|key| tool.find(&format!("\"{key}\": ")).expect("the key")).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// The dispatcher's tools are the linked tools.
#[test]
fn a_dispatcher_offers_the_manifest() {
    assert_eq!(fixtures::tools().manifest(), *fixtures::manifest());
    let through_text = Manifest::from_json(&fixtures::manifest().to_json()).unwrap();
    let tools = fixtures::builder().manifest(through_text).build().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tools.manifest(), *fixtures::manifest());
}

/// Every key has a section in the book, where users look for it.
#[test]
fn the_book_has_a_section_for_every_key() {
    let page = include_str!("../../docs/src/attributes.md");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    for key in tool_model::KEYS {
        let name = format!("`{}`", key.name);
        assert!(headings.iter().any(|heading| heading.contains(&name)), "docs/src/attributes.md has no section {name}");
    }
}
