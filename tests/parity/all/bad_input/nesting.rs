use super::{TestCrate, about};

/// Deeper than any stack.
const DEPTH: usize = 1_000_000;

/// Nests something beside an annotated function. Asserts that the function is found or the file is reported.
#[track_caller]
fn nested(text: &str) {
    let deep = TestCrate::new("mod deep;");
    deep.file("src/deep.rs", format!("#[tool_runtime::tool(name = \"deep.ping\")]\nfn ping() {{}}\n\n{text}\n"));
    let scanned = deep.scan();
    if scanned.manifest.get("deep.ping").is_none() {
        about(&scanned, "src/deep.rs");
    }
    // Without an annotation there is nothing to find.
    deep.file("src/deep.rs", text);
    deep.scan();
}

/// Wraps a text in this many pairs.
fn pairs(open: &str, inside: &str, close: &str) -> String {
    open.repeat(DEPTH) + inside + &close.repeat(DEPTH)
}

#[test]
fn parentheses_in_a_body() {
    nested(&format!("fn f() -> u8 {{ {} }}", pairs("(", "1", ")")));
}

#[test]
fn brackets_in_a_constant() {
    nested(&format!("const C: u8 = {};", pairs("[", "1", "]")));
}

#[test]
fn blocks() {
    nested(&format!("fn f() {}", pairs("{", "", "}")));
}

#[test]
fn parentheses_in_a_type() {
    nested(&format!("type T = {};", pairs("(", "u8", ")")));
}

#[test]
fn arguments_of_a_type() {
    nested(&format!("type T = {};", pairs("Vec<", "u8", ">")));
}

#[test]
fn references_in_a_type() {
    nested(&format!("type T = {}u8;", "& ".repeat(DEPTH)));
}

#[test]
fn parentheses_in_an_attribute() {
    nested(&format!("#[cfg({})]\nfn f() {{}}", pairs("not(", "unix", ")")));
}

#[test]
fn brackets_in_our_attribute() {
    nested(&format!("#[tool_runtime::tool(tags = {})]\nfn f() {{}}", pairs("[", "", "]")));
}

#[test]
fn groups_in_a_use() {
    nested(&format!("use {};", pairs("a::{", "b", "}")));
}

#[test]
fn modules_in_modules() {
    nested(&pairs("mod m {", "", "}"));
}

#[test]
fn delimiters_in_a_macro() {
    nested(&format!("m!{{ {} }}", pairs("(", "1", ")")));
}

#[test]
fn patterns() {
    nested(&format!("fn f() {{ let {} = x; }}", pairs("Some(", "y", ")")));
}

#[test]
fn signs_before_a_number() {
    nested(&format!("const C: i8 = {}1;", "-".repeat(DEPTH)));
}

#[test]
fn a_long_sum() {
    nested(&format!("const C: u64 = 1{};", " + 1".repeat(DEPTH)));
}

#[test]
fn a_long_chain_of_calls() {
    nested(&format!("fn f() {{ x{}; }}", ".f()".repeat(DEPTH)));
}

#[test]
fn a_long_chain_of_conditions() {
    nested(&format!("fn f() {{ if a {{}} {} }}", "else if a {} ".repeat(DEPTH)));
}

#[test]
fn closures_in_closures() {
    nested(&format!("fn f() {{ {} }}", "|| ".repeat(DEPTH) + "1"));
}

#[test]
fn comments_in_comments() {
    nested(&pairs("/*", "", "*/"));
}

#[test]
fn a_long_path() {
    nested(&format!("type T = a{};", "::a".repeat(DEPTH)));
}

#[test]
fn lifetimes_in_references() {
    nested(&format!("type T = {}u8;", "&'a ".repeat(DEPTH)));
}

#[test]
fn functions_that_give_functions() {
    nested(&format!("type T = {}u8;", "fn() -> ".repeat(DEPTH)));
}

#[test]
fn closures_in_a_constant() {
    nested(&format!("const C: u8 = {}1;", "|| ".repeat(DEPTH)));
    nested(&format!("#[repr(u8)] enum E {{ A = {}1 }}", "|a, b| ".repeat(DEPTH)));
}

#[test]
fn question_marks() {
    nested(&format!("enum E {{ A = a{} }}", "?".repeat(DEPTH)));
}

#[test]
fn returns_in_returns() {
    nested(&format!("enum E {{ A = {}1 }}", "return ".repeat(DEPTH)));
}

#[test]
fn modules_in_modules_around_a_file() {
    nested(&pairs("mod m {", "mod x;", "}"));
}

#[test]
fn conditions_in_the_attribute_of_a_module() {
    nested(&format!("#[cfg({})]\nmod x;", pairs("all(", "unix", ")")));
}

#[test]
fn segments_of_a_use() {
    nested(&format!("use a{};", "::a".repeat(DEPTH)));
}

