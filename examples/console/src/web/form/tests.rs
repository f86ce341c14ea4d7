use serde_json::{Value, json};

use super::Form;

fn rendered(schema: &Value) -> String {
    Form::new(schema).all(schema).into_string()
}

fn assert_has(form: &str, parts: &[&str]) {
    for part in parts {
        assert!(form.contains(part), "{part} is not in {form}");
    }
}

#[test]
fn each_type_has_its_control() {
    let form = rendered(&json!({
        "required": ["count"],
        "properties": {
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "sizes": {"type": "array", "items": {"type": "number"}},
            "password": {"type": "string", "writeOnly": true},
            "anything": {},
        },
    }));
    assert_has(
        &form,
        &[
            r#"min="1" max="9" value="3""#,
            r#"<option value="&quot;a&quot;">a</option>"#,
            r#"data-node="lines""#,
            r#"data-node="values""#,
            r#"type="password""#,
            r#"data-node="json""#,
        ],
    );
}

/// A value with a known shape is never entered as JSON.
#[test]
fn renders_a_field_for_each_nested_value() {
    let form = rendered(&json!({
        "required": ["items"],
        "properties": {
            "order": {"description": "As it came.", "$ref": "#/$defs/Order"},
            "items": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/Order"}},
            "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Order"}, {"type": "null"}]},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "shape": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
                {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
            ]},
            "level": {"oneOf": [{"const": "low", "description": "Little."}, {"const": "high"}]},
        },
        "$defs": {"Order": {"description": "An order.", "type": "object", "properties": {"sku": {"type": "string"}}}},
    }));
    assert!(!form.contains(r#"data-node="json""#), "{form}");
    assert_has(
        &form,
        &[
            r#"id="field-order" data-node="object" data-name="order""#,
            "As it came.",
            r#"id="field-order-sku" rows="1" data-node="text" data-name="sku""#,
            r#"data-node="list" data-name="items" data-required"#,
            r#"<ol class="rows" data-least="2">"#,
            "Add to items",
            r#"data-node="map""#,
            r#"aria-label="Key in labels""#,
            r#"id="field-maybe" data-node="object""#,
            r#"data-node="tuple""#,
            r#"<option value="0">circle</option><option value="1">square</option>"#,
            r#"data-node="fixed" data-name="kind" value="&quot;square&quot;""#,
            r#"<option value="&quot;high&quot;">high</option>"#,
        ],
    );
}

/// An optional object has a checkbox for its presence, even if it has no fields to fill in.
#[test]
fn optional_values_can_be_omitted() {
    let object = json!({"type": "object", "allOf": [{"properties": {"kind": {"const": "post"}}}]});
    let tuple = json!({"type": "array", "prefixItems": [object]});
    let only = json!({"const": true});
    let form = |required: &[&str]| {
        rendered(&json!({"required": required, "properties": {"object": object, "tuple": tuple, "only": only}}))
    };
    let (optional, required) = (form(&[]), form(&["object", "tuple", "only"]));
    assert_eq!(optional.matches(r#"class="present""#).count(), 2, "an item of the tuple is always present: {optional}");
    let chosen = r#"<option value="">–</option><option value="true">true</option>"#;
    assert_has(&optional, &[r#"object</label><span class="type">object</span>"#, chosen]);
    assert!(!required.contains("present") && !required.contains("<option"), "{required}");
    assert_has(&required, &[r#"data-node="fixed" data-name="only" value="true""#]);
}

/// The control is the same schema without properties beside `anyOf`.
#[test]
fn properties_beside_alternatives_are_entered_as_json() {
    let shapes = json!([{"type": "object", "properties": {"radius": {"type": "number"}}}, {"type": "null"}]);
    for (property, is_json) in [
        (json!({"type": "object", "properties": {"name": {"type": "string"}}, "anyOf": shapes}), true),
        (json!({"type": "object", "anyOf": shapes}), false),
    ] {
        let form = rendered(&json!({"properties": {"shape": property}}));
        assert_eq!(form.contains(r#"data-node="json""#), is_json, "{form}");
    }
}

#[test]
fn a_recursive_schema_is_rendered_to_a_limited_depth() {
    let schema = json!({
        "properties": {"node": {"$ref": "#/$defs/Node"}, "loop": {"$ref": "#/$defs/Loop"}},
        "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
            "Loop": {"$ref": "#/$defs/Loop"},
        },
    });
    assert!(rendered(&schema).contains(r#"data-node="json""#));
}

/// The control is a smaller schema, which is rendered completely.
#[test]
fn the_number_of_rendered_nodes_is_limited() {
    let of = |fields: usize| {
        let fields: serde_json::Map<_, _> =
            (0..fields).map(|field| (format!("f{field}"), json!({"$ref": "#/$defs/Node"}))).collect();
        let node = json!({"type": "object", "properties": fields});
        rendered(&json!({"properties": {"node": node}, "$defs": {"Node": node}}))
    };
    let nodes = |form: &str| form.matches("data-node").count();
    assert_eq!(nodes(&of(2)), 1 + 2 + 4 + 8 + 16 + 32);
    assert!(nodes(&of(60)) <= 1_100, "{}", nodes(&of(60)));
}

#[test]
fn text_of_a_schema_is_escaped() {
    let evil = json!({
        "type": "object", "description": "<img onerror=x>",
        "properties": {"\"><script>": {"enum": ["<script>"]}},
        "additionalProperties": {"type": "string"},
    });
    let form = rendered(&json!({"properties": {"<script>": evil, "list": {"type": "array", "items": evil}}}));
    assert!(!form.contains("<script>") && !form.contains("<img"), "{form}");
}
