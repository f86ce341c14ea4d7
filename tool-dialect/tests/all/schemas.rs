//! Schemas in each provider's profile.

use serde_json::{Value, json};
use tool_dialect::{Dialect, DialectForm};

use crate::fixtures::{argument, tool};

#[track_caller]
fn becomes(form: impl Into<DialectForm>, schema: Value, expected: Value) {
    assert_eq!(argument(form, schema, json!({})), expected);
}

#[test]
fn writes_the_portable_form() {
    let portable = Dialect::OpenAiChat;
    becomes(portable, json!({}), json!({"description": "Any JSON value."}));
    becomes(
        portable,
        json!({"type": "array", "items": true}),
        json!({"type": "array", "items": {"description": "Any JSON value."}}),
    );
    becomes(
        portable,
        json!({"type": "integer", "format": "uint32", "title": "T", "writeOnly": true}),
        json!({"type": "integer", "minimum": 0}),
    );
    becomes(
        portable,
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    );
    becomes(
        portable,
        json!({"required": false, "anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"type": "string"}),
    );
    let object = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": ["string", "null"]}}, "required": ["b"]});
    becomes(
        portable,
        json!({"allOf": [object]}),
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "required": ["b"],
        }),
    );
}

#[test]
fn inlines_references_except_to_recursive_types() {
    let defs = json!({
        "Outer": {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Inner"}, "again": {"$ref": "#/$defs/Inner", "description": "Here."}}},
        "Inner": {"type": "string", "description": "Inside."},
        "List": {"type": "object", "properties": {"next": {"$ref": "#/$defs/List"}, "inner": {"$ref": "#/$defs/Inner"}}},
    });
    assert_eq!(
        argument(Dialect::OpenAiChat, json!({"$ref": "#/$defs/Outer"}), defs.clone()),
        json!({"type": "object", "properties": {
            "inner": {"type": "string", "description": "Inside."}, "again": {"type": "string", "description": "Here."},
        }})
    );
    let tool = tool(json!({"x": {"type": "object", "required": true, "$ref": "#/$defs/List"}}), defs);
    let offer = Dialect::OpenAiChat.offer([("f", &tool)]).expect("one tool");
    let parameters = &offer.definitions()[0]["function"]["parameters"];
    assert_eq!(parameters["properties"]["x"], json!({"$ref": "#/$defs/List"}));
    assert_eq!(
        parameters["$defs"],
        json!({"List": {"type": "object", "properties": {
            "next": {"$ref": "#/$defs/List"}, "inner": {"type": "string", "description": "Inside."},
        }}})
    );
}

/// Remote references are never fetched.
#[test]
fn never_follows_remote_references() {
    for reference in ["https://example.com/schema.json", "#/$defs/Missing", "#"] {
        becomes(Dialect::Mcp, json!({"$ref": reference}), json!({"description": "Any JSON value."}));
    }
}

#[test]
fn merges_all_of() {
    let defs = json!({"Base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
    let extended = json!({"allOf": [{"$ref": "#/$defs/Base"}, {"type": "object", "properties": {"b": {"type": "integer", "minimum": 1}}, "required": ["b"]}], "description": "Both."});
    assert_eq!(
        argument(Dialect::OpenAiChat, extended, defs),
        json!({
            "type": "object", "description": "Both.",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 1}}, "required": ["a", "b"],
        })
    );
    becomes(
        Dialect::OpenAiChat,
        json!({"type": "integer", "allOf": [{"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 5}]}),
        json!({"type": "integer", "minimum": 3, "maximum": 5}),
    );
    becomes(
        Dialect::OpenAiChat,
        json!({"allOf": [{"type": "number"}, {"type": ["integer", "string"]}, {"enum": [1, "a", 1.5]}]}),
        json!({"type": "integer", "enum": [1]}),
    );
    let apart = json!({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]});
    becomes(Dialect::OpenAiChat, apart.clone(), apart);
    let apart = json!({"allOf": [
        {"type": "array", "items": {"type": "string"}, "prefixItems": [{"type": "integer"}]},
        {"type": "array", "items": {"type": "integer"}},
    ]});
    becomes(Dialect::OpenAiChat, apart.clone(), apart);
}

/// A closed part excludes the properties of the others. If one of them is required, the parts are not merged.
#[test]
fn a_closed_part_closes_the_merged_schema() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    becomes(
        Dialect::OpenAiChat,
        json!({"allOf": [closed, {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}]}),
        closed.clone(),
    );
    let never = json!({"allOf": [
        closed,
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]});
    becomes(Dialect::OpenAiChat, never.clone(), never);
}

#[test]
fn writes_the_strict_form_of_openai() {
    let strict = Dialect::OpenAiChat.strict();
    becomes(
        strict,
        json!({"type": "string", "required": false, "default": "ms", "enum": ["ms", "s"]}),
        json!({"anyOf": [{"type": "string", "description": "Default: \"ms\".", "enum": ["ms", "s"]}, {"type": "null"}]}),
    );
    becomes(
        strict,
        json!({"type": "string", "minLength": 2, "maxLength": 8, "pattern": "^(?=a)", "format": "uri", "description": "A host"}),
        json!({"type": "string", "description": "A host. From 2 to 8 characters. In the format `uri`. Matches the regular expression `^(?=a)`."}),
    );
    becomes(
        strict,
        json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "string"}]}),
        json!({"anyOf": [
            {"type": "object", "additionalProperties": false, "properties": {"a": {"type": ["integer", "null"]}}, "required": ["a"]},
            {"type": "string"},
        ]}),
    );
}

