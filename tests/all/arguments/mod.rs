//! Arguments that are wrong. Each gives a refusal that names what is wrong and where; nothing panics.

// Values of the wrong type, and several mistakes at once.
mod values;
// Values under the other names that serde reads.
mod aliases;
// Arguments that are missing, unknown or there twice.
mod names;
// Values that `#[arg(..)]`, `arguments(..)` or a nested schema refuse.
mod limits;
// Numbers at the edge of what JSON and Rust can say.
mod numbers;
// Texts that are no JSON, or no object.
mod texts;
// Texts that are deep, long or many.
mod sizes;
// Arguments that are nearly right, and are mended.
mod repair;
// Values that a type refuses although their schema does not: the reason is about the value.
mod reasons;

use serde_json::Value;

use crate::fixtures::{call, paths, refused};

/// Calls that must be refused, each for one argument. All that go wrong are shown together.
#[track_caller]
fn each_refused_at<T: ToString>(cases: impl IntoIterator<Item = (&'static str, T, &'static str)>) {
    let mut wrong = Vec::new();
    for (tool, text, path) in cases {
        let text = text.to_string();
        if call(tool, &text).success {
            wrong.push(format!("{tool} {text}: accepted"));
            continue;
        }
        let errors = refused(tool, &text);
        if paths(&errors) != [path] {
            wrong.push(format!("{tool} {text}: expected at {path}: {errors:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A good call with one argument changed.
fn changed(good: &Value, key: &str, value: Value) -> Value {
    let mut changed = good.clone();
    changed[key] = value;
    changed
}
