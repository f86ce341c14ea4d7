//! Arguments without their secrets, for logs and events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tool_model::{ToolDefinition, reference_target};

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// The arguments with `"***"` in place of each secret: what is marked `#[arg(secret)]`, and whatever a schema calls
/// `writeOnly`, at any depth.
///
/// In doubt it hides. An argument that the tool does not have may be a secret with its name misspelt, and a text in
/// place of an object may be that object with its secrets.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::{Manifest, redact};
///
/// let manifest = Manifest::from_json(
///     r#"{"login": {"description": "", "handler": "login", "arguments": {
///         "user": {"type": "string", "required": true},
///         "password": {"type": "string", "required": true, "writeOnly": true}
///     }}}"#,
/// )?;
/// let arguments = json!({"user": "ada", "password": "1815", "pasword": "1815"});
/// let shown = redact(&arguments, manifest.get("login").unwrap());
/// assert_eq!(shown, json!({"user": "ada", "password": "***", "pasword": "***"}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn redact(arguments: &Value, definition: &ToolDefinition) -> Value {
    replace_secrets(arguments, definition, &mut |_| Value::from(HIDDEN))
}

/// The arguments with something else in place of each secret, chosen by a function that is given the secret.
///
/// It goes by the place, not by the value: whoever puts secrets back with it puts them where secrets belong only.
pub(crate) fn replace_secrets(arguments: &Value, definition: &ToolDefinition, replace: Replace<'_>) -> Value {
    let Value::Object(arguments) = arguments else { return replace(arguments) };
    let mut walk = Walk { defs: &definition.defs, replace };
    let replaced = arguments.iter().map(|(name, value)| {
        let shown = match definition.arguments.get(name) {
            None => (walk.replace)(value),
            Some(argument) => walk.value(value, &[&argument.schema()], 0),
        };
        (name.clone(), shown)
    });
    Value::Object(replaced.collect())
}

/// Whether there can be a secret in an argument, at any depth. There can be one in what the tool does not have.
pub(crate) fn may_hold_secret(argument: &str, definition: &ToolDefinition) -> bool {
    let Some(argument) = definition.arguments.get(argument) else { return true };
    holds_secret(&definition.defs, &collected(&definition.defs, &[&argument.schema()]))
}

/// Whether there can be a secret in any argument.
pub(crate) fn may_hold_secrets(definition: &ToolDefinition) -> bool {
    definition.arguments.keys().any(|name| may_hold_secret(name, definition))
}

/// Deeper than this no arguments are read, so that none are shown.
const DEEPEST: usize = 128;

/// What is to stand in place of a secret.
type Replace<'a> = &'a mut dyn FnMut(&Value) -> Value;

type Defs = BTreeMap<String, Value>;

struct Walk<'a> {
    defs: &'a Defs,
    replace: Replace<'a>,
}

impl Walk<'_> {
    /// A value for which several schemas hold at once, any of which may know of a secret.
    fn value(&mut self, value: &Value, schemas: &[&Value], depth: usize) -> Value {
        let all = collected(self.defs, schemas);
        if all.iter().any(|schema| is_secret(schema)) || depth > DEEPEST {
            return (self.replace)(value);
        }
        match value {
            Value::Object(map) => self.object(map, &all, depth),
            Value::Array(items) => {
                let at = |index| all.iter().flat_map(|schema| of_item(schema, index)).collect::<Vec<_>>();
                let items = items.iter().enumerate();
                items.map(|(index, item)| self.value(item, &at(index), depth + 1)).collect()
            }
            // It may be what should have been there, as text.
            Value::String(_) if holds_secret(self.defs, &all) => (self.replace)(value),
            other => other.clone(),
        }
    }

    fn object(&mut self, map: &Map<String, Value>, all: &[&Value], depth: usize) -> Value {
        let properties = all.iter().filter_map(|schema| schema.get("properties")?.as_object()).flat_map(Map::values);
        let is_beside_secret = properties
            .map(|property| collected(self.defs, &[property]))
            .any(|forms| forms.iter().any(|form| is_secret(form)));
        let replaced = map.iter().map(|(key, value)| {
            let schemas: Vec<&Value> = all.iter().flat_map(|schema| of_property(schema, key)).collect();
            let shown = if schemas.is_empty() && is_beside_secret {
                (self.replace)(value)
            } else {
                self.value(value, &schemas, depth + 1)
            };
            (key.clone(), shown)
        });
        Value::Object(replaced.collect())
    }
}

