//! The fixtures of `tool-tests`: the scanner's manifest is the linked one, byte by byte.

use std::path::Path;

use parity_tests::compare::differences;
use tool_model::Manifest;

/// The linker drops a crate that is never named.
use tool_tests as _;

#[test]
fn fixtures_are_read_as_they_are_compiled() {
    let linked: Manifest = Manifest::linked()
        .iter()
        .filter(|(_, tool)| tool.handler.starts_with("tool_tests::"))
        .map(|(name, tool)| (name.to_owned(), tool.clone()))
        .collect();
    assert!(linked.len() > 100, "the fixtures are linked");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/lib.rs");
    let scanned = tool_gen::scan(root).run().expect("the fixtures can be read").manifest.to_json();
    let linked = linked.to_json();
    let report: Vec<String> = differences(&linked, &scanned)
        .into_iter()
        .map(|difference| format!("== {} ({})\n{}", difference.tool, difference.handler, difference.diff))
        .collect();
    assert!(linked == scanned, "{} fixtures differ (- linked, + scanned):\n{}", report.len(), report.join("\n"));
}
