//! Defaults that cannot be derived from the source are omitted, never guessed.

use serde_json::Value;
use tool_gen::ScanOutput;

use super::project::Project;

/// Returns the default of a field of type `ty` whose default function has this body, beside some items.
fn default(ty: &str, body: &str, items: &str) -> (Option<Value>, ScanOutput) {
    let scanned = Project::new(
        "",
        &format!(
            "#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
             pub struct It {{ #[serde(default = \"it\")] x: {ty} }}\nfn it() -> {ty} {{ {body} }}\n{items}\n\
             #[tool_runtime::tool]\nfn f(it: It) {{}}\n"
        ),
    )
    .scan();
    let tool = scanned.manifest.get("f").expect("the tool is there");
    (tool.parameters().pointer("/$defs/It/properties/x/default").cloned(), scanned)
}

#[track_caller]
fn is(ty: &str, body: &str, items: &str, expected: impl Into<Value>) {
    let (found, scanned) = default(ty, body, items);
    assert_eq!(found, Some(expected.into()), "{body}: {:#?}", scanned.diagnostics);
}

#[track_caller]
fn is_unknown(ty: &str, body: &str, items: &str) {
    let (found, scanned) = default(ty, body, items);
    assert_eq!(found, None, "{body}");
    assert!(!scanned.diagnostics.is_empty(), "{body}: a warning says so");
}

#[test]
fn casts_that_change_the_number_are_not_evaluated() {
    for (ty, body) in [
        ("u8", "300u32 as u8"),
        ("u32", "-1i32 as u32"),
        ("u32", "1.9 as u32"),
        ("u8", "true as u8"),
        ("u32", "'a' as u32"),
    ] {
        is_unknown(ty, body, "");
    }
    is("u8", "200u32 as u8", "", 200);
    is("i64", "-1i32 as i64", "", -1);
    is("f64", "5 as f64", "", 5.0);
    is("u8", "i8::MAX as _", "", 127);
    is_unknown("u8", "i16::MAX as _", "");
}

const SLUG: &str = "pub struct Slug(String);\n\
    impl Slug { fn new(text: &str) -> Self { Slug(text.to_lowercase()) } }\n\
    impl From<&str> for Slug { fn from(text: &str) -> Self { Slug::new(text) } }\n\
    impl From<Slug> for String { fn from(slug: Slug) -> String { slug.0 } }\nconst NAME: &str = \"name\";\n";

#[test]
fn user_defined_constructors_and_conversions_are_not_evaluated() {
    for body in ["Slug::new(\"A\").into()", "Slug::from(\"A\").into()", "String::from(Slug::new(\"A\"))"] {
        is_unknown("String", body, SLUG);
    }
    is_unknown("Option<std::num::NonZeroU8>", "std::num::NonZeroU8::new(0)", "");
    for body in ["\"name\".into()", "String::from(\"name\")", "NAME.to_owned()", "String::from(NAME)"] {
        is("String", body, SLUG, "name");
    }
    is("String", "true.to_string()", "", "true");
    is("Box<str>", "Box::from(\"a\")", "", "a");
    is("Vec<u8>", "Vec::with_capacity(3)", "", Value::Array(Vec::new()));
}

#[test]
fn variants_named_some_and_none_differ_from_those_of_option() {
    let mode =
        "#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\npub enum Mode { None, Some(u8) }\n";
    is("Mode", "Mode::None", mode, "None");
    is("Mode", "Mode::Some(3)", mode, serde_json::json!({"Some": 3}));
    is("Option<u8>", "Some(3)", mode, 3);
    is("Vec<Option<u8>>", "vec![Option::None, None]", mode, serde_json::json!([null, null]));
}

#[test]
fn huge_numbers_and_lists_are_not_expanded() {
    is_unknown("i128", "-i128::MIN", "");
    let scanned = Project::new(
        "",
        "#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
         pub struct It { #[serde(default)] x: [u8; 99999999999] }\n#[tool_runtime::tool]\nfn f(it: It) {}\n",
    )
    .scan();
    assert!(scanned.manifest.get("f").is_some() && !scanned.diagnostics.is_empty());
}
