//! Compatibility with the providers' Python packages, in both directions.
//!
//! If the packages are not available, the test prints a note and passes. With `DIALECT_PYTHON=required`, as in CI, it
//! fails instead.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use test_packages::{PyPi, run};
use tool_dialect::{Dialect, DialectForm};

use crate::fixtures::{forms, manifest};
use crate::samples;

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
static PACKAGES: PyPi = PyPi::new(include_str!("../python/requirements.txt"), "DIALECT_PYTHON", TARGET);

#[test]
fn the_python_packages_agree() {
    let Some(python) = PACKAGES.installed() else { return };
    let manifest = manifest();
    let written: Map<String, Value> = forms()
        .into_iter()
        .map(|form| (named(form), form.offer(manifest.iter()).expect("names stay apart").definitions().clone()))
        .collect();
    let samples = samples::all();
    let file = Path::new(TARGET).join("given.json");
    let given = json!({"definitions": written, "samples": samples});
    fs::write(&file, given.to_string()).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check.py");
    let said = run(python.command().arg(script).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
    let said: Value = serde_json::from_str(&said).expect("the script prints JSON");

    for dialect in Dialect::ALL {
        let refused = said["controls"][dialect.name()].as_u64();
        assert!(refused.is_some_and(|count| count > 5), "{dialect}: broken definitions were refused");
    }
    let received = said["received"].as_object().expect("what the server received");
    assert_eq!(received.len(), 8, "OpenAI's three and Anthropic, each strict and not");
    for (form, definitions) in received {
        assert_eq!(definitions, &written[form], "{form}: what arrives is what we wrote");
    }
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic] {
        let of = &samples[dialect.name()];
        for kind in ["responses", "streams"] {
            let read = said[kind][dialect.name()].as_object().expect("what the package made of the samples");
            assert!(!read.is_empty(), "{dialect}: {kind}");
            for (what, response) in read {
                let sample = of[kind].as_array().into_iter().flatten().find(|sample| sample["what"] == *what);
                same_calls(dialect, &sample.expect("it was given")["response"], response, what);
            }
        }
    }
}

/// A response that a package has parsed has the same calls that this crate finds.
fn same_calls(dialect: Dialect, ours: &Value, theirs: &Value, what: &str) {
    let calls = |response: &Value| -> Vec<String> {
        let calls =
            samples::offer(dialect).calls_in(response).unwrap_or_else(|error| panic!("{dialect}, {what}: {error}"));
        samples::shown(&calls)
    };
    assert_eq!(calls(theirs), calls(ours), "{dialect}, {what}");
}

fn named(form: DialectForm) -> String {
    format!("{}{}", form.dialect, if form.strict { "-strict" } else { "" })
}
