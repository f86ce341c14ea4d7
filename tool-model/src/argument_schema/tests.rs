use serde_json::{Value, json};

use super::*;

fn tool(schema: Value) -> ToolDefinition {
    let mut definition = ToolDefinition::default();
    ArgumentSchema::read(&schema).expect("a schema").describe(&mut definition);
    definition
}

fn refusal(schema: Value) -> String {
    ArgumentSchema::read(&schema).expect_err("no schema of arguments").to_string()
}

#[test]
fn normalizes_references_of_every_form() {
    let tool = tool(json!({
        "type": "object",
        "properties": {
            "from": {"type": "object", "properties": {"city": {"type": "string"}}},
            "to": {"$ref": "#/properties/from"},
            "tree": {"$ref": "#/definitions/Tree"},
            "self": {"$ref": "#"},
        },
        "definitions": {"Tree": {"type": "object", "properties": {"below": {"$ref": "#/definitions/Tree"}}}},
    }));
    assert_eq!(tool.arguments["to"].keywords["$ref"], "#/$defs/from");
    assert_eq!(tool.defs["Tree"]["properties"]["below"]["$ref"], "#/$defs/Tree");
    assert_eq!(tool.defs["Arguments"]["properties"]["to"]["$ref"], "#/$defs/from");
    assert_eq!(tool.defs["from"]["properties"]["city"]["type"], "string");
}

#[test]
fn moved_definitions_get_unique_names() {
    let tool = tool(json!({
        "properties": {"a": {"$ref": "#/$defs/City/properties/City"}, "b": {"$ref": "#/$defs/City"}},
        "$defs": {"City": {"type": "object", "properties": {"City": {"type": "object", "properties": {}}}}},
    }));
    assert_eq!(tool.arguments["a"].keywords["$ref"], "#/$defs/City2");
    assert_eq!(tool.arguments["b"].keywords["$ref"], "#/$defs/City");
}

#[test]
fn merges_the_properties_of_all_alternatives() {
    let schema = json!({
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "id"}, "id": {"type": "integer"}}, "required": ["id", "kind"]},
            {"properties": {"kind": {"const": "name"}, "name": {"type": "string"}}, "required": ["name", "kind"]},
        ],
    });
    let read = ArgumentSchema::read(&schema).expect("a schema");
    let mut definition = ToolDefinition::default();
    read.describe(&mut definition);
    let required: Vec<_> = definition.arguments.iter().map(|(name, argument)| (&**name, argument.required)).collect();
    assert_eq!(required, [("id", false), ("kind", true), ("name", false)]);
    let whole = read.whole().expect("more than its properties");
    assert!(whole.is_valid(&json!({"kind": "id", "id": 1})));
    assert!(!whole.is_valid(&json!({"kind": "id", "name": "x"})));
}

#[test]
fn a_plain_object_has_no_constraints_across_arguments() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}}});
    let read = ArgumentSchema::read(&schema).expect("a schema");
    assert!(read.whole().is_none() && read.is_nullable("a") && !read.is_nullable("b"));
    assert!(ArgumentSchema::read(&json!({})).expect("no arguments").properties.is_empty());
}

#[test]
fn rejects_unsupported_schemas_with_a_reason() {
    assert!(refusal(json!({"type": "array"})).contains("must be an object, not \"array\""));
    assert!(refusal(json!({"additionalProperties": {"type": "string"}})).contains("one argument that holds the map"));
    assert!(refusal(json!({"properties": {"a": {"$ref": "https://x.test/a"}}})).contains("remote reference"));
    assert!(refusal(json!({"properties": {"a": {"$ref": "#/$defs/Gone"}}})).contains("`#/$defs/Gone` has no target"));
    assert!(refusal(json!({"properties": {"a": {"type": "text"}}})).contains("#/properties/a/type"));
    let circle = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert!(ArgumentSchema::read_as_far_as_possible(&circle).is_err(), "it would never end");
    assert!(refusal(json!(3)).contains("an object with properties"));
}

#[test]
fn unenforceable_keywords_can_be_left_to_the_tool() {
    let schema = json!({"properties": {"mail": {"type": "string", "pattern": "^(?!\\.).+@", "minLength": 3}}});
    assert!(refusal(schema.clone()).contains("#/properties/mail/pattern"));
    let read = ArgumentSchema::read_as_far_as_possible(&schema).expect("the rest");
    assert_eq!(read.left_out().len(), 1);
    let mut definition = ToolDefinition::default();
    read.describe(&mut definition);
    assert_eq!(definition.arguments["mail"].keywords["pattern"], "^(?!\\.).+@", "the model still sees the keyword");
}

#[test]
fn a_result_is_described_with_its_definitions() {
    let mut tool = ToolDefinition::default();
    let schema = json!({"type": "object", "properties": {"at": {"$ref": "#/definitions/Point"}},
        "definitions": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}}}});
    tool.describe_result(&schema).expect("a schema");
    assert_eq!(tool.returns.expect("described")["properties"]["at"]["$ref"], "#/$defs/Point");
    assert!(tool.defs.contains_key("Point"));
}

