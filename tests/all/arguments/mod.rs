//! Invalid arguments. Each is rejected with what is wrong and where; nothing panics.

// Values of the wrong type, and several mistakes at once.
mod values;
// Arguments under `#[arg(alias = ..)]`.
mod argument_aliases;
// Values under their serde aliases.
mod aliases;
// Missing, unknown and duplicate arguments.
mod names;
// Values that a conversion refuses: `parse`, `via(..)`, `with`.
mod conversions;
// Values that violate `#[arg(..)]`, `arguments(..)` or a nested schema.
mod rules;
// Numbers at the limits of JSON and of Rust.
mod numbers;
// Text that is not JSON, or not an object.
mod syntax;
// Deeply nested, long and numerous arguments.
mod sizes;
// Arguments that are checked without a call.
mod validate;
// Arguments that are nearly right and get repaired.
mod repair;
// Values that a type rejects although their schema accepts them: the message is about the value.
mod reasons;

use serde_json::Value;

use crate::fixtures::{call, paths, refused};

/// Asserts that each call is rejected because of one argument. Reports all failing cases together.
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

/// A valid call with one argument changed.
fn changed(good: &Value, key: &str, value: Value) -> Value {
    let mut changed = good.clone();
    changed[key] = value;
    changed
}
