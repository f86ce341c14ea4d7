//! Changes of results.

use serde_json::{Value, json};

use super::tool_changes;

fn result_changes(old: Value, new: Value) -> Vec<String> {
    tool_changes(json!({"returns": old}), json!({"returns": new}))
}

fn point(properties: Value, required: Value) -> Value {
    json!({"type": "array", "items": {"type": "object", "properties": properties, "required": required}})
}

#[test]
fn fields() {
    let both = || json!({"host": {"type": "string"}, "load": {"type": "number"}});
    let one = || json!({"host": {"type": "string"}});
    let old = || point(both(), json!(["host", "load"]));
    assert_eq!(
        result_changes(old(), point(one(), json!(["host"]))),
        ["- returns[].load: was removed; callers that read it will miss it"]
    );
    assert_eq!(result_changes(point(one(), json!(["host"])), old()), ["+ returns[].load: is new"]);
    assert_eq!(result_changes(old(), point(both(), json!(["host"]))), ["- returns[].load: may now be missing"]);
    assert_eq!(result_changes(point(both(), json!(["host"])), old()), ["+ returns[].load: is now always there"]);
}

#[test]
fn results_are_judged_in_the_opposite_direction() {
    let of = |values: &[&str]| point(json!({"state": {"enum": values}}), json!(["state"]));
    assert_eq!(result_changes(of(&["up"]), of(&["up", "down"])), [r#"- returns[].state: now includes "down""#]);
    assert_eq!(result_changes(of(&["up", "down"]), of(&["up"])), [r#"+ returns[].state: no longer includes "down""#]);
}

#[test]
fn a_result_with_and_without_a_schema() {
    let undescribed = || json!({});
    let described = || json!({"returns": point(json!({}), json!([]))});
    assert_eq!(tool_changes(undescribed(), described()), ["+ returns: now has a schema"]);
    assert_eq!(
        tool_changes(described(), undescribed()),
        ["- returns: no longer has a schema; the result may be any value"]
    );
}
