//! Results: what a caller reads.

use serde_json::{Value, json};

use super::of_tool;

fn of_results(old: Value, new: Value) -> Vec<String> {
    of_tool(json!({"returns": old}), json!({"returns": new}))
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
        of_results(old(), point(one(), json!(["host"]))),
        ["- returns[].load: is gone; callers that read it miss it"]
    );
    assert_eq!(of_results(point(one(), json!(["host"])), old()), ["+ returns[].load: is new"]);
    assert_eq!(of_results(old(), point(both(), json!(["host"]))), ["- returns[].load: may now be missing"]);
    assert_eq!(of_results(point(both(), json!(["host"])), old()), ["+ returns[].load: is now always there"]);
}

#[test]
fn the_other_way_round() {
    let of = |values: &[&str]| point(json!({"state": {"enum": values}}), json!(["state"]));
    assert_eq!(of_results(of(&["up"]), of(&["up", "down"])), [r#"- returns[].state: now includes "down""#]);
    assert_eq!(of_results(of(&["up", "down"]), of(&["up"])), [r#"+ returns[].state: no longer includes "down""#]);
}

#[test]
fn described_or_not() {
    let undescribed = || json!({});
    let described = || json!({"returns": point(json!({}), json!([]))});
    assert_eq!(of_tool(undescribed(), described()), ["+ returns: is described now"]);
    assert_eq!(of_tool(described(), undescribed()), ["- returns: is no longer described; the result may be anything"]);
}
