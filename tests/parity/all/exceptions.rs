//! Facts that the source does not tell: the manifest says `any` or less, and a warning says where and why.

use std::fs;

use tool_gen::{ScanOutput, Severity};

/// Scans a crate of one file.
fn scan(text: &str) -> ScanOutput {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).expect("a file can be written");
    write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    write("lib.rs", &format!("use {{schemars::JsonSchema, serde::Deserialize, tool_runtime::tool}};\n\n{text}"));
    tool_gen::scan(folder.path().join("lib.rs")).run().expect("the file can be read")
}

/// Asserts that the argument `it` of the tool `f` is `any`, and that the only warning names the line.
#[track_caller]
fn is_any(text: &str) {
    let scanned = scan(text);
    let tool = scanned.manifest.get("f").expect("the tool is there");
    assert!(tool.arguments["it"].is_any(), "{:?}", tool.arguments);
    warns(&scanned);
}

#[track_caller]
fn warns(scanned: &ScanOutput) {
    let [warning] = scanned.diagnostics.as_slice() else { panic!("one warning: {:#?}", scanned.diagnostics) };
    assert_eq!(warning.severity, Severity::Warning, "{warning}");
    assert!(warning.place.as_ref().is_some_and(|place| place.line > 0), "{warning}");
    assert!(warning.help.is_some(), "says what to do: {warning}");
}

#[test]
fn a_const_generic_argument_is_any() {
    is_any(
        "#[derive(Deserialize, JsonSchema)]\npub struct Rows<const N: usize> { rows: Vec<u8> }\n\
         #[tool]\nfn f(it: Rows<3>) {}\n",
    );
}

#[test]
fn a_type_of_another_crate_is_any() {
    is_any("#[tool]\nfn f(it: other_crate::Order) {}\n");
}

#[test]
fn a_handwritten_schema_is_any() {
    is_any(
        "#[derive(Deserialize)]\npub struct Order(u8);\n\
         impl JsonSchema for Order {\n    fn schema_name() -> std::borrow::Cow<'static, str> { \"Order\".into() }\n    \
         fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema { schemars::json_schema!({}) }\n}\n\
         #[tool]\nfn f(it: Order) {}\n",
    );
}

/// The output of a macro is in no file.
#[test]
fn a_type_written_by_a_macro_is_any() {
    is_any(
        "macro_rules! order { () => { #[derive(Deserialize, JsonSchema)] pub struct Order { count: u8 } }; }\norder!();\n\
         #[tool]\nfn f(it: Order) {}\n",
    );
}

#[test]
fn warns_about_a_tool_written_by_a_macro() {
    let scanned = scan("macro_rules! tools { ($name:ident) => { #[tool] fn $name(it: u8) {} }; }\ntools!(f);\n");
    assert!(scanned.manifest.is_empty());
    warns(&scanned);
}

#[test]
fn warns_about_a_transform_at_its_position() {
    let scanned = scan(
        "#[derive(Deserialize, JsonSchema)]\n#[schemars(transform = change)]\npub struct Order { count: u8 }\n\
         #[tool]\nfn f(it: Order) {}\n",
    );
    warns(&scanned);
    let place = scanned.diagnostics[0].place.as_ref().expect("a place");
    assert_eq!((place.line, place.column, place.width), (4, 24, 6), "{place:?}");
}

/// Schemars does not terminate either.
#[test]
fn an_infinite_schema_is_any() {
    let scanned = scan(
        "#[derive(Deserialize, JsonSchema)]\n#[serde(transparent)]\n\
         pub struct Entries(std::collections::BTreeMap<String, Entries>);\n#[tool]\nfn f(it: Entries) {}\n",
    );
    assert!(scanned.manifest.get("f").expect("the tool is there").arguments["it"].is_any());
    warns(&scanned);
    let warning = scanned.diagnostics[0].to_string();
    assert!(
        warning.contains("aborts with a stack overflow") && warning.contains("remove `#[serde(transparent)]`"),
        "{warning}"
    );
}

#[test]
fn warnings_quote_expressions_from_the_source() {
    let scanned = scan(
        "#[derive(Deserialize, JsonSchema, serde::Serialize)]\npub struct Order { #[serde(default = \"count\")] count: u8 }\n\
         fn count() -> u8 { if cfg!(windows) { 255u8.wrapping_add(2) } else { 1 << 4 } }\n#[tool]\nfn f(it: Order) {}\n",
    );
    warns(&scanned);
    let warning = scanned.diagnostics[0].to_string();
    assert!(warning.contains("if cfg!(windows) { 255u8.wrapping_add(2) } else { 1 << 4 }"), "{warning}");
}

#[test]
fn rejects_documentation_that_cannot_be_read() {
    let scanned = scan("#[doc = include_str!(\"gone.md\")]\n#[tool]\nfn f() {}\n");
    assert!(scanned.manifest.is_empty());
    let [error] = scanned.diagnostics.as_slice() else { panic!("one error: {:#?}", scanned.diagnostics) };
    assert!(error.severity == Severity::Error && error.compile_error, "{error}");
    assert!(error.message.contains("description = \"..\""), "{error}");
    assert!(scanned.files.iter().any(|file| file.ends_with("gone.md")), "{:?}", scanned.files);
}
