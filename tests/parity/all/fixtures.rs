//! The fixtures of `tool-tests`: the scanned manifest equals the linked one, byte by byte.

use std::path::Path;

use parity_tests::compare::differences;
use tool_model::Manifest;
// The linker drops a crate that is never named.
use tool_tests as _;

/// Tools written by a macro of the crate, which are in no file.
const WRITTEN_BY_A_MACRO: &[&str] = &["double_option", "double_u8"];

#[test]
fn scanned_fixtures_equal_the_linked_ones() {
    let mut linked: Manifest = Manifest::linked()
        .iter()
        .filter(|(_, tool)| tool.handler.starts_with("tool_tests::"))
        .map(|(name, tool)| (name.to_owned(), tool.clone()))
        .collect();
    assert!(linked.len() > 100, "the fixtures are linked");
    for name in WRITTEN_BY_A_MACRO {
        assert!(linked.remove(name).is_some(), "{name} is there when it is compiled");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/lib.rs");
    let scanned = tool_gen::scan(root).run().expect("the fixtures can be read");
    let (linked, scanned) = (linked.to_json(), scanned.manifest.to_json());
    let report: Vec<String> = differences(&linked, &scanned)
        .into_iter()
        .map(|difference| format!("== {} ({})\n{}", difference.tool, difference.handler, difference.diff))
        .collect();
    assert!(linked == scanned, "{} fixtures differ (- linked, + scanned):\n{}", report.len(), report.join("\n"));
}
