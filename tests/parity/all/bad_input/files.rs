use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;

use super::{GOOD, TestCrate, about, says_nothing};

const HUNDRED_MEGABYTES: usize = 100 << 20;

#[test]
fn reports_a_missing_root() {
    let bad = TestCrate::new("");
    let error = tool_gen::scan(bad.path("src/main.rs")).run().expect_err("there is none");
    assert!(error.to_string().contains("src/main.rs"), "{error}");
}

#[test]
fn reports_a_root_that_is_a_directory() {
    let bad = TestCrate::new("");
    let error = tool_gen::scan(bad.path("src")).run().expect_err("no file");
    assert!(error.to_string().contains("src"), "{error}");
}

#[test]
fn reports_a_directory_in_place_of_a_file() {
    let bad = TestCrate::new("mod folder;");
    fs::create_dir(bad.path("src/folder.rs")).expect("a folder");
    about(&bad.scan(), "src/folder.rs");
}

#[test]
fn reports_a_dangling_symlink() {
    let bad = TestCrate::new("mod dangling;");
    symlink("nowhere.rs", bad.path("src/dangling.rs")).expect("a link");
    let scanned = bad.scan();
    // To rustc the file does not exist: the message is about the `mod`.
    let reported = scanned.diagnostics.iter().any(|diagnostic| diagnostic.to_string().contains("dangling"));
    assert!(reported, "{:#?}", scanned.diagnostics);
}

#[test]
fn reports_a_symlink_to_itself() {
    let bad = TestCrate::new("mod endless;");
    symlink("endless.rs", bad.path("src/endless.rs")).expect("a link");
    let scanned = bad.scan();
    let reported = scanned.diagnostics.iter().any(|diagnostic| diagnostic.to_string().contains("endless"));
    assert!(reported, "{:#?}", scanned.diagnostics);
}

#[test]
fn reads_an_empty_file() {
    let fine = TestCrate::new("mod empty;");
    fine.file("src/empty.rs", "");
    says_nothing(&fine.scan());
}

/// A file larger than any source is either read or reported by name.
#[test]
fn survives_a_hundred_megabytes_of_comments() {
    let large = TestCrate::new("mod large;");
    let mut text = GOOD.replace("good.ping", "large.ping") + "/*";
    text.reserve(HUNDRED_MEGABYTES);
    text.extend(std::iter::repeat_n("0123456789abcdef\n", HUNDRED_MEGABYTES / 17));
    text += "*/\n";
    large.file("src/large.rs", &text);
    drop(text);
    let scanned = large.scan();
    if scanned.manifest.get("large.ping").is_none() {
        about(&scanned, "src/large.rs");
    }
}

/// A file without an annotation is not parsed.
#[test]
fn skips_a_hundred_megabytes_without_an_annotation() {
    let large = TestCrate::new("mod large;");
    let mut file = BufWriter::new(File::create(large.path("src/large.rs")).expect("a file"));
    for number in 0..HUNDRED_MEGABYTES / 64 {
        writeln!(file, "pub fn function_{number:010}(a: u64, b: u64) -> u64 {{ a + b * 7 }}").expect("a line");
    }
    file.into_inner().expect("all of it");
    says_nothing(&large.scan());
}

/// The crate is then named after its root, as rustc does.
#[test]
fn reads_a_crate_without_a_cargo_toml() {
    let fine = TestCrate::new("");
    fs::remove_file(fine.path("Cargo.toml")).expect("it was there");
    let scanned = tool_gen::scan(fine.root()).run().expect("the root can be read");
    assert_eq!(scanned.manifest.get("good.ping").expect("the tool").handler, "lib::good::ping");
}

#[test]
fn reports_an_invalid_cargo_toml() {
    let bad = TestCrate::new("");
    bad.file("Cargo.toml", "[package\nname = ");
    let error = tool_gen::scan(bad.root()).run().expect_err("the crate has no name");
    assert!(error.to_string().contains("Cargo.toml"), "{error}");
}