/// Schemas and all that they refer to or put together for the same value, each once.
fn collected<'s>(defs: &'s Defs, schemas: &[&'s Value]) -> Vec<&'s Value> {
    let mut all = Vec::new();
    for schema in schemas {
        collect(defs, schema, &mut all);
    }
    all
}

fn collect<'s>(defs: &'s Defs, schema: &'s Value, all: &mut Vec<&'s Value>) {
    if all.iter().any(|known| std::ptr::eq(*known, schema)) {
        return;
    }
    all.push(schema);
    let target = reference_target(schema).and_then(|name: Cow<'_, str>| defs.get(&*name));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let single = ["if", "then", "else"].into_iter().filter_map(|key| schema.get(key));
    for other in target.into_iter().chain(lists).chain(single) {
        collect(defs, other, all);
    }
}

/// Whether something inside a value of these schemas is a secret.
fn holds_secret<'s>(defs: &'s Defs, schemas: &[&'s Value]) -> bool {
    let mut all = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        if is_secret(schema) {
            return true;
        }
        for inner in inside(schema) {
            collect(defs, inner, &mut all);
        }
        next += 1;
    }
    false
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
}

/// The schemas of one property. Which patterns a key fits is not asked: any of them may.
fn of_property<'s>(schema: &'s Value, key: &str) -> Vec<&'s Value> {
    if let Some(property) = schema.get("properties").and_then(|properties| properties.get(key)) {
        return vec![property];
    }
    let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let rest = ["additionalProperties", "unevaluatedProperties"].into_iter().filter_map(|key| schema.get(key));
    patterns.chain(rest.filter(|rest| rest.is_object())).collect()
}

fn of_item(schema: &Value, index: usize) -> Option<&Value> {
    let first = schema.get("prefixItems").and_then(|items| items.get(index));
    first.or_else(|| schema.get("items").filter(|items| items.is_object()))
}

/// The schemas of all that can stand inside a value.
fn inside(schema: &Value) -> impl Iterator<Item = &Value> {
    let maps = ["properties", "patternProperties"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let single =
        ["additionalProperties", "unevaluatedProperties", "items"].into_iter().filter_map(|key| schema.get(key));
    let list = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    maps.flat_map(Map::values).chain(single).chain(list)
}

#[cfg(test)]
mod tests {
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
                "token": {"type": "string", "required": false, "writeOnly": true},
                "account": {"type": "object", "required": false, "$ref": "#/$defs/Account"},
                "accounts": {"type": "array", "required": false, "items": {"$ref": "#/$defs/Account"}},
                "pair": {"type": "array", "required": false,
                         "prefixItems": [{"type": "string"}, {"type": "string", "writeOnly": true}]},
                "by_name": {"type": "object", "required": false, "additionalProperties": {"$ref": "#/$defs/Account"}},
                "either": {"type": "any", "required": false,
                           "anyOf": [{"type": "null"}, {"$ref": "#/$defs/Account"}]}
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
    fn in_doubt_it_hides() {
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

    /// Accounts within accounts, with the secret in all forms and places that a model may send.
    fn any_account() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!({"key": "SECRET"})), Just(json!("{\"key\": \"SECRET\"}")), Just(json!(null))];
        leaf.prop_recursive(6, 40, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|parent| json!({"user": "ada", "key": "SECRET", "parent": parent})),
                inner.clone().prop_map(|extra| json!({"key": {"deep": "SECRET"}, "kee": extra})),
            ]
        })
    }

    proptest! {
        #![proptest_config(properties(300))]

        #[test]
        fn no_secret_is_shown(account in any_account()) {
            let arguments = json!({"account": account, "accounts": [account], "by_name": {"x": account}, "either": account,
                                   "token": account, "unknown": account});
            prop_assert!(!shown(&arguments).to_string().contains("SECRET"));
        }

        #[test]
        fn what_has_no_secret_is_shown_as_it_is(user in ".{0,20}", number in any::<i64>()) {
            let arguments = json!({"plain": [user, number], "account": {"user": user, "parent": {"user": user}}});
            prop_assert_eq!(shown(&arguments), arguments);
        }
    }
}
