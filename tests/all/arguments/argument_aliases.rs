//! Arguments sent under `#[arg(alias = ..)]`.

use serde_json::{Value, json};
use tool_runtime::arguments::ArgumentErrorKind;
use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, ToolResult};

use crate::fixtures::{self, call, call_on, output, paths, refused, refused_on};

fn repairs(result: &ToolResult) -> Value {
    result.metadata.get("repairs").cloned().unwrap_or_default()
}

#[test]
fn an_alias_is_read_as_its_argument() {
    for (name, sent, same) in [
        ("aliases.copy", json!({"file_path": "a"}), json!({"from": "a"})),
        ("aliases.copy", json!({"to": "b", "file_path": "a"}), json!({"from": "a", "to": "b"})),
        ("aliases.copy", json!({"destination": "b", "from": "a"}), json!({"from": "a", "to": "b"})),
        ("aliases.copy", json!({"from": "a", "replaceAll": true}), json!({"from": "a", "replace_all": true})),
        ("aliases.login", json!({"user": "ada", "pwd": "1815"}), json!({"user": "ada", "password": "1815"})),
        ("aliases.explicit", json!({"limit": 2, "sort": "up"}), json!({"max-items": 2, "order": "up"})),
        ("aliases.shelf.find", json!({"name": "emma"}), json!({"title": "emma"})),
        ("aliases.store.put", json!({"k": "a", "v": 1}), json!({"key": "a", "value": 1})),
        ("aliases.counter.add", json!({"by": 1}), json!({"amount": 1})),
    ] {
        assert_eq!(output(name, sent.clone()), output(name, same), "{name} {sent}");
    }
}

#[test]
fn an_alias_is_a_repair_even_where_repair_is_off() {
    for tools in [fixtures::tools(), fixtures::repairing()] {
        let result = call_on(tools, "aliases.copy", r#"{"file_path": "a", "target": "b"}"#);
        assert_eq!(
            repairs(&result),
            json!([
                {"path": "from", "from": "file_path", "to": "from", "why": "alias"},
                {"path": "to", "from": "target", "to": "to", "why": "alias"},
            ]),
            "{result:?}"
        );
        assert_eq!(repairs(&call_on(tools, "aliases.copy", r#"{"from": "a"}"#)), Value::Null, "a control");
    }
}

#[test]
fn a_value_under_an_alias_is_repaired_too() {
    for (text, same) in [
        (r#"{"file_path": "a", "replaceAll": "true"}"#, r#"{"from": "a", "replace_all": true}"#),
        (r#"{file_path: 'a', target: 'b',}"#, r#"{"from": "a", "to": "b"}"#),
        ("```json\n{\"file_path\": \"a\"}\n```", r#"{"from": "a"}"#),
    ] {
        let result = call_on(fixtures::repairing(), "aliases.copy", text);
        assert_eq!(result.output, call("aliases.copy", same).output, "{text}");
        let noted = repairs(&result);
        assert!(noted.as_array().unwrap().iter().any(|repair| repair["why"] == "alias"), "{text}: {noted}");
        assert!(noted.as_array().unwrap().len() > 1, "{text}: {noted}");
        let strict = call("aliases.copy", text);
        assert!(!strict.success, "without repair only aliases are replaced: {strict:?}");
    }
}

#[test]
fn an_alias_beside_another_name_of_its_argument_is_rejected() {
    for tools in [fixtures::tools(), fixtures::repairing()] {
        let both = refused_on(tools, "aliases.copy", r#"{"file_path": "a", "from": "b"}"#);
        assert_eq!(both[0].to_string(), "`file_path`: another name for `from`, which is sent too; send only `from`");
        assert_eq!(both[0].kind, ArgumentErrorKind::Duplicate);
        let same = refused_on(tools, "aliases.copy", r#"{"from": "b", "target": "c", "file_path": "b"}"#);
        assert_eq!(paths(&same), ["file_path"], "the alias of the other argument is fine: {same:?}");
        let two = refused_on(tools, "aliases.copy", r#"{"from": "a", "target": "b", "destination": "c"}"#);
        assert_eq!(paths(&two), ["target", "destination"]);
        let twice = refused_on(tools, "aliases.copy", r#"{"file_path": "a", "file_path": "b"}"#);
        assert_eq!(paths(&twice), ["file_path", "file_path"]);
    }
}

#[test]
fn errors_name_the_argument_and_not_its_alias() {
    let errors = refused("aliases.store.put", r#"{"k": "a", "v": 10}"#);
    assert_eq!(errors[0].to_string(), "`value`: got 10, expected integer between 0 and 9");
    let errors = refused("aliases.store.put", r#"{"k": 1, "other": 2}"#);
    assert_eq!(paths(&errors), ["key", "other", "value"]);
    let errors = refused("aliases.copy", r#"{"file_path": "a", "replace": true}"#);
    assert_eq!(errors[0].to_string(), "`replace`: unknown argument; did you mean `replace_all`?");
    let malformed = refused("aliases.copy", r#"{"file_path": "a""#);
    assert_eq!(paths(&malformed), [""], "{malformed:?}");
}

#[test]
fn an_alias_is_read_where_unknown_arguments_are_ignored() {
    let tools = fixtures::builder().allow_unknown_arguments().build().unwrap();
    let result = call_on(&tools, "aliases.copy", r#"{"file_path": "a", "unheard": 1}"#);
    assert_eq!(result.output, r"a None false");
}

/// A secret under its alias is as secret as under its name.
#[test]
fn a_secret_under_its_alias_is_hidden() {
    let errors = refused("aliases.login", r#"{"user": "ada", "pwd": 1815}"#);
    assert!(!errors[0].to_string().contains("1815"), "{errors:?}");
    let result = call_on(fixtures::repairing(), "aliases.login", r#"{"user": "ada", "pwd": "1815"}"#);
    assert!(result.success && !repairs(&result).to_string().contains("1815"), "{result:?}");
    let definition = fixtures::manifest().get("aliases.login").unwrap();
    let shown = tool_runtime::arguments::redact(&json!({"user": "ada", "pwd": "1815"}), definition);
    assert!(!shown.to_string().contains("1815"), "{shown}");
}

#[test]
fn models_do_not_see_aliases() {
    let tools = Dispatcher::builder().manifest(fixtures::theme("aliases")).build().unwrap();
    let mut shown = vec![tools.instructions(), tools.catalogue()];
    shown.extend(Dialect::ALL.map(|dialect| tools.offer(dialect).unwrap().definitions().to_string()));
    for alias in ["file_path", "destination", "replaceAll", "pwd", "sign_in", "signIn", "shelf_find", "increment"] {
        assert!(fixtures::theme("aliases").to_json().contains(alias), "a control: {alias}");
        for text in &shown {
            assert!(!text.contains(alias), "{alias}: {text}");
        }
    }
    let found = tools.search("destination pwd shelf_find increment", 5);
    assert!(found.iter().all(|hit| &*hit.name == "aliases.shelf.find"), "{:?}", found.first().map(|hit| &hit.name));
}
