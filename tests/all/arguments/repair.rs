//! Repaired arguments, and those that stay rejected. The runtime tests each rule by itself.

use std::sync::OnceLock;

use serde_json::{Value, json};
use tool_runtime::{Dispatcher, ErrorKind, Manifest, ToolResult, tool};

use crate::fixtures::{self, call_on, paths, refused, refused_on, repairing};

fn repairs(result: &ToolResult) -> &[Value] {
    result.metadata.get("repairs").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[track_caller]
fn repaired(name: &str, text: &str, output: &str) -> ToolResult {
    let result = call_on(repairing(), name, text);
    assert_eq!((result.success, result.output.as_str()), (true, output), "{name} {text}");
    assert!(!repairs(&result).is_empty(), "{name} {text}: nothing is said of a repair");
    result
}

#[test]
fn repairs_are_listed_in_the_metadata() {
    let result = repaired("add", r#"{"a": "5", "b": 2.0}"#, "7");
    assert_eq!(
        result.metadata.get("repairs"),
        Some(&json!([
            {"path": "a", "from": "\"5\"", "to": "5", "why": "quoted"},
            {"path": "b", "from": "2.0", "to": "2", "why": "fraction"},
        ]))
    );
    repaired("add", r#"{"a": 1e1, "b": 1.5e1}"#, "25");
    repaired("scalars.unsigned", r#"{"u_8":2.0,"u_16":1e1,"u_32":1,"u_64":1,"u_128":1.0,"u_size":1}"#, "2 10 1 1 1 1");
    let right = call_on(repairing(), "add", r#"{"a": 5, "b": 2}"#);
    assert!(right.success && right.metadata.is_empty(), "{right:?}");
}

#[test]
fn repeated_items_of_a_set_are_dropped() {
    let result = repaired("collections.sets", r#"{"hash": ["b", "b"], "tree": [2, 1, "2"]}"#, r#"["b"] {1, 2}"#);
    assert_eq!(
        result.metadata.get("repairs"),
        Some(&json!([
            {"path": "hash", "from": "[\"b\",\"b\"]", "to": "[\"b\"]", "why": "repeated"},
            {"path": "tree[2]", "from": "\"2\"", "to": "2", "why": "quoted"},
            {"path": "tree", "from": "[2,1,2]", "to": "[2,1]", "why": "repeated"},
        ]))
    );
    assert_eq!(paths(&refused("collections.sets", r#"{"hash": ["b", "b"], "tree": []}"#)), ["hash[1]"], "no repair");
}

/// Holds for every kind of handler and every outcome.
#[test]
fn every_kind_of_handler_receives_repaired_arguments() {
    repaired("later", r#"{"text": "5", "repeat": "2"}"#, "55");
    repaired("slowly", r#"{"text": "5",}"#, "5");
    repaired("future", r#"{"number": "1"}"#, "2");
    repaired("options.all", r#""{\"number\": 3}""#, "3");
    repaired("enums.optional", r#"{"plain": "APPLE", "direction": null}"#, "Some(Apple) None Unsorted");
    repaired("borrowed.slice", r#"{"numbers": "[1, \"2\"]"}"#, "3");
    repaired(
        "borrowed.part",
        r#"{"part": "{\"id\": 7}"}"#,
        &fixtures::output("borrowed.part", json!({"part": {"id": 7}})),
    );
}

#[test]
fn a_failing_call_also_lists_its_repairs() {
    let result = call_on(own(), "repair.fails", r#"{"number": "5"}"#);
    assert_eq!(result.error.as_ref().map(|error| error.kind), Some(ErrorKind::Failed));
    assert_eq!(repairs(&result).len(), 1);
}

/// One value that cannot be repaired does not cause complaints about values that can.
#[test]
fn only_unrepairable_arguments_are_reported() {
    for (name, text, wrong) in [
        ("add", r#"{"a": "5", "b": "x"}"#, &["b"][..]),
        ("add", r#"{"a": 2.0, "b": 1.5e0}"#, &["b"]),
        ("add", r#"{"a": "5"}"#, &["b"]),
        ("add", r#"{"a": "5", "b": 2, "c": 3}"#, &["c"]),
        ("borrowed.slice", r#"{"numbers": ["1", "x"]}"#, &["numbers[0]", "numbers[1]"]),
    ] {
        assert_eq!(paths(&refused_on(repairing(), name, text)), wrong, "{name} {text}");
        assert!(call_on(repairing(), name, text).metadata.is_empty(), "{name} {text}");
    }
}

/// The message describes what the model sent, not an intermediate form.
#[test]
fn errors_describe_the_arguments_as_received() {
    for (name, text) in [
        ("add", r#"{"a": 1, "b": 2.5}"#),
        ("add", r#"{"a": null, "b": 1}"#),
        ("add", "```json\n{\"a\": 1}\n```"),
        ("add", r#"{"a": 1, "b": 2"#),
        ("add", r#"{"a": "99999999999999999999", "b": 1}"#),
        ("borrowed.text", r#"{"text": 5}"#),
        ("borrowed.strings", r#"{"words": "a, b"}"#),
    ] {
        let result = call_on(repairing(), name, text);
        assert_eq!(refused_on(repairing(), name, text), refused(name, text), "{name} {text}");
        assert!(result.metadata.is_empty(), "{name} {text}");
    }
}

/// Choosing one of two values would be a guess, even if the other is `null`.
#[test]
fn duplicate_keys_stay_rejected() {
    for (name, text) in [
        ("add", r#"{"a": "1", "a": "1", "b": 2}"#),
        ("add", r#"{"a": 1, "\u0061": "1", "b": 2}"#),
        ("enums.optional", r#"{"direction": null, "direction": "none"}"#),
        ("borrowed.part", r#"{"part": "{\"id\": 1, \"id\": 1}"}"#),
        ("collections.maps", r#"{"hash": {"a": "1", "a": 1}}"#),
        ("opaque.echo", r#"{"value": {"a": 1, "a": 1},}"#),
    ] {
        refused_on(repairing(), name, text);
    }
}

#[test]
fn repair_is_configured_per_dispatcher_and_per_tool() {
    refused("add", r#"{"a": "5", "b": 2}"#);
    let result = fixtures::call("options.all", r#"{"number": "5"}"#);
    assert_eq!((result.output.as_str(), repairs(&result).len()), ("5", 1), "the tool enables repair");
    let errors = refused_on(own(), "repair.never", r#"{"number": "5"}"#);
    assert_eq!(paths(&errors), ["number"]);
}

/// `null` is valid here: it is not replaced by the default because another argument is repaired.
#[test]
fn valid_arguments_are_not_changed_by_repair() {
    let result = call_on(own(), "repair.null", r#"{"maybe": null, "number": "5"}"#);
    assert_eq!(result.output, "None 5");
    assert_eq!(repairs(&result).len(), 1);
}

/// Values read before the mistake are discarded.
#[test]
fn arguments_are_read_again_after_repair() {
    let result = call_on(own(), "repair.defaulted", r#"{"first": 1, "second": null, "third": "3"}"#);
    assert_eq!(result.output, "1 7 3");
}

#[test]
fn secrets_are_not_shown() {
    let text = r#"{"opaque": {"x": 1, "more": {}}, "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "choice": "a", "map": {"k": "77"},}"#;
    let result = call_on(repairing(), "rules.secrets", text);
    assert!(result.success, "{}", result.output);
    let shown = json!(repairs(&result)).to_string();
    assert!(!shown.contains("77") && !shown.contains("67e55044") && shown.contains("a secret"), "{shown}");
}

/// Nested alternatives and nested quotes must not take exponential time.
#[test]
fn hostile_text_is_handled_in_reasonable_time() {
    let quoted = |text: &str, times: usize| (0..times).fold(text.to_owned(), |text, _| Value::from(text).to_string());
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let long = "x".repeat(4_000_000);
    for (name, text) in [
        ("add", format!(r#"{{"a": "{long}", "b": 1}}"#)),
        ("add", quoted(r#"{"a": 1}"#, 18)),
        ("add", "\"".repeat(1_000_001)),
        ("add", nested("[", "", "]", 100_000)),
        ("borrowed.slice", format!(r#"{{"numbers": [{}"x"]}}"#, r#""1","#.repeat(50_000))),
        ("borrowed.slice", format!(r#"{{"numbers": {}}}"#, quoted("[1, \"x\"]", 15))),
        (
            "enums.many",
            format!(r#"{{"list": [{}], "map": {{}}}}"#, vec![r#"{"kind": "x", "howMany": "1"}"#; 5_000].join(",")),
        ),
        (
            "recursive.expression",
            format!(r#"{{"expression": {}}}"#, nested(r#"{"sum": [{"number": "1"}, "#, "\"x\"", "]}", 60)),
        ),
        ("recursive.tree", format!(r#"{{"tree": {}}}"#, nested(r#"{"children": [{}, "#, "5", "]}", 60))),
        ("wide.echo", format!(r#"{{"wide": {}}}"#, nested(r#"{"untagged": [1, "#, "\"{}\"", "]}", 60))),
        ("opaque.echo", format!(r#"{{"value": {},}}"#, nested(r#"{"a":"#, "'x'", "}", 120))),
    ] {
        let start = std::time::Instant::now();
        let result = call_on(repairing(), name, &text);
        let took = start.elapsed();
        assert!(took.as_secs() < 10, "{name} {text:.80}: {took:?}");
        assert!(result.output.len() < 100_000, "{name} {text:.80}");
    }
}

fn own() -> &'static Dispatcher {
    static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let linked = Manifest::linked();
        let own = linked.iter().filter(|(name, _)| name.starts_with("repair."));
        let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
        Dispatcher::builder().manifest(own).build().unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Fails.
#[tool(name = "repair.fails")]
fn fails(number: u8) -> Result<u8, String> {
    Err(format!("{number} is too much"))
}

/// Is not repaired.
#[tool(name = "repair.never", repair = false)]
fn never(number: u8) -> u8 {
    number
}

/// Tells `null` from nothing.
#[tool(name = "repair.null")]
fn null(#[arg(default = 7)] maybe: Option<u8>, number: u8) -> String {
    format!("{maybe:?} {number}")
}

/// Has a default between others.
#[tool(name = "repair.defaulted")]
fn defaulted(first: u8, #[arg(default = 7)] second: u8, third: u8) -> String {
    format!("{first} {second} {third}")
}