#[test]
fn writes_the_strict_form_of_anthropic() {
    becomes(
        Dialect::Anthropic.strict(),
        json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 100}, "minItems": 2, "description": "Ports."}),
        json!({"type": "array", "description": "Ports. At least 2 items.", "items": {"type": "integer", "description": "From 1 to 100."}}),
    );
    becomes(
        Dialect::Anthropic.strict(),
        json!({"type": "integer", "required": false, "default": 3}),
        json!({"type": "integer", "default": 3}),
    );
}

#[test]
fn writes_the_form_of_gemini() {
    let gemini = Dialect::Gemini;
    becomes(gemini, json!({"type": "string", "const": "x"}), json!({"type": "string", "enum": ["x"]}));
    becomes(
        gemini,
        json!({"type": "integer", "enum": [1, 2]}),
        json!({"type": "integer", "description": "One of 1, 2."}),
    );
    becomes(gemini, json!({"type": "integer", "exclusiveMinimum": 3}), json!({"type": "integer", "minimum": 4}));
    becomes(
        gemini,
        json!({"type": "number", "exclusiveMinimum": 3}),
        json!({"type": "number", "description": "More than 3."}),
    );
    becomes(
        gemini,
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"type": "string", "nullable": true}),
    );
    becomes(
        gemini,
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "description": "Its keys are free; each value is integer."}),
    );
    let nothing = tool(json!({}), json!({}));
    let offer = gemini.offer([("f", &nothing)]).expect("one tool");
    assert_eq!(*offer.definitions(), json!([{"functionDeclarations": [{"name": "f", "description": "Does it."}]}]));
    assert_eq!(*gemini.offer([]).expect("no tools").definitions(), json!([]));
}

#[test]
fn mcp_definitions_have_output_schemas_and_hints() {
    let mut tool = tool(
        json!({}),
        json!({"Report": {"type": "object", "properties": {"note": {"type": ["string", "null"]}}, "required": ["note"]}}),
    );
    tool.returns = Some(json!({"$ref": "#/$defs/Report"}));
    tool.read_only = true;
    tool.idempotent = true;
    let offer = Dialect::Mcp.offer([("a.b", &tool)]).expect("one tool");
    let definition = &offer.definitions()[0];
    assert_eq!(definition["name"], "a.b");
    assert_eq!(definition["annotations"], json!({"readOnlyHint": true, "idempotentHint": true}));
    assert_eq!(
        definition["outputSchema"],
        json!({"type": "object", "properties": {"note": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["note"]})
    );
    tool.returns = Some(json!({"type": "array", "items": {"type": "string"}}));
    let offer = Dialect::Mcp.offer([("a.b", &tool)]).expect("one tool");
    assert_eq!(offer.definitions()[0].get("outputSchema"), None, "only objects are structured content");
}

/// Remote tools send older drafts and invalid keywords.
#[test]
fn drops_invalid_keywords() {
    becomes(
        Dialect::Mcp,
        json!({"type": "integer", "minimum": "1", "exclusiveMinimum": true, "enum": 5, "properties": []}),
        json!({"type": "integer"}),
    );
    becomes(
        Dialect::Mcp,
        json!({"type": "array", "items": [{"type": "string"}, {"type": "string"}], "minItems": 2, "maxItems": 2}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
    );
}
