//! Tests of hidden and visible values.

mod calls;
mod generated;

use proptest::prelude::*;
use serde_json::json;
use tool_model::Manifest;

use super::*;
use crate::testing::properties;

fn definition() -> ToolDefinition {
    let tool = json!({"t": {
        "description": "", "handler": "t",
        "arguments": {
            "plain": {"type": "any", "required": false},
            "note": {"type": "string", "required": false},
            "token": {"type": "string", "required": false, "writeOnly": true},
            "account": {"type": "object", "required": false, "$ref": "#/$defs/Account"},
            "accounts": {"type": "array", "required": false, "items": {"$ref": "#/$defs/Account"}},
            "pair": {"type": "array", "required": false,
                     "prefixItems": [{"type": "string"}, {"type": "string", "writeOnly": true}]},
            "by_name": {"type": "object", "required": false, "additionalProperties": {"$ref": "#/$defs/Account"}},
            "either": {"type": "any", "required": false,
                       "anyOf": [{"type": "null"}, {"$ref": "#/$defs/Account"}]},
            "count_or_account": {"type": "any", "required": false,
                                 "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Account"}]},
            "login": {"type": "object", "required": false, "properties": {"account": {"$ref": "#/$defs/Account"}}},
            "extensible": {"type": "object", "required": false,
                           "properties": {"user": {"type": "string"}, "key": {"type": "string", "writeOnly": true}},
                           "additionalProperties": {"type": "string"}}
        },
        "$defs": {"Account": {"type": "object", "properties": {
            "user": {"type": "string"},
            "key": {"allOf": [{"type": "string", "writeOnly": true}]},
            "parent": {"$ref": "#/$defs/Account"}
        }}}
    }});
    Manifest::from_json(&tool.to_string()).unwrap().get("t").unwrap().clone()
}

fn shown(arguments: &Value) -> Value {
    redact(arguments, &definition())
}

#[test]
fn secrets_are_hidden_at_every_depth() {
    let account = json!({"user": "ada", "key": "S", "parent": {"user": "bob", "key": ["S"], "parent": null}});
    let hidden = json!({"user": "ada", "key": "***", "parent": {"user": "bob", "key": "***", "parent": null}});
    for (name, value, expected) in [
        ("token", json!("S"), json!("***")),
        ("token", json!({"a": "S"}), json!("***")),
        ("account", account.clone(), hidden.clone()),
        ("accounts", json!([account, account]), json!([hidden, hidden])),
        ("pair", json!(["ada", "S"]), json!(["ada", "***"])),
        ("by_name", json!({"x": account}), json!({"x": hidden})),
        ("either", account.clone(), hidden),
        ("either", json!(null), json!(null)),
        ("plain", json!({"any": ["thing", 1]}), json!({"any": ["thing", 1]})),
    ] {
        assert_eq!(shown(&json!({name: value})), json!({name: expected}));
    }
}

#[test]
fn hides_values_in_doubt() {
    assert_eq!(shown(&json!({"tokn": "S"})), json!({"tokn": "***"}));
    assert_eq!(
        shown(&json!({"account": {"user": "ada", "kee": "S"}})),
        json!({"account": {"user": "ada", "kee": "***"}})
    );
    assert_eq!(shown(&json!({"account": "{\"key\": \"S\"}"})), json!({"account": "***"}));
    assert_eq!(shown(&json!({"accounts": "[{\"key\": \"S\"}]"})), json!({"accounts": "***"}));
    assert_eq!(shown(&json!("{\"token\": \"S\"}")), json!("***"));
    assert_eq!(shown(&json!([{"token": "S"}])), json!("***"));
}

/// A key or a shape that the schemas do not know is hidden wherever they know of a secret, however deep.
#[test]
fn hides_values_without_a_schema() {
    for (name, value, expected) in [
        ("login", json!({"account": {"user": "ada", "key": "S"}}), json!({"account": {"user": "ada", "key": "***"}})),
        ("login", json!({"acct": {"user": "ada", "key": "S"}}), json!({"acct": "***"})),
        ("accounts", json!({"user": "ada", "key": "S"}), json!("***")),
        ("accounts", json!([["ada", "S"]]), json!(["***"])),
        ("accounts", json!([[{"user": "ada", "key": "S"}]]), json!(["***"])),
        ("account", json!(["ada", "S"]), json!("***")),
        ("account", json!(1815), json!("***")),
        ("account", json!({"user": {"user": "ada", "key": "S"}}), json!("***")),
        ("pair", json!([["ada", "S"]]), json!("***")),
        ("pair", json!([["ada", "S"], null]), json!("***")),
        ("pair", json!(["S"]), json!("***")),
        ("pair", json!(["ada", "S", "S"]), json!(["ada", "***", "***"])),
        ("note", json!({"token": "S"}), json!("***")),
        ("note", json!(["S"]), json!("***")),
        ("note", json!(1815), json!(1815)),
        ("count_or_account", json!(1815), json!(1815)),
        ("extensible", json!({"user": "ada", "other": "S"}), json!({"user": "ada", "other": "***"})),
    ] {
        assert_eq!(shown(&json!({name: value})), json!({name: expected}), "{name}: {value}");
    }
}

