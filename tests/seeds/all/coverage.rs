//! The check that every requirement is either a test of this package or in `listed.json`.
//!
//! A requirement is listed if a test of another package covers it, if it holds by construction, if it does not apply to
//! Rust, or if the tools deliberately differ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The number of requirements.
const COUNT: u32 = 284;

/// A requirement without a test in this package.
#[derive(Deserialize)]
struct Listed {
    number: u32,
    requirement: String,
    #[serde(flatten)]
    treatment: Treatment,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Treatment {
    /// The tests elsewhere that cover it: `path::name`, or the path of a whole file.
    TestedBy(Vec<String>),
    /// Why it needs no test, and where it holds.
    ByConstruction { reason: String, place: String },
    /// Why it does not apply.
    NotApplicable { reason: String },
    /// Why the tools differ, and the tests of what they do.
    Differs { reason: String, tested_by: Vec<String> },
    /// A requirement that is not built yet.
    Later { reason: String },
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn listed() -> Vec<Listed> {
    serde_json::from_str(include_str!("listed.json")).unwrap_or_else(|error| panic!("listed.json: {error}"))
}

/// Returns the numbers in doc comments of test functions below a directory, each with the name of its test.
fn tested(directory: &Path, found: &mut BTreeMap<u32, Vec<String>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tested(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            numbered_tests(&std::fs::read_to_string(&path).unwrap(), &path, found);
        }
    }
}

/// Collects the numbers of one source. A number must be directly above the attribute of its test.
fn numbered_tests(source: &str, path: &Path, found: &mut BTreeMap<u32, Vec<String>>) {
    let mark = "/// Requirement ";
    let lines: Vec<&str> = source.lines().collect();
    for (index, number) in lines.iter().enumerate().filter_map(|(index, line)| Some((index, line.strip_prefix(mark)?)))
    {
        let place = format!("{}:{}", path.display(), index + 1);
        let number = number.parse().unwrap_or_else(|_| panic!("{place}: {number:?} is not a number"));
        let attribute = lines.get(index + 1).copied().unwrap_or_default();
        assert!(attribute.starts_with("#[test") || attribute.starts_with("#[tokio::test"), "{place}: no test follows");
        found.entry(number).or_default().push(place);
    }
}

/// Checks that a test exists where the list says: its function follows the attribute of a test.
fn check_test(number: u32, test: &str) {
    let (file, name) = test.split_once("::").map_or((test, None), |(file, name)| (file, Some(name)));
    let source = std::fs::read_to_string(root().join(file));
    let source = source.unwrap_or_else(|error| panic!("requirement {number}: {file}: {error}"));
    let Some(name) = name else { return };
    let (before, _) = source
        .split_once(&format!("fn {name}("))
        .unwrap_or_else(|| panic!("requirement {number}: {file} has no test `{name}`"));
    // Other attributes may stand between the two, but no other function.
    let attributes = before.rsplit_once("}\n").map_or(before, |(_, attributes)| attributes);
    assert!(attributes.contains("test"), "requirement {number}: `{name}` of {file} is not a test");
}

#[test]
fn every_requirement_is_tested_or_listed_once() {
    let mut places = BTreeMap::new();
    tested(&Path::new(env!("CARGO_MANIFEST_DIR")).join("all"), &mut places);
    for entry in listed() {
        places.entry(entry.number).or_default().push("listed.json".to_owned());
    }
    let missing: Vec<u32> = (1..=COUNT).filter(|number| !places.contains_key(number)).collect();
    assert!(missing.is_empty(), "neither tested nor listed: {missing:?}");
    for (number, places) in places {
        assert!((1..=COUNT).contains(&number), "there is no requirement {number}: {places:?}");
        assert_eq!(places.len(), 1, "requirement {number} is in several places: {places:?}");
    }
}

#[test]
fn the_tests_of_listed_requirements_exist() {
    for Listed { number, requirement, treatment } in listed() {
        assert!(!requirement.is_empty(), "requirement {number} has no text");
        let (tests, reason) = match treatment {
            Treatment::TestedBy(tests) => {
                assert!(!tests.is_empty(), "requirement {number} has no test");
                (tests, None)
            }
            Treatment::Differs { reason, tested_by } => (tested_by, Some(reason)),
            Treatment::ByConstruction { reason, place } => {
                assert!(root().join(&place).exists(), "requirement {number}: {place} does not exist");
                (Vec::new(), Some(reason))
            }
            Treatment::NotApplicable { reason } | Treatment::Later { reason } => (Vec::new(), Some(reason)),
        };
        assert!(reason.is_none_or(|reason| reason.len() > 20), "requirement {number} needs a reason");
        for test in tests {
            check_test(number, &test);
        }
    }
}

/// The controls: the checks notice a number without a test and a test that does not exist.
#[test]
fn the_checks_notice_mistakes() {
    let notices = |check: fn()| std::panic::catch_unwind(check).is_err();
    assert!(notices(|| numbered_tests("/// Requirement 7\nfn helper() {}\n", Path::new("a.rs"), &mut BTreeMap::new())));
    assert!(notices(|| check_test(1, "tests/seeds/all/coverage.rs::gone")));
    assert!(notices(|| check_test(1, "tests/seeds/all/coverage.rs::root")));
    assert!(!notices(|| check_test(1, "tests/seeds/all/coverage.rs::the_checks_notice_mistakes")));
    let mut found = BTreeMap::new();
    numbered_tests("/// Requirement 7\n#[test]\nfn holds() {}\n", Path::new("a.rs"), &mut found);
    assert_eq!(found.keys().collect::<Vec<_>>(), [&7]);
}
