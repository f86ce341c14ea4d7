//! Good calls. A tool stays an ordinary function: the call gives what the function gives when it is called directly.

mod attributes;
mod backends;
mod failures;
mod signatures;
mod streams;
mod types;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::fixtures;

/// A call that succeeds, with the answer of the function itself.
pub struct Good {
    pub name: &'static str,
    pub arguments: Value,
    pub output: String,
}

fn good(name: &'static str, arguments: Value, output: impl Into<String>) -> Good {
    Good { name, arguments, output: output.into() }
}

/// A result that is no text, as the model reads it.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// Waits for an async function that is called directly.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

/// At least one for each fixture.
pub fn all() -> Vec<Good> {
    [signatures::calls(), types::calls(), attributes::calls(), failures::calls(), streams::calls(), backends::calls()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn a_call_gives_what_the_function_gives() {
    for Good { name, arguments, output } in all() {
        assert_eq!(fixtures::output(name, arguments.clone()), output, "{name} {arguments}");
    }
}

/// The order of the arguments is the model's business, and so is the space between them.
#[test]
fn order_and_space_do_not_matter() {
    for Good { name, arguments, output } in all() {
        let arguments = arguments.as_object().expect("arguments");
        let entries =
            arguments.iter().rev().map(|(key, value)| format!("\n\t{} :\r {value:#} ", Value::from(key.as_str())));
        let text = format!(" {{ {} }} \n", entries.collect::<Vec<_>>().join(","));
        let result = fixtures::call(name, &text);
        assert_eq!((result.success, result.output), (true, output), "{name} {text}");
    }
}

/// Any letter of a key may be escaped.
#[test]
fn escapes_in_keys_do_not_matter() {
    for Good { name, arguments, output } in all() {
        let arguments = arguments.as_object().expect("arguments");
        let escaped = |key: &str| key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
        let entries = arguments.iter().map(|(key, value)| format!("\"{}\":{value}", escaped(key)));
        let text = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
        let result = fixtures::call(name, &text);
        assert_eq!((result.success, result.output), (true, output), "{name} {text}");
    }
}

#[test]
fn every_fixture_has_a_good_call() {
    let called: BTreeSet<&str> =
        all().iter().map(|good| good.name).chain(failures::ALWAYS).chain(streams::ALWAYS).collect();
    let manifest = fixtures::manifest();
    let missing: Vec<&str> = manifest.iter().map(|(name, _)| name).filter(|name| !called.contains(name)).collect();
    assert!(missing.is_empty(), "no good call of {missing:?}");
}
