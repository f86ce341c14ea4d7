//! The packages that the workspace is built from, and its parts.

use std::path::Path;

use toml::Table;

/// Parses the manifest of a package in the workspace.
fn cargo_manifest(package: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(package).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap()
}

/// Checks that a package of the workspace depends on another.
fn depends(package: &str, on: &str) {
    let manifest = cargo_manifest(package);
    assert!(manifest["dependencies"].get(on).is_some(), "{package} does not depend on {on}");
}

/// Requirement 2
#[test]
fn syn_parses_the_annotated_code() {
    depends("tool-syntax", "syn");
    depends("tool-gen", "syn");
}

/// Requirement 3
#[test]
fn quote_emits_the_registrations() {
    depends("tool-macros", "quote");
}

/// Requirement 4
#[test]
fn proc_macro2_carries_the_tokens() {
    depends("tool-macros", "proc-macro2");
}

/// Requirement 5
#[test]
fn darling_reads_the_attributes() {
    depends("tool-syntax", "darling");
}

/// Requirement 6
#[test]
fn serde_decodes_the_arguments() {
    depends("tool-runtime", "serde");
}

/// Requirement 7
#[test]
fn serde_json_writes_the_manifest() {
    depends("tool-model", "serde_json");
}

/// Requirement 8
#[test]
fn schemars_derives_the_schemas() {
    depends("tool-model", "schemars");
}

/// Requirement 9
#[test]
fn tokio_runs_the_calls() {
    depends("tool-runtime", "tokio");
}

/// Requirement 10
#[test]
fn linkme_collects_the_registrations() {
    depends("tool-model", "linkme");
}

/// Requirement 11
#[test]
fn the_workspace_has_macros_runtime_generator_examples_and_tests() {
    let manifest = cargo_manifest(".");
    let members = manifest["workspace"]["members"].as_array().unwrap();
    for part in ["tool-macros", "tool-runtime", "tool-gen", "examples", "tests"] {
        assert!(members.iter().any(|member| member.as_str() == Some(part)), "{part}");
    }
}
