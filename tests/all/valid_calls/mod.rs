//! Valid calls. A tool remains an ordinary function: a call returns what the function returns when called directly.

mod attributes;
mod backends;
mod borrowed;
mod conversions;
mod failures;
mod generics;
mod signatures;
mod streams;
mod types;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::fixtures;

/// A call that succeeds, with the return value of the function itself.
pub struct ValidCall {
    pub name: &'static str,
    pub arguments: Value,
    pub output: String,
}

fn good(name: &'static str, arguments: Value, output: impl Into<String>) -> ValidCall {
    ValidCall { name, arguments, output: output.into() }
}

/// Serializes a result that is not a string, as the model reads it.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// Blocks on an async function that is called directly.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

/// Returns at least one valid call per fixture.
pub fn all() -> Vec<ValidCall> {
    [
        signatures::calls(),
        types::calls(),
        borrowed::calls(),
        conversions::calls(),
        attributes::calls(),
        failures::calls(),
        streams::calls(),
        backends::calls(),
        generics::calls(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn a_call_returns_what_the_function_returns() {
    for ValidCall { name, arguments, output } in all() {
        assert_eq!(fixtures::output(name, arguments.clone()), output, "{name} {arguments}");
    }
}

/// The model may send arguments in any order and with any whitespace.
#[test]
fn argument_order_and_whitespace_are_ignored() {
    for ValidCall { name, arguments, output } in all() {
        let arguments = arguments.as_object().expect("arguments");
        let entries =
            arguments.iter().rev().map(|(key, value)| format!("\n\t{} :\r {value:#} ", Value::from(key.as_str())));
        let text = format!(" {{ {} }} \n", entries.collect::<Vec<_>>().join(","));
        let result = fixtures::call(name, &text);
        assert_eq!((result.success, result.output), (true, output), "{name} {text}");
    }
}

/// Any character of a key may be escaped.
#[test]
fn keys_may_contain_escapes() {
    for ValidCall { name, arguments, output } in all() {
        let arguments = arguments.as_object().expect("arguments");
        let escaped = |key: &str| key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
        let entries = arguments.iter().map(|(key, value)| format!("\"{}\":{value}", escaped(key)));
        let text = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
        let result = fixtures::call(name, &text);
        assert_eq!((result.success, result.output), (true, output), "{name} {text}");
    }
}

#[test]
fn every_fixture_has_a_valid_call() {
    let called: BTreeSet<&str> =
        all().iter().map(|good| good.name).chain(failures::ALWAYS).chain(streams::ALWAYS).collect();
    let manifest = fixtures::manifest();
    let missing: Vec<&str> = manifest.iter().map(|(name, _)| name).filter(|name| !called.contains(name)).collect();
    assert!(missing.is_empty(), "no valid call of {missing:?}");
}
