use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;

use super::{Crate, GOOD, about, says_nothing};

const HUNDRED_MEGABYTES: usize = 100 << 20;

#[test]
fn a_root_that_is_not_there() {
    let bad = Crate::new("");
    let error = tool_gen::scan(bad.path("src/main.rs")).run().expect_err("there is none");
    assert!(error.to_string().contains("src/main.rs"), "{error}");
}

#[test]
fn a_root_that_is_a_folder() {
    let bad = Crate::new("");
    let error = tool_gen::scan(bad.path("src")).run().expect_err("no file");
    assert!(error.to_string().contains("src"), "{error}");
}

#[test]
fn a_folder_in_place_of_a_file() {
    let bad = Crate::new("mod folder;");
    fs::create_dir(bad.path("src/folder.rs")).expect("a folder");
    about(&bad.scan(), "src/folder.rs");
}

#[test]
fn a_link_to_nothing() {
    let bad = Crate::new("mod dangling;");
    symlink("nowhere.rs", bad.path("src/dangling.rs")).expect("a link");
    let scanned = bad.scan();
    // To rustc the file is not there: what is said is said of the `mod`.
    let said = scanned.diagnostics.iter().any(|diagnostic| diagnostic.to_string().contains("dangling"));
    assert!(said, "{:#?}", scanned.diagnostics);
}

#[test]
fn a_link_to_itself() {
    let bad = Crate::new("mod endless;");
    symlink("endless.rs", bad.path("src/endless.rs")).expect("a link");
    let scanned = bad.scan();
    let said = scanned.diagnostics.iter().any(|diagnostic| diagnostic.to_string().contains("endless"));
    assert!(said, "{:#?}", scanned.diagnostics);
}

#[test]
fn an_empty_file() {
    let fine = Crate::new("mod empty;");
    fine.file("src/empty.rs", "");
    says_nothing(&fine.scan());
}

/// A file larger than any source: read as it is, or refused by name.
#[test]
fn a_hundred_megabytes_of_comment() {
    let large = Crate::new("mod large;");
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

/// What has no annotation is not worth parsing.
#[test]
fn a_hundred_megabytes_without_an_annotation() {
    let large = Crate::new("mod large;");
    let mut file = BufWriter::new(File::create(large.path("src/large.rs")).expect("a file"));
    for number in 0..HUNDRED_MEGABYTES / 64 {
        writeln!(file, "pub fn function_{number:010}(a: u64, b: u64) -> u64 {{ a + b * 7 }}").expect("a line");
    }
    file.into_inner().expect("all of it");
    says_nothing(&large.scan());
}

/// Then the crate is called as rustc calls it, after its root.
#[test]
fn a_crate_without_a_manifest() {
    let fine = Crate::new("");
    fs::remove_file(fine.path("Cargo.toml")).expect("it was there");
    let scanned = tool_gen::scan(fine.root()).run().expect("the root can be read");
    assert_eq!(scanned.manifest.get("good.ping").expect("the tool").handler, "lib::good::ping");
}

#[test]
fn a_manifest_that_is_none() {
    let bad = Crate::new("");
    bad.file("Cargo.toml", "[package\nname = ");
    let error = tool_gen::scan(bad.root()).run().expect_err("the crate has no name");
    assert!(error.to_string().contains("Cargo.toml"), "{error}");
}
