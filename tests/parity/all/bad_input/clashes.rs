use super::{GOOD, TestCrate};

#[test]
fn warns_about_one_name_in_two_crates() {
    let (one, other) = (TestCrate::new(""), TestCrate::new(""));
    other.file("Cargo.toml", "[package]\nname = \"other\"\nversion = \"0.1.0\"\n");
    let scanned = tool_gen::scan(other.root()).and(one.root()).run().expect("both can be read");
    let [diagnostic] = scanned.diagnostics.as_slice() else { panic!("once: {:#?}", scanned.diagnostics) };
    let text = diagnostic.to_string();
    assert!(text.contains("good.ping") && text.contains("good.rs"), "names the tool and the file: {text}");
    assert!(text.contains("my_app::good::ping") && text.contains("other::good::ping"), "names both: {text}");
    // The same one wins as when they are linked.
    assert_eq!(scanned.manifest.get("good.ping").expect("one of them").handler, "my_app::good::ping");
}

#[test]
fn warns_about_one_name_twice_in_one_crate() {
    let bad = TestCrate::new("mod again;");
    bad.file("src/again.rs", GOOD);
    let scanned = tool_gen::scan(bad.root()).run().expect("it can be read");
    let text = scanned.diagnostics.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("my_app::again::ping") && text.contains("my_app::good::ping"), "names both: {text}");
}

#[test]
fn accepts_one_crate_twice() {
    let fine = TestCrate::new("");
    let scanned = tool_gen::scan(fine.root()).and(fine.root()).run().expect("it can be read");
    assert_eq!(scanned.manifest.len(), 1);
}
