use std::fs;
use std::os::unix::fs::symlink;

use super::{GOOD, TestCrate, about_line, says_nothing};

#[test]
fn reports_a_module_without_a_file() {
    let bad = TestCrate::new("\nmod missing;");
    let scanned = bad.scan();
    let diagnostic = about_line(&scanned, "src/lib.rs", 3);
    assert!(diagnostic.message.contains("missing"), "{diagnostic}");
}

#[test]
fn reports_a_path_without_a_file() {
    let bad = TestCrate::new("#[path = \"no/where.rs\"]\nmod missing;");
    let scanned = bad.scan();
    let reported = scanned.diagnostics.iter().any(|diagnostic| diagnostic.to_string().contains("where.rs"));
    assert!(reported, "{:#?}", scanned.diagnostics);
}

#[test]
fn ignores_a_missing_file_of_a_module_that_is_not_compiled() {
    let fine = TestCrate::new("#[cfg(any())]\nmod missing;");
    says_nothing(&fine.scan());
}

#[test]
fn reports_a_module_with_two_files() {
    let bad = TestCrate::new("mod twice;");
    bad.file("src/twice.rs", "");
    bad.file("src/twice/mod.rs", "");
    let scanned = bad.scan();
    let diagnostic = about_line(&scanned, "src/lib.rs", 2);
    let text = diagnostic.to_string();
    assert!(text.contains("twice.rs") && text.contains("mod.rs"), "names both: {text}");
}

#[test]
fn reports_a_file_that_is_its_own_module() {
    let bad = TestCrate::new("mod circle;");
    bad.file("src/circle.rs", "#[path = \"circle.rs\"]\nmod circle;\n");
    let scanned = bad.scan();
    about_line(&scanned, "src/circle.rs", 2);
}

#[test]
fn reports_files_that_are_modules_of_each_other() {
    let bad = TestCrate::new("mod chicken;");
    bad.file("src/chicken.rs", "#[path = \"egg.rs\"]\nmod egg;\n");
    bad.file("src/egg.rs", "#[path = \"chicken.rs\"]\nmod chicken;\n");
    let scanned = bad.scan();
    about_line(&scanned, "src/egg.rs", 2);
}

#[test]
fn reports_a_module_that_is_the_root() {
    let bad = TestCrate::new("mod up;");
    bad.file("src/up.rs", "#[path = \"lib.rs\"]\nmod again;\n");
    let scanned = bad.scan();
    about_line(&scanned, "src/up.rs", 2);
}

/// Every iteration of the cycle has its own path.
#[test]
fn reports_a_cycle_of_directories() {
    let bad = TestCrate::new("mod around;");
    bad.file("src/around/mod.rs", "mod around;\n");
    symlink(".", bad.path("src/around/around")).expect("a link");
    let scanned = bad.scan();
    assert!(!scanned.diagnostics.is_empty(), "it is said");
    assert!(scanned.diagnostics.len() < 10, "it is said once: {:#?}", scanned.diagnostics);
}

/// One file as two modules is unusual, but not a cycle.
#[test]
fn reads_one_file_as_two_modules() {
    let fine = TestCrate::new("#[path = \"shared.rs\"]\nmod one;\n#[path = \"shared.rs\"]\nmod two;\n");
    fine.file("src/shared.rs", GOOD.replace("(name = \"good.ping\")", ""));
    let scanned = fine.scan();
    // Both have a tool `ping`: the one whose handler sorts first wins, as when they are linked.
    assert_eq!(scanned.manifest.get("ping").expect("the tool").handler, "my_app::one::ping");
}

/// The directory of a module may be a symlink.
#[test]
fn follows_a_symlink_to_a_directory() {
    let fine = TestCrate::new("mod linked;");
    fs::create_dir(fine.path("elsewhere")).expect("a folder");
    fine.file("elsewhere/mod.rs", GOOD.replace("good.ping", "linked.ping"));
    symlink("../elsewhere", fine.path("src/linked")).expect("a link");
    let scanned = fine.scan();
    says_nothing(&scanned);
    assert!(scanned.manifest.get("linked.ping").is_some());
}
