//! Any text gets a result, and nothing panics.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};
use tool_runtime::{ErrorKind, ToolResult};

use super::holds;
use super::strategies::{any_value, damaged, near, text};
use crate::fixtures::{call, call_on, manifest, repairing};
use crate::valid_calls;

/// Asserts that the result has the right form, and that the handler ran only with valid arguments.
fn is_answer(name: &str, text: &str, result: &ToolResult) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what}: {name} {text:?} -> {result:?}"));
    let Some(error) = &result.error else {
        return if result.success { Ok(()) } else { wrong("a failure without an error") };
    };
    if result.success || result.output != error.message {
        return wrong("neither a success nor a failure");
    }
    match error.kind {
        ErrorKind::Failed | ErrorKind::Retry | ErrorKind::Fatal => Ok(()),
        ErrorKind::InvalidArguments if error.arguments.is_empty() => wrong("refused without a reason"),
        ErrorKind::InvalidArguments if !error.message.contains(name) => wrong("does not name the tool"),
        ErrorKind::InvalidArguments => Ok(()),
        _ => wrong("an answer of another kind"),
    }
}

fn check((name, text): (String, String)) -> Result<(), String> {
    is_answer(&name, &text, &call(&name, &text))?;
    is_answer(&name, &text, &call_on(repairing(), &name, &text))
}

fn names() -> Vec<String> {
    manifest().iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn any_characters_get_a_result() {
    holds(1_000, &(select(names()), any::<String>()), check);
}

#[test]
fn any_json_gets_a_result() {
    holds(1_000, &(select(names()), any_value().prop_map(|value| value.to_string())), check);
}

/// A tool with values of any form under the names of its arguments.
fn any_arguments() -> impl Strategy<Value = (String, String)> {
    select(names()).prop_flat_map(|name| {
        let keys: Vec<String> = manifest().get(&name).expect("a fixture").arguments.keys().cloned().collect();
        let key = if keys.is_empty() { text().boxed() } else { prop_oneof![9 => select(keys), 1 => text()].boxed() };
        let arguments = proptest::collection::btree_map(key, any_value(), 0..8);
        (Just(name), arguments.prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()).to_string()))
    })
}

#[test]
fn any_arguments_get_a_result() {
    holds(1_500, &any_arguments(), check);
}

/// A tool with values that nearly match.
fn near_arguments() -> impl Strategy<Value = (String, String)> {
    select(names()).prop_flat_map(|name| {
        let parameters = manifest().get(&name).expect("a fixture").parameters();
        (Just(name), near(&parameters).prop_map(|value| value.to_string()))
    })
}

#[test]
fn nearly_valid_arguments_get_a_result() {
    holds(1_500, &near_arguments(), check);
}

/// Valid calls, damaged: text that is nearly right exercises more code than arbitrary text.
#[test]
fn damaged_text_gets_a_result() {
    let good: Vec<(String, String)> =
        valid_calls::all().into_iter().map(|good| (good.name.to_owned(), good.arguments.to_string())).collect();
    let calls = select(good).prop_flat_map(|(name, text)| (Just(name), damaged(Just(text))));
    holds(6_000, &calls, check);
}

#[test]
fn any_tool_name_gets_a_result() {
    holds(500, &(any::<String>(), any::<String>()), |(name, text)| {
        let result = call(&name, &text);
        match result.error {
            Some(error) if error.kind == ErrorKind::UnknownTool && result.output == error.message => Ok(()),
            other => Err(format!("{name:?} {text:?}: {other:?}")),
        }
    });
}