/// Definitions that are each made of all of them, as another program may send them.
fn each_of_all(count: usize) -> Value {
    let all: Vec<Value> = (0..count).map(|number| json!({"$ref": format!("#/$defs/D{number}")})).collect();
    let def = |number| {
        let own = format!("p{number}");
        (format!("D{number}"), json!({"properties": {own.as_str(): {}}, "required": [own], "anyOf": all, "allOf": all}))
    };
    let defs: Map<_, _> = (0..count).map(def).collect();
    json!({"allOf": all, "$defs": defs})
}

#[test]
fn visits_each_definition_once() {
    let LocalSchema { root, defs } = LocalSchema::from_schema(&each_of_all(30)).expect("local");
    let found = ObjectProperties::from_schema(&root, &defs).expect("properties");
    assert_eq!((found.schemas.len(), found.required.len()), (30, 30));
    assert!(refusal(each_of_all(200)).contains("more than 128 levels deep"));
}

#[test]
fn a_long_chain_of_references_is_not_nesting() {
    const LENGTH: usize = 20_000;
    let property = |number: usize| match number {
        0 => json!({"type": "string"}),
        _ => json!({"$ref": format!("#/properties/p{}", number - 1)}),
    };
    let properties: Map<_, _> = (0..LENGTH).map(|number| (format!("p{number}"), property(number))).collect();
    let LocalSchema { defs, .. } = LocalSchema::from_schema(&json!({"properties": properties})).expect("a schema");
    assert_eq!(defs.len(), LENGTH - 1);
}

#[test]
fn marks_conditionally_secret_arguments() {
    let secret = json!({"type": "string", "writeOnly": true});
    for (keyword, value) in [
        ("then", json!({"properties": {"pin": secret}})),
        ("not", json!({"properties": {"pin": {"not": secret}}})),
        ("dependentSchemas", json!({"user": {"properties": {"pin": secret}}})),
        ("dependencies", json!({"user": {"properties": {"pin": secret}}, "pin": ["user"]})),
        ("allOf", json!([{"if": {"$ref": "#/$defs/WithPin"}}])),
        ("allOf", json!([{"properties": {"user": {}}, "additionalProperties": secret}])),
    ] {
        let schema = json!({
            "type": "object", "properties": {"user": {"type": "string"}, "pin": {"type": "string"}}, keyword: value,
            "$defs": {"WithPin": {"properties": {"pin": {"$ref": "#/$defs/Pin"}}}, "Pin": secret},
        });
        let mut tool = ToolDefinition::default();
        ArgumentSchema::read_as_far_as_possible(&schema).expect("a schema").describe(&mut tool);
        assert!(tool.arguments["pin"].is_secret(), "{schema}");
        assert!(!tool.arguments["user"].is_secret(), "{schema}");
    }
    // Any name may fit a pattern.
    let pattern = tool(json!({"properties": {"pin": {"type": "string"}}, "patternProperties": {"^p": secret}}));
    assert!(pattern.arguments["pin"].is_secret());
    // A nested secret does not make the whole argument secret.
    let nested = tool(json!({"properties": {"account": {"type": "object", "properties": {"pin": secret}}}}));
    assert!(!nested.arguments["account"].is_secret());
}

#[test]
fn converts_whole_floats_where_an_integer_is_expected() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "maybe": {"type": ["integer", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "share": {"type": "number"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "place": {"$ref": "#/$defs/Place"},
            "free": {},
        },
        "$defs": {"Place": {"type": "object", "properties": {
            "number": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}, "height": {"type": "number"},
        }}},
    });
    let schema = ArgumentSchema::read(&schema).unwrap();
    let converted = |arguments: Value| {
        let Value::Object(mut arguments) = arguments else { panic!("not an object") };
        schema.convert_whole_numbers(&mut arguments);
        Value::Object(arguments).to_string()
    };
    let arguments = json!({
        "count": 42.0, "either": -3.0, "free": 5.0, "list": [1.0, 2], "maybe": 7.0,
        "place": {"height": 1.0, "next": {"number": 2.0}, "number": 1.0}, "share": 2.0,
    });
    let expected = json!({
        "count": 42, "either": -3, "free": 5.0, "list": [1, 2], "maybe": 7,
        "place": {"height": 1.0, "next": {"number": 2}, "number": 1}, "share": 2.0,
    });
    assert_eq!(converted(arguments), expected.to_string());
    for unchanged in [json!({"count": 4.5}), json!({"count": 1e300}), json!({"count": "42.0"}), json!({"other": 1.0})] {
        assert_eq!(converted(unchanged.clone()), unchanged.to_string());
    }
}

/// Each level of the value has several ways through the schema.
#[test]
fn converting_numbers_takes_bounded_time() {
    let node = json!({"anyOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Node"}, {"type": "integer"}]});
    let schema = json!({
        "type": "object",
        "properties": {"node": node.clone()},
        "$defs": {"Node": {"type": "object", "properties": {"next": node}}},
    });
    let schema = ArgumentSchema::read(&schema).unwrap();
    let deep = (0..100).fold(json!(1.0), |inner, _| json!({"next": inner}));
    let Value::Object(mut arguments) = json!({"node": deep}) else { panic!("not an object") };
    let start = std::time::Instant::now();
    schema.convert_whole_numbers(&mut arguments);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
