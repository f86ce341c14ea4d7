use super::{TestCrate, about, about_line, says_nothing};

#[test]
fn reports_bytes_that_are_not_utf8() {
    let bad = TestCrate::new("mod bytes;");
    bad.file("src/bytes.rs", b"#[tool]\nfn ping() { \"\xff\xfe\" }\n");
    about(&bad.scan(), "src/bytes.rs");
}

#[test]
fn survives_bytes_that_are_not_utf8_without_an_annotation() {
    let bad = TestCrate::new("mod bytes;");
    bad.file("src/bytes.rs", b"fn ping() { \"\xff\xfe\" }\n");
    bad.scan();
}

#[test]
fn reports_a_root_that_is_not_utf8() {
    let bad = TestCrate::new("");
    bad.file("src/lib.rs", b"#[tool]\nfn ping() { \"\xff\" }\n");
    match tool_gen::scan(bad.root()).run() {
        Ok(scanned) => drop(about(&scanned, "src/lib.rs").message.clone()),
        Err(error) => assert!(error.to_string().contains("src/lib.rs"), "{error}"),
    }
}

#[test]
fn reports_a_syntax_error_in_an_annotated_file() {
    let bad = TestCrate::new("mod broken;");
    bad.file("src/broken.rs", "use tool_runtime::tool;\n\n#[tool]\nfn ping( {}\n");
    let scanned = bad.scan();
    let diagnostic = about_line(&scanned, "src/broken.rs", 4);
    assert!(diagnostic.to_string().contains("fn ping( {}"), "shows the line: {diagnostic}");
}

#[test]
fn survives_a_syntax_error_in_a_file_without_annotations() {
    let bad = TestCrate::new("mod broken;");
    bad.file("src/broken.rs", "fn ping( {}\n");
    bad.scan();
}

/// The type of an argument leads into a file without annotations.
#[test]
fn reports_a_syntax_error_where_a_type_is_resolved() {
    let bad = TestCrate::new("mod broken;\nmod api;");
    bad.file("src/broken.rs", "pub struct Order { pub count u8 }\n");
    bad.file(
        "src/api.rs",
        "use crate::broken::Order;\n#[tool_runtime::tool(name = \"api.order\")]\npub fn order(order: Order, name: &str) {}\n",
    );
    let scanned = bad.scan();
    let tool = scanned.manifest.get("api.order").expect("the tool is there");
    assert_eq!(tool.arguments["order"].type_name, "any");
    assert_eq!(tool.arguments["name"].type_name, "string");
    about(&scanned, "src/broken.rs");
}

#[test]
fn reports_an_unclosed_delimiter() {
    let bad = TestCrate::new("mod open;");
    bad.file("src/open.rs", "#[tool_runtime::tool]\nfn ping() { if true {\n");
    about(&bad.scan(), "src/open.rs");
}

#[test]
fn reports_an_unclosed_string() {
    let bad = TestCrate::new("mod open;");
    bad.file("src/open.rs", "#[tool_runtime::tool]\nfn ping() { \"\n");
    about(&bad.scan(), "src/open.rs");
}

#[test]
fn reports_an_unclosed_comment() {
    let bad = TestCrate::new("mod open;");
    bad.file("src/open.rs", "#[tool_runtime::tool]\nfn ping() {}\n/* and on");
    about(&bad.scan(), "src/open.rs");
}

#[test]
fn reports_a_zero_byte() {
    let bad = TestCrate::new("mod zero;");
    bad.file("src/zero.rs", "#[tool_runtime::tool(name = \"zero.ping\")]\nfn ping() {}\n\0");
    about(&bad.scan(), "src/zero.rs");
}

/// The scanner reports what the macro would reject, with the same message.
#[test]
fn reports_an_invalid_attribute() {
    let bad = TestCrate::new("mod wrong;");
    bad.file(
        "src/wrong.rs",
        "use tool_runtime::tool;\n\n#[tool(nmae = \"ping\")]\nfn ping() {}\n\n#[tool]\nfn pong() {}\n",
    );
    let scanned = bad.scan();
    let diagnostic = about_line(&scanned, "src/wrong.rs", 3);
    assert!(diagnostic.message.contains("did you mean `name`"), "{diagnostic}");
    assert!(scanned.manifest.get("pong").is_some(), "the other tool of the file is there");
}

/// Text that only looks like an annotation.
#[test]
fn ignores_an_annotation_in_a_comment_or_a_string() {
    let fine = TestCrate::new("mod quoted;");
    fine.file("src/quoted.rs", "// #[tool]\n/* #[tool] fn a() {} */\nconst TEXT: &str = \"#[tool] fn b() {}\";\n");
    let scanned = fine.scan();
    says_nothing(&scanned);
    assert_eq!(scanned.manifest.len(), 1);
}

/// Byte order marks and line endings of editors and systems.
#[test]
fn accepts_a_byte_order_mark_and_carriage_returns() {
    let fine = TestCrate::new("mod marked;\nmod returned;");
    let tool =
        |name: &str| format!("#[tool_runtime::tool(name = \"{name}\")]\n/// First\n/// second.\nfn ping() {{}}\n");
    fine.file("src/marked.rs", format!("\u{feff}{}", tool("marked.ping")));
    fine.file("src/returned.rs", tool("returned.ping").replace('\n', "\r\n"));
    let scanned = fine.scan();
    says_nothing(&scanned);
    for name in ["marked.ping", "returned.ping"] {
        assert_eq!(scanned.manifest.get(name).expect("the tool").description, "First second.");
    }
}
