//! Values of the wrong type, and several mistakes at once.

use serde_json::{Value, json};
use tool_runtime::ErrorKind;

use super::{changed, each_refused_at};
use crate::fixtures::{self, paths, refused};
use crate::valid_calls;

#[test]
fn a_value_of_the_wrong_type_reports_received_and_expected() {
    let errors = refused("add", r#"{"a": "one", "b": 2}"#);
    assert_eq!(paths(&errors), ["a"]);
    assert_eq!(errors[0].received.as_deref(), Some(r#""one""#));
    assert!(errors[0].expected.contains("integer"), "{errors:?}");
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let errors = refused("later", r#"{"text": 1, "repeat": 300, "more": true, "text": "x"}"#);
    let mut found = paths(&errors);
    found.sort_unstable();
    assert_eq!(found, ["more", "repeat", "text", "text"]);
    let errors = refused("many", r#"{"p01": "x", "p03": -1, "p07": "yes", "p13": [1, 256, "x"], "p16": [1]}"#);
    let found = paths(&errors);
    for path in ["p01", "p03", "p07", "p13[1]", "p13[2]", "p16", "p02", "p24"] {
        assert!(found.contains(&path), "{path} is not in {found:?}");
    }
    for path in ["p11", "p12", "p17", "p18"] {
        assert!(!found.contains(&path), "{path} can be left out: {found:?}");
    }
}

/// Mistakes inside one argument are all found, each with its path.
#[test]
fn several_mistakes_inside_one_value_are_reported_at_once() {
    let errors = refused(
        "structs.defaults",
        r#"{"defaults": {"count": -1, "days": "x", "tags": ["a", 1]}, "settings": {"volume": 300, "nam": "x"}}"#,
    );
    let found = paths(&errors);
    for path in
        ["defaults.count", "defaults.days", "defaults.tags[1]", "defaults.needed", "settings.volume", "settings.nam"]
    {
        assert!(found.contains(&path), "{path} is not in {found:?}");
    }
}

#[test]
fn a_path_leads_to_the_mistake() {
    each_refused_at([
        ("borrowed.part", r#"{"part": {"id": "x"}}"#, "part.id"),
        ("borrowed.part", r#"{"part": {}}"#, "part.id"),
        ("borrowed.parts", r#"{"parts": [{"id": 1}, {"id": null}]}"#, "parts[1].id"),
        ("collections.maps", r#"{"hash":{"a b":"x"},"tree":{},"numbered":{},"graded":{},"ids":{}}"#, r#"hash["a b"]"#),
        ("collections.tuples", r#"{"pair":[1,2],"one":[true],"array":[1,2,3],"nested":[[1,2],[3,4]]}"#, "pair[1]"),
        (
            "collections.tuples",
            r#"{"pair":[1,"a"],"one":[true],"array":[1,2,3],"nested":[[1,2],[3,"x"]]}"#,
            "nested[1][1]",
        ),
        (
            "collections.pages",
            r#"{"orders":{"items":[{"count":1},{"count":1,"note":5}]},"numbers":{"items":[]}}"#,
            "orders.items[1].note",
        ),
        (
            "recursive.tree",
            r#"{"tree":{"name":"a","children":[{"name":"b","children":[{"name":7}]}]},"forest":[]}"#,
            "tree.children[0].children[0].name",
        ),
        (
            "recursive.expression",
            r#"{"expression":{"sum":[{"number":1},{"negated":{"number":"x"}}]}}"#,
            "expression.sum[1].negated.number",
        ),
        (
            "enums.data",
            r#"{"external":{"One":300},"internal":{"kind":"nothing"},"adjacent":{"t":"Bare"},"untagged":1}"#,
            "external.One",
        ),
        (
            "enums.data",
            r#"{"external":"Bare","internal":{"kind":"someFields","howMany":-1},"adjacent":{"t":"Bare"},"untagged":1}"#,
            "internal.howMany",
        ),
        (
            "enums.data",
            r#"{"external":"Bare","internal":{"kind":"nothing"},"adjacent":{"t":"One","c":[1,"x"]},"untagged":1}"#,
            "adjacent.c[1]",
        ),
        (
            "structs.flattened_enums",
            r#"{"webhook":{"id":1,"kind":"push"},"counters":{"id":1,"exact":1},"closed":{"id":1,"exact":1}}"#,
            "webhook.branch",
        ),
        (
            "structs.flattened_enums",
            r#"{"webhook":{"id":1,"kind":"ping"},"counters":{"id":1,"exact":1,"more":"x"},"closed":{"id":1,"exact":1}}"#,
            "counters.more",
        ),
        (
            "structs.flattened_enums",
            r#"{"webhook":{"id":1,"kind":"ping"},"counters":{"id":1,"exact":1},"closed":{"id":1,"exact":1,"more":1}}"#,
            "closed.more",
        ),
        // Valid for the schema, but not for the type.
        ("structs.converted", r#"{"even": "odd"}"#, "even"),
        ("structs.converted", r#"{"even": "ab", "all": ["ab", "odd", "cd"]}"#, "all[1]"),
        (
            "structs.foreign",
            r#"{"foreign":{"version":"1","pair":[1,null],"array":[1,2],"big":5,"size":6,"letter":"x","single":1,"anything":1}}"#,
            "foreign.version",
        ),
        ("texts.parsed", r#"{"version": "1", "all": []}"#, "version"),
        ("texts.parsed", r#"{"version": "1.2", "all": ["1.2", "1"]}"#, "all[1]"),
        ("texts.urls", r#"{"url": "http://", "all": []}"#, "url"),
        ("texts.urls", r#"{"url": "http://a", "all": ["http://a", "http://"]}"#, "all[1]"),
        (
            "texts.times",
            r#"{"utc":"2024-02-29T12:00:00Z","offset":"2024-02-29T12:00:00Z","date":"2023-02-29","time":"12:00:00","naive":"2024-02-29T12:00:00"}"#,
            "date",
        ),
        (
            "texts.times",
            r#"{"utc":"2024-02-29T12:00:00Z","offset":"2024-02-29T12:00:00Z","date":"2024-02-29","time":"25:00:00","naive":"2024-02-29T12:00:00"}"#,
            "time",
        ),
        (
            "opaque.unknown",
            r#"{"opaque":{"x":1,"more":{"k":"v"}},"borrowed":{"x":1,"more":{}},"list":[],"slice":[]}"#,
            "opaque.more.k",
        ),
        (
            "opaque.unknown",
            r#"{"opaque":{"x":1,"more":{}},"borrowed":{"x":1,"more":{}},"list":[{"x":1,"more":{}},{"x":-1,"more":{}}],"slice":[]}"#,
            "list[1].x",
        ),
        ("opaque.unknown", r#"{"opaque":{"x":1},"borrowed":{"x":1,"more":{}},"list":[],"slice":[]}"#, "opaque.more"),
    ]);
}

/// The message of a parse error is passed on.
#[test]
fn a_parse_error_keeps_its_message() {
    let errors = refused("texts.parsed", r#"{"version": "1", "all": []}"#);
    assert!(errors[0].expected.contains("a version is written 1.2"), "{errors:?}");
    assert_eq!(errors[0].received.as_deref(), Some(r#""1""#));
    let errors = refused("structs.converted", r#"{"even": "odd"}"#);
    assert!(errors[0].expected.contains("an even number of letters"), "{errors:?}");
}

/// An unknown variant is rejected with the list of variants.
#[test]
fn an_unknown_variant_is_rejected_with_the_known_ones() {
    let errors = refused("enums.given", r#"{"plain": "Aple"}"#);
    assert_eq!(paths(&errors), ["plain"]);
    for variant in ["Zebra", "Apple", "Mango"] {
        assert!(errors[0].expected.contains(variant), "{errors:?}");
    }
}

/// Every fixture, argument and wrong type: rejected with the argument's name, or accepted by the type.
#[test]
fn wrong_types_are_rejected_by_argument_name_everywhere() {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("1"),
        json!([]),
        json!([null]),
        json!([[], {}]),
        json!({}),
        json!({"x": null}),
        json!({"": {"": []}}),
    ];
    let mut wrong = Vec::new();
    for valid_calls::ValidCall { name, arguments, .. } in valid_calls::all() {
        for key in arguments.as_object().expect("arguments").keys() {
            for value in &values {
                let text = changed(&arguments, key, value.clone()).to_string();
                let error = fixtures::call(name, &text).error;
                // The handler may succeed or fail by itself; neither matters here.
                if error
                    .is_none_or(|error| matches!(error.kind, ErrorKind::Failed | ErrorKind::Retry | ErrorKind::Fatal))
                {
                    continue;
                }
                let elsewhere = refused(name, &text).into_iter().find(|error| !error.path.starts_with(key.as_str()));
                wrong.extend(elsewhere.map(|error| format!("{name} with {value} as {key}: {error}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Serde also deserializes a struct from an array; the schema says object.
#[test]
fn an_array_is_rejected_for_a_struct() {
    each_refused_at([
        ("borrowed.part", r#"{"part": [1, "x"]}"#, "part"),
        ("collections.pages", r#"{"orders": [[], null], "numbers": {"items": []}}"#, "orders"),
        ("recursive.tree", r#"{"tree": ["a", [], null], "forest": []}"#, "tree"),
        ("structs.defaults", r#"{"defaults": {"needed": true}, "settings": []}"#, "settings"),
    ]);
}

/// Serde also deserializes a unit variant from an object with one key; the schema says string.
#[test]
fn an_object_is_rejected_for_a_unit_variant() {
    each_refused_at([
        ("enums.given", r#"{"plain": {"Apple": null}}"#, "plain"),
        ("enums.optional", r#"{"mixed": {"First": null}}"#, "mixed"),
    ]);
}

/// A known limit: below the argument itself, serde decides. Checking there would mean reading twice.
#[test]
fn serde_decides_inside_a_value() {
    for (name, text) in [
        ("borrowed.parts", r#"{"parts": [[1, null]]}"#),
        ("collections.deep", r#"{"map": {}, "grades": [{"good": null}]}"#),
    ] {
        let result = fixtures::call(name, text);
        assert!(result.success, "{name}: {}", result.output);
    }
}

/// A value that must not be logged must not appear in an error either.
#[test]
fn a_secret_is_not_repeated_in_errors() {
    let good = json!({
        "opaque": {"x": 1, "more": {}}, "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "choice": "a", "map": {},
    });
    for (key, value) in [
        ("opaque", json!("hunter2")),
        ("opaque", json!({"x": "hunter2", "more": {}})),
        ("opaque", json!({"x": 1, "more": {"hunter2": "hunter2"}})),
        ("id", json!("hunter2")),
        ("id", json!({"hunter2": 1})),
        ("choice", json!("hunter2")),
        ("map", json!({"k": "hunter2"})),
        ("map", json!(["hunter2"])),
    ] {
        let text = changed(&good, key, value.clone()).to_string();
        let result = fixtures::call("rules.secrets", &text);
        assert!(refused("rules.secrets", &text).iter().all(|error| error.path.starts_with(key)));
        assert!(!format!("{result:?}").contains("hunter2"), "{key} {value}: {}", result.output);
    }
}

/// A missing field is reported like a missing argument, an unknown field as not expected.
#[test]
fn missing_and_unknown_fields_are_reported_as_such() {
    let result = fixtures::call("structs.defaults", r#"{"defaults": {}, "settings": {"nam": "x"}}"#);
    let line = |path: &str| result.output.lines().find(|line| line.contains(path)).unwrap_or_default().to_owned();
    assert!(line("`defaults.needed`").contains("missing"), "{}", result.output);
    let unknown = line("`settings.nam`");
    assert!(unknown.contains("unknown") && !unknown.contains("expected unknown"), "{}", result.output);
    assert!(unknown.contains("did you mean `name`?"), "{}", result.output);
}

/// Many models send `null` to omit an argument.
#[test]
fn null_is_rejected_for_a_required_argument() {
    for (name, arguments) in [("add", json!({"a": null, "b": 1})), ("borrowed.text", json!({"text": null}))] {
        let errors = refused(name, &arguments.to_string());
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].received.as_deref(), Some("null"));
    }
    let errors =
        refused("rules.bounds", &json!({"both": null, "least": 1, "most": 1, "float": 1, "whole": 1}).to_string());
    assert_eq!(paths(&errors), ["both"]);
}

#[test]
fn a_long_value_is_truncated_in_the_message() {
    let long = Value::from("x".repeat(1_000_000));
    for (name, arguments) in [
        ("add", json!({"a": long, "b": 1})),
        ("add", json!({"a": vec![0; 100_000], "b": 1})),
        ("enums.given", json!({"plain": long})),
        ("texts.parsed", json!({"version": long, "all": []})),
        ("texts.urls", json!({"url": long, "all": []})),
        ("structs.converted", json!({"even": format!("{}x", "x".repeat(100_000))})),
        ("opaque.unknown", json!({"opaque": long, "borrowed": long, "list": [], "slice": []})),
        ("rules.choices", json!({"order": long, "size": 1, "direction": "none", "factor": 1})),
    ] {
        let result = fixtures::call(name, &arguments.to_string());
        assert!(!result.success);
        assert!(result.output.len() < 5_000, "{name}: {} bytes: {:.300}", result.output.len(), result.output);
    }
}
