//! Missing, unknown and duplicate arguments.

use serde_json::{Map, Value, json};

use crate::fixtures::{self, call_on, paths, refused, refused_on};
use crate::valid_calls;

#[test]
fn all_missing_arguments_are_named() {
    let errors = refused("add", "{}");
    assert_eq!(paths(&errors), ["a", "b"]);
    assert!(errors.iter().all(|error| error.received.is_none()), "nothing was received");
    assert!(errors.iter().all(|error| error.expected.contains("missing")), "{errors:?}");
    assert_eq!(paths(&refused("add", r#"{"b": 1}"#)), ["a"]);
}

/// Required and optional mean what the manifest says.
#[test]
fn an_argument_can_be_omitted_unless_it_is_required() {
    let manifest = fixtures::manifest();
    let mut wrong = Vec::new();
    for valid_calls::ValidCall { name, arguments, .. } in valid_calls::all() {
        let arguments: Map<String, Value> = arguments.as_object().expect("arguments").clone();
        for key in arguments.keys() {
            let without: Map<_, _> =
                arguments.iter().filter(|(other, _)| *other != key).map(|(k, v)| (k.clone(), v.clone())).collect();
            let result = fixtures::call(name, &Value::Object(without).to_string());
            let required = manifest.get(name).expect("a fixture").arguments[key].required;
            if result.success == required {
                wrong.push(format!("{name} without {key}, required: {required}: {}", result.output));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_unknown_argument_is_rejected_with_similar_names() {
    let errors = refused("later", r#"{"txet": "a", "repeat": 1}"#);
    assert_eq!(paths(&errors), ["txet", "text"]);
    assert!(errors[0].expected.contains("`text`"), "{errors:?}");
    for near in ["Text", "TEXT", "tex", "texts", "te_xt", "te-xt"] {
        let errors = refused("later", &format!(r#"{{"{near}": "a", "text": "b", "repeat": 1}}"#));
        assert_eq!(paths(&errors), [near]);
        assert!(errors[0].expected.contains("did you mean `text`?"), "{near}: {errors:?}");
    }
}

#[test]
fn an_unknown_argument_without_similar_names_lists_all_names() {
    let errors = refused("later", r#"{"text": "a", "repeat": 1, "zzz": 1}"#);
    assert_eq!(paths(&errors), ["zzz"]);
    assert!(errors[0].expected.contains("`text`") && errors[0].expected.contains("`repeat`"), "{errors:?}");
    let errors = refused("nothing", r#"{"zzz": 1}"#);
    assert!(errors[0].expected.contains("takes none"), "{errors:?}");
}

/// The model does not know injected parameters: their names are as unknown as any other.
#[test]
fn an_injected_parameter_cannot_be_sent() {
    for key in ["ping_host", "number", "session", "repository"] {
        let errors = refused("options.injected", &json!({"text": "x", key: "y"}).to_string());
        assert_eq!(paths(&errors), [key]);
        assert!(!errors[0].expected.contains("1.1.1.1"), "{errors:?}");
    }
    assert_eq!(paths(&refused("counter.by_ref", r#"{"add": 1, "self": {}}"#)), ["self"]);
}

#[test]
fn unknown_arguments_can_be_allowed() {
    let tools = fixtures::builder().allow_unknown_arguments().build().unwrap_or_else(|error| panic!("{error}"));
    let result = call_on(&tools, "add", r#"{"x": [1, {"y": null}], "a": 1, "b": 2, "": "z"}"#);
    assert_eq!((result.success, result.output.as_str()), (true, "3"));
    assert!(call_on(&tools, "nothing", r#"{"x": 1}"#).success);
    assert_eq!(paths(&refused_on(&tools, "add", r#"{"x": 1, "a": 1}"#)), ["b"]);
    // An allowed argument must still be JSON.
    refused_on(&tools, "add", r#"{"x": nope, "a": 1, "b": 2}"#);
}

#[test]
fn unusual_names_are_reported_unchanged() {
    for (key, shown) in [("", ""), ("ä", "ä"), ("a.b", "a.b"), ("a\\nb", "a\nb"), ("\\ud83e\\udd80", "🦀")] {
        let errors = refused("nothing", &format!(r#"{{"{key}": 1}}"#));
        assert_eq!(paths(&errors), [shown], "{key}");
    }
    let long = "x".repeat(100_000);
    let errors = refused("nothing", &format!(r#"{{"{long}": 1}}"#));
    assert!(errors[0].path.len() < 1000, "a long name is truncated");
}

#[test]
fn a_duplicate_argument_is_rejected() {
    for text in [
        r#"{"a": 1, "b": 2, "a": 3}"#,
        r#"{"a": 1, "a": 1, "b": 2}"#,
        r#"{"a": 1, "\u0061": 3, "b": 2}"#,
        r#"{"\u0061": 1, "b": 2, "a": 3}"#,
        r#"{"a": null, "a": 1, "b": 2}"#,
    ] {
        let errors = refused("add", text);
        assert!(paths(&errors).contains(&"a"), "{text}: {errors:?}");
        assert!(!paths(&errors).contains(&"b"), "{text}: {errors:?}");
        assert!(errors.iter().any(|error| error.expected.contains("twice")), "{text}: {errors:?}");
    }
    assert_eq!(paths(&refused("later", r#"{"text": "a", "repeat": 1, "text": "a"}"#)), ["text"]);
    assert_eq!(paths(&refused("scalars.optional", r#"{"small": null, "small": null}"#)), ["small"]);
}

/// Serde would silently keep the last of two equal keys; the model must not believe that both arrived.
#[test]
fn a_duplicate_key_is_rejected_at_any_depth() {
    let mut wrong = Vec::new();
    for (tool, text, argument) in [
        ("borrowed.owned", r#"{"number":1,"truth":true,"text":"","list":[],"path":"","map":{"k":1,"k":1}}"#, "map"),
        (
            "borrowed.owned",
            r#"{"number":1,"truth":true,"text":"","list":[],"path":"","map":{"k":1,"\u006b":1}}"#,
            "map",
        ),
        ("opaque.echo", r#"{"value": {"k": 1, "k": 2}}"#, "value"),
        ("opaque.echo", r#"{"value": [1, {"a": {"k": 1, "b": 2, "k": 3}}]}"#, "value"),
        ("opaque.echo", r#"{"value": {"\u00e4": 1, "ä": 2}}"#, "value"),
        (
            "opaque.unknown",
            r#"{"opaque":{"x":1,"more":{"k":1,"k":2}},"borrowed":{"x":1,"more":{}},"list":[],"slice":[]}"#,
            "opaque",
        ),
        (
            "opaque.inside",
            r#"{"map":{"k":1,"k":2},"list":[],"by_name":{},"envelope":{"topic":"t","payload":1}}"#,
            "map",
        ),
        (
            "opaque.inside",
            r#"{"map":{},"list":[{"k":1,"k":2}],"by_name":{},"envelope":{"topic":"t","payload":1}}"#,
            "list",
        ),
        (
            "opaque.inside",
            r#"{"map":{},"list":[],"by_name":{},"envelope":{"topic":"t","payload":{"k":1,"k":2}}}"#,
            "envelope",
        ),
        (
            "opaque.inside",
            r#"{"map":{},"list":[],"by_name":{},"envelope":{"topic":"t","payload":1,"attributes":{"k":1,"k":2}}}"#,
            "envelope",
        ),
        (
            "opaque.inside",
            r#"{"map":{},"list":[],"by_name":{},"envelope":{"topic":"t","payload":1,"attributes":{"k":{"j":1,"j":2}}}}"#,
            "envelope",
        ),
        ("collections.maps", r#"{"hash":{},"tree":{},"numbered":{"1":"a","1":"b"},"graded":{},"ids":{}}"#, "numbered"),
        ("collections.maps", r#"{"hash":{},"tree":{},"numbered":{},"graded":{"good":1,"good":2},"ids":{}}"#, "graded"),
        ("collections.maps", r#"{"hash":{},"tree":{"k":[],"k":[]},"numbered":{},"graded":{},"ids":{}}"#, "tree"),
        (
            "collections.maps",
            r#"{"hash":{},"tree":{"k":[{"count":1,"count":2}]},"numbered":{},"graded":{},"ids":{}}"#,
            "tree",
        ),
        ("structs.flattened", r#"{"search": {"query": "q", "limit": 1, "k": 1, "k": 2}}"#, "search"),
        ("structs.flattened", r#"{"search": {"query": "q", "limit": 1, "limit": 2}}"#, "search"),
        (
            "structs.renamed",
            r#"{"person": {"firstName":"a","firstName":"b","family-name":"c","email":"e","type":1}}"#,
            "person",
        ),
        (
            "structs.renamed",
            r#"{"person": {"firstName":"a","family-name":"c","email":"e","mail":"f","type":1}}"#,
            "person",
        ),
        ("recursive.mutual", r#"{"chicken": {}, "egg": {"chickens": {"a": {}, "a": {}}}}"#, "egg"),
        (
            "recursive.mutual",
            r#"{"chicken": {"egg": {"chickens": {"a": {}, "a": {}}}}, "egg": {"chickens": {}}}"#,
            "chicken",
        ),
        ("explicit.nested", r#"{"ports":[1],"point":{"x":1,"x":2},"not_text":1}"#, "point"),
        ("explicit.nested", r#"{"ports":[1],"point":{},"labels":{"a":"b","a":"c"},"not_text":1}"#, "labels"),
        ("explicit.nested", r#"{"ports":[1],"point":{},"not_text":{"k":1,"k":1}}"#, "not_text"),
        (
            "enums.nested",
            r#"{"list":[],"map":{},"keyed":{"Zebra":1,"Zebra":2},"held":{"mixed":"First"},"pair":["Zebra",null],"borrowed":"First"}"#,
            "keyed",
        ),
    ] {
        let result = fixtures::call(tool, text);
        if result.success {
            wrong.push(format!("{tool} {text}: accepted"));
            continue;
        }
        let errors = refused(tool, text);
        if !errors.iter().all(|error| error.path.starts_with(argument)) {
            wrong.push(format!("{tool} {text}: does not name {argument}: {:?}", paths(&errors)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Equal keys in different objects, and equal strings that are not keys, are valid.
#[test]
fn equal_keys_in_different_objects_are_accepted() {
    for (tool, text) in [
        ("opaque.echo", r#"{"value": {"value": {"k": 1}, "j": {"k": 1}, "k": [{"k": "k"}, {"k": "k:"}]}}"#),
        ("opaque.echo", r#"{"value": ["k", "k", {"a": "\"k\":", "k": "a"}]}"#),
        ("opaque.echo", r#"{"value": {"a\\": 1, "a": 2, "\"": 3, "\\\"": 4}}"#),
        (
            "opaque.inside",
            r#"{"map":{"topic":1},"list":[],"by_name":{"payload":2},"envelope":{"topic":"payload","payload":{"payload":{"topic":1}}}}"#,
        ),
        (
            "recursive.tree",
            r#"{"tree": {"name": "name", "children": [{"name": "children", "children": []}, {"name": "x"}]}, "forest": []}"#,
        ),
        ("structs.flattened", r#"{"search": {"query": "query", "limit": 1, "more": 1}}"#),
    ] {
        let result = fixtures::call(tool, text);
        assert!(result.success, "{tool} {text}: {}", result.output);
    }
}
