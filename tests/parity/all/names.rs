//! Names are resolved as rustc resolves them.

use std::fmt::Write as _;

use super::project::{Project, messages};

const ORDERS: &str = "mod one { #[derive(serde::Deserialize, schemars::JsonSchema)] pub struct Order { pub one: u8 } }\n\
    mod two { #[derive(serde::Deserialize, schemars::JsonSchema)] pub struct Order { pub two: u8 } }\n";

/// Asserts that the tool `f` takes the `Order` with this field, which is named after its module.
#[track_caller]
fn takes(field: &str, items: &str) {
    let scanned = Project::new("", &format!("{ORDERS}{items}")).scan();
    let tool = scanned.manifest.get("f").expect("the tool is there");
    let found = tool.parameters().pointer(&format!("/$defs/Order/properties/{field}")).is_some();
    assert!(found, "{}\n{}", tool.parameters(), messages(&scanned));
}

#[test]
fn a_glob_imports_only_visible_items() {
    let tool = "#[tool_runtime::tool]\nfn f(o: Order) {}";
    for (import, field) in [
        ("use", "two"),
        ("pub(self) use", "two"),
        ("pub use", "one"),
        ("pub(crate) use", "one"),
        ("pub(super) use", "one"),
        ("pub(in crate) use", "one"),
    ] {
        takes(
            field,
            &format!(
                "mod a {{ {import} crate::one::Order; }}\nmod t {{ use crate::a::*; use crate::two::*; {tool} }}\n"
            ),
        );
        takes(
            field,
            &format!("mod a {{ {import} crate::one::*; }}\nmod t {{ use crate::a::*; use crate::two::*; {tool} }}\n"),
        );
    }
    // A nested module sees everything.
    takes("one", &format!("mod a {{ use crate::one::Order; mod t {{ use super::*; {tool} }} }}\n"));
}

#[test]
fn a_glob_of_a_library_imports_the_items_of_its_module() {
    for library in ["std::collections", "std::time"] {
        let scanned = Project::new(
            "",
            &format!(
                "mod m {{ #[derive(serde::Deserialize, schemars::JsonSchema)] pub struct Duration {{ pub own: u8 }} }}\n\
                 use {library}::*;\nuse crate::m::*;\n#[tool_runtime::tool]\nfn f(d: Duration) {{}}\n"
            ),
        )
        .scan();
        let tool = scanned.manifest.get("f").expect("the tool is there");
        assert!(
            tool.parameters().pointer("/$defs/Duration/properties/own").is_some(),
            "{library}: {}",
            tool.parameters()
        );
    }
}

/// The test is that resolution ends: without a memory, these names lead to exponentially many places.
#[track_caller]
fn ends(text: &str) {
    let scanned = Project::new("", text).scan();
    assert!(scanned.manifest.get("f").is_some());
}

#[test]
fn mutual_imports_are_resolved_in_finite_time() {
    let mut text = String::new();
    for module in 0..20 {
        let globs: String = (0..20).map(|other| format!("pub use crate::m{other}::*; ")).collect();
        writeln!(text, "pub mod m{module} {{ {globs} }}").expect("a text grows");
    }
    text += "use m0::*;\nfn nothing() -> u8 { NOTHING }\n\
        #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
        pub struct It { #[serde(default = \"nothing\")] x: u8 }\n\
        #[tool_runtime::tool]\nfn f(a: Missing, b: String, it: It) {}\n";
    ends(&text);
}

#[test]
fn doubling_aliases_are_resolved_in_finite_time() {
    let mut text = "type A0 = u8;\n".to_owned();
    for alias in 1..60 {
        writeln!(text, "type A{alias} = (A{0}, A{0});", alias - 1).expect("a text grows");
    }
    ends(&format!("{text}#[tool_runtime::tool]\nfn f(a: A59) {{}}\n"));
}