#[test]
fn every_keyword_that_applies_a_schema_counts() {
    let secret = json!({"type": "string", "writeOnly": true});
    let with_key = json!({"properties": {"key": secret}});
    for (schema, value, expected) in [
        (json!({"dependentSchemas": {"user": with_key}}), json!({"key": "S"}), json!({"key": "***"})),
        (json!({"dependencies": {"user": with_key, "key": ["user"]}}), json!({"key": "S"}), json!({"key": "***"})),
        (json!({"unevaluatedProperties": secret}), json!({"key": "S"}), json!({"key": "***"})),
        (
            json!({"properties": {"key": {"type": "string"}}, "patternProperties": {"^k": secret}}),
            json!({"key": "S"}),
            json!({"key": "***"}),
        ),
        (
            json!({"properties": {"user": {}}, "allOf": [{"additionalProperties": secret}]}),
            json!({"user": "S"}),
            json!({"user": "***"}),
        ),
        (json!({"propertyNames": secret}), json!({"S": 1}), json!("***")),
        (json!({"contentSchema": with_key}), json!("{\"key\": \"S\"}"), json!("***")),
        (json!({"contains": secret}), json!(["S"]), json!(["***"])),
        (json!({"unevaluatedItems": secret}), json!(["S"]), json!(["***"])),
        (json!({"items": [{"type": "string"}, secret]}), json!(["ada", "S"]), json!(["ada", "***"])),
        (json!({"items": [{}], "additionalItems": secret}), json!(["ada", "S"]), json!(["ada", "***"])),
        (json!({"not": {"not": secret}}), json!("S"), json!("***")),
        (json!({"if": {}, "then": secret}), json!("S"), json!("***")),
        (json!({"$ref": "#/$defs/Missing"}), json!("S"), json!("***")),
        (json!({"$dynamicRef": "#node"}), json!("S"), json!("***")),
    ] {
        let tool = json!({"description": "", "handler": "", "arguments": {"v": schema}});
        let shown = redact(&json!({"v": value}), &serde_json::from_value(tool).unwrap());
        assert_eq!(shown, json!({"v": expected}), "{schema}");
    }
}

/// Sets of schemas can be as many as there are subsets of schemas: here each key keeps half of them.
#[test]
fn a_tangle_of_schemas_is_planned_in_bounded_time() {
    let bits = 24;
    let defs = (0..bits).map(|bit| {
        let next = |keys: &[&str]| {
            keys.iter()
                .map(|key| ((*key).to_owned(), json!({"$ref": format!("#/$defs/D{}", (bit + 1) % bits)})))
                .collect::<Map<_, _>>()
        };
        let mut properties = next(if bit == 0 { &["a"] } else { &["a", "b"] });
        properties
            .insert("both".to_owned(), json!({"anyOf": [{"$ref": "#/$defs/D0"}, {"$ref": format!("#/$defs/D{bit}")}]}));
        properties.insert(
            "c".to_owned(),
            json!({"anyOf": [{"$ref": "#/$defs/D0"}, {"$ref": format!("#/$defs/D{}", (bit + 1) % bits)}]}),
        );
        properties.insert("key".to_owned(), json!({"type": "string", "writeOnly": true}));
        (format!("D{bit}"), json!({"type": "object", "properties": properties}))
    });
    let tool = json!({
        "description": "", "handler": "", "arguments": {"v": {"$ref": "#/$defs/D0"}},
        "$defs": defs.collect::<Map<_, _>>(),
    });
    let redaction = Redaction::new(&serde_json::from_value(tool).unwrap());
    let mut value = json!({"key": "S"});
    for step in ["a", "b", "c", "both"].into_iter().cycle().take(60) {
        value = json!({step: value, "key": "S"});
    }
    assert!(!redaction.redact(&json!({"v": value})).to_string().contains('S'));
}

proptest! {
    #![proptest_config(properties(300))]

    #[test]
    fn shows_arguments_without_secrets(user in ".{0,20}", number in any::<i64>()) {
        let arguments = json!({"plain": [user, number], "account": {"user": user, "parent": {"user": user}}});
        prop_assert_eq!(shown(&arguments), arguments);
    }
}

#[test]
fn an_alias_is_as_visible_as_its_argument() {
    let mut definition = definition();
    for (name, alias) in [("note", "remark"), ("token", "pwd"), ("account", "login_as")] {
        definition.arguments.get_mut(name).unwrap().aliases.push(alias.to_owned());
    }
    let sent = json!({"remark": "a", "pwd": "S", "login_as": {"user": "ada", "key": "S"}, "unknown": "S"});
    let expected = json!({"remark": "a", "pwd": "***", "login_as": {"user": "ada", "key": "***"}, "unknown": "***"});
    assert_eq!(redact(&sent, &definition), expected);
}
