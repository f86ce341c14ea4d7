//! The providers' own packages accept every request of the loop.
//!
//! The packages are those of the tests of `tool-dialect`. If they are unavailable, the test is skipped; with
//! `DIALECT_PYTHON=required`, as in CI, it fails instead.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_packages::{PyPi, run};

use crate::scenarios;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
const REQUIREMENTS: &str = include_str!("../../../tool-dialect/tests/python/requirements.txt");
static PACKAGES: PyPi = PyPi::new(REQUIREMENTS, "DIALECT_PYTHON", TARGET);

#[tokio::test]
async fn the_providers_packages_accept_every_request() {
    let Some(python) = PACKAGES.installed() else { return };
    let sent = scenarios::sent().await;
    let requests: Vec<Value> = sent
        .iter()
        .map(|(what, received)| json!({"what": what, "wire": received.wire.name(), "body": received.body}))
        .collect();
    let file = Path::new(TARGET).join("requests.json");
    fs::write(&file, Value::from(requests).to_string()).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check.py");
    let said = run(python.command().arg(script).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
    let said: Value = serde_json::from_str(&said).expect("the script prints JSON");
    for wire in ["openai", "anthropic", "gemini"] {
        let count = |what: &str| said[what][wire].as_u64().unwrap_or_default();
        assert!(count("taken") > 50, "{wire}: {said}");
        assert!(count("controls") > 4, "{wire}: broken requests were refused: {said}");
    }
}
