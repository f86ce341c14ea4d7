//! Registrations survive every linker configuration.

use std::process::Command;

/// The output of `src/bin/linked.rs`.
fn printed_by(linked: &mut Command) -> String {
    let output = linked.output().expect("the program starts");
    assert!(output.status.success(), "{linked:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names are text")
}

#[test]
fn tools_are_found_in_debug_release_and_fat_lto() {
    let here: String = tool_runtime::Manifest::linked()
        .iter()
        .filter(|(_, tool)| tool.handler.starts_with("tool_tests::"))
        .fold(String::new(), |names, (name, _)| names + name + "\n");
    assert!(here.lines().count() > 10, "the fixtures are linked into the test binary");
    assert_eq!(printed_by(&mut Command::new(env!("CARGO_BIN_EXE_linked"))), here);
    for profile in ["release", "fat-lto"] {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--package", "tool-tests", "--bin", "linked", "--profile", profile]);
        assert_eq!(printed_by(&mut cargo), here, "{profile}");
    }
}