/// The deepest nesting that is accepted fits on the stack.
#[test]
fn accepts_nesting_up_to_the_limit() {
    for (start, part, end) in [
        ("type T = ", "&", "u8;"),
        ("type T = ", "fn() -> ", "u8;"),
        ("type T = ", "A<", "u8;"),
        ("enum E { A = ", "-", "1 }"),
        ("enum E { A = ", "|| ", "1 }"),
        ("enum E { A = ", "return ", "1 }"),
        ("enum E { A = ", "1 + ", "1 }"),
        ("enum E { A = a", "?", " }"),
        ("enum E { A = a", ".f()", " }"),
        ("enum E { A = ", "if a {} else ", "{} }"),
        ("use ", "a::", "a;"),
        ("", "mod a { ", ""),
        ("fn f() { #[tool_runtime::tool] fn g() {} let ", "a @ ", "a; }"),
        ("fn f() { #[tool_runtime::tool] fn g() {} ", "(", " }"),
    ] {
        for count in [190, 600, 990, 1_300, 1_990, 3_900] {
            let end = match part {
                "A<" => ">".repeat(count) + end,
                "mod a { " => "}".repeat(count),
                "(" => ")".repeat(count) + end,
                _ => end.to_owned(),
            };
            nested(&format!("{start}{}{end}", part.repeat(count)));
        }
    }
}

/// The type of an argument itself is nested.
#[test]
fn survives_a_deeply_nested_argument_type() {
    let deep = TestCrate::new("mod deep;");
    let ty = pairs("Option<", "u8", ">");
    deep.file("src/deep.rs", format!("#[tool_runtime::tool(name = \"deep.ping\")]\nfn ping(deep: {ty}) {{}}\n"));
    let scanned = deep.scan();
    if scanned.manifest.get("deep.ping").is_none() {
        about(&scanned, "src/deep.rs");
    }
}

/// Types for which schemars recurses without end: the program that describes them never ends either.
#[test]
fn survives_types_with_infinite_schemas() {
    for (attribute, field) in [
        ("#[schemars(inline)]", "next: Option<Box<Endless>>"),
        ("", "#[serde(flatten)] next: Option<Box<Endless>>"),
        ("#[serde(transparent)]", "next: Box<Endless>"),
        ("#[serde(from = \"Endless\")]", "next: u8"),
        ("#[serde(default)]", "next: Option<Box<Endless>>"),
    ] {
        let endless = TestCrate::new("mod endless;");
        endless.file(
            "src/endless.rs",
            format!(
                "#[derive(serde::Deserialize, schemars::JsonSchema)]\n{attribute}\npub struct Endless {{ {field} }}\n\
                 impl Default for Endless {{ fn default() -> Self {{ Self {{ next: Some(Box::new(Endless::default())) }} }} }}\n\
                 #[tool_runtime::tool(name = \"endless.ping\")]\nfn ping(a: Endless) {{}}\n"
            ),
        );
        let scanned = endless.scan();
        let found = scanned.manifest.get("endless.ping").is_some();
        assert!(found || !scanned.diagnostics.is_empty(), "{attribute} {field}");
    }
}

/// Aliases that name each other.
#[test]
fn survives_cyclic_aliases() {
    let bad = TestCrate::new("mod circle;");
    bad.file(
        "src/circle.rs",
        "type A = B;\ntype B = Vec<A>;\n#[tool_runtime::tool(name = \"circle.ping\")]\nfn ping(a: A) {}\n",
    );
    let scanned = bad.scan();
    assert!(scanned.manifest.get("circle.ping").is_some() || !scanned.diagnostics.is_empty());
}

#[test]
fn survives_cyclic_imports() {
    let bad = TestCrate::new("mod circle;\nmod round;");
    bad.file(
        "src/circle.rs",
        "pub use crate::round::*;\npub use crate::round::X as Y;\n#[tool_runtime::tool(name = \"circle.ping\")]\nfn ping(a: Y) {}\n",
    );
    bad.file("src/round.rs", "pub use crate::circle::*;\npub use crate::circle::Y as X;\n");
    let scanned = bad.scan();
    assert!(scanned.manifest.get("circle.ping").is_some() || !scanned.diagnostics.is_empty());
}

/// Each use of such a type needs another instantiation.
#[test]
fn survives_a_generic_type_that_grows() {
    let bad = TestCrate::new("mod growing;");
    bad.file(
        "src/growing.rs",
        "#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct Grow<T> { next: Option<Box<Grow<Vec<T>>>>, value: T }\n\
         #[tool_runtime::tool(name = \"growing.ping\")]\nfn ping(a: Grow<u8>) {}\n",
    );
    let scanned = bad.scan();
    assert!(scanned.manifest.get("growing.ping").is_some() || !scanned.diagnostics.is_empty());
}
