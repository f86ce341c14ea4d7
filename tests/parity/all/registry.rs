//! Crates of cargo's registry are read without a panic.

use parity_tests::registry::{ScanCounts, annotate, roots};

/// Number of crates that keeps the test fast; `cargo run -p parity-tests --bin registry` scans all.
const CRATES: usize = 50;

#[test]
fn crates_of_the_registry_are_read() {
    let roots = roots();
    assert!(!roots.is_empty(), "the registry has the crates that this test was built with");
    // From all over the alphabet.
    let step = roots.len().div_ceil(CRATES);
    let mut counts = ScanCounts::default();
    roots.iter().step_by(step).for_each(|root| counts.scan(root));
    println!("{counts}");
    assert_eq!(counts.failed, 0, "every root can be read: {counts}");
    assert!(counts.files >= counts.crates, "every root is read: {counts}");
    assert_eq!(counts.tools, 0, "none of these crates has tools: {counts}");
}

/// Every file is parsed, and types are resolved everywhere in the crate.
#[test]
fn crates_of_the_registry_are_read_with_everything_annotated() {
    let roots = roots();
    let mut counts = ScanCounts::default();
    for root in roots.iter().step_by(roots.len().div_ceil(CRATES / 5)) {
        let folder = tempfile::tempdir().expect("a folder");
        counts.scan(&annotate(root, folder.path()).expect("the crate can be copied"));
    }
    println!("{counts}");
    assert_eq!(counts.failed, 0, "every root can be read: {counts}");
    assert!(counts.tools > 0, "some of these functions could be tools: {counts}");
}
