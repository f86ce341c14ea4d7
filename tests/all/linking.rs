//! Registrations survive every way of linking.

use std::process::Command;

/// What `src/bin/linked.rs` prints when it was built with these flags.
fn linked_with(flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "tool-tests", "--bin", "linked"])
        .args(flags)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names are text")
}

#[test]
fn tools_are_found_in_debug_release_and_fat_lto() {
    let here: String = tool_runtime::Manifest::linked()
        .iter()
        .filter(|(_, tool)| tool.handler.starts_with("tool_tests::"))
        .fold(String::new(), |names, (name, _)| names + name + "\n");
    assert!(here.lines().count() > 10, "the fixtures are linked into the test binary");
    for flags in [&[] as &[&str], &["--release"], &["--profile", "fat-lto"]] {
        assert_eq!(linked_with(flags), here, "{flags:?}");
    }
}
