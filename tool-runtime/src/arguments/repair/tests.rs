//! Tests of every repair, and of values that are not repaired.

use serde_json::{Value, json};
use tool_model::ToolDefinition;
use tool_model::validate::Validator;

use super::loose_json::parse;
use super::{Repair, RepairedArguments, repaired};
use crate::redact::Redaction;

/// A tool of one argument, `v`.
fn tool(schema: Value, required: bool) -> ToolDefinition {
    let mut argument = schema;
    argument["required"] = json!(required);
    let defs = json!({
        "Level": {"type": "string", "enum": ["low", "high"]},
        "Point": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "label": {"type": "string"}, "on": {"type": "boolean"}},
            "required": ["x"]
        },
        "Tree": {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "of": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
            "required": ["n"]
        },
        "Shape": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "dot"}, "at": {"$ref": "#/$defs/Point"}}, "required": ["kind", "at"]},
            {"type": "object", "properties": {"kind": {"const": "disc"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"type": "string", "enum": ["none"]}
        ]}
    });
    let definition = json!({"description": "", "handler": "", "arguments": {"v": argument}, "$defs": defs});
    serde_json::from_value(definition).unwrap()
}

/// Repairs like a call, with the validator in place of the types, so that an integer has no fraction.
fn attempt(definition: &ToolDefinition, text: &str) -> Option<RepairedArguments> {
    let argument = &definition.arguments["v"];
    let validator = Validator::new(&argument.schema(), &definition.defs).unwrap();
    let judge = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(all)) if all.keys().all(|key| key == "v") => match all.get("v") {
            None if argument.required => Err(Vec::new()),
            Some(v) if !validator.is_valid(v) || has_decimal_integer(&argument.schema(), text) => Err(vec!["v"]),
            _ => Ok(()),
        },
        _ => Err(Vec::new()),
    };
    match judge(text) {
        Ok(()) => None,
        Err(wrong) => repaired(text, definition, &Redaction::new(definition), wrong, judge).ok(),
    }
}

/// Returns `true` if a type of integers alone would refuse a number of the text.
fn has_decimal_integer(schema: &Value, text: &str) -> bool {
    let schema = schema.to_string();
    schema.contains("\"integer\"")
        && !schema.contains("\"number\"")
        && parse(text).is_some_and(|(node, _)| node.has_decimal())
}

/// Returns the repaired value, with the repairs.
fn repaired_value(schema: Value, value: &str) -> Option<(String, Vec<Repair>)> {
    let repaired = attempt(&tool(schema, true), &format!(r#"{{"v":{value}}}"#))?;
    let text = repaired.text.strip_prefix(r#"{"v":"#).and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    Some((text.to_owned(), repaired.repairs))
}

#[track_caller]
fn to(schema: Value, value: &str, expected: &str) -> Vec<Repair> {
    let (text, repairs) =
        repaired_value(schema.clone(), value).unwrap_or_else(|| panic!("{value} for {schema} is not repaired"));
    assert_eq!(text, expected, "{value} for {schema}");
    assert!(!repairs.is_empty(), "{value} for {schema}");
    repairs
}

#[track_caller]
fn stays<const N: usize>(schema: Value, values: [&str; N]) {
    for value in values {
        let repaired = repaired_value(schema.clone(), value);
        assert!(repaired.is_none(), "{value} for {schema}: {repaired:?}");
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

#[test]
fn unquotes_numbers() {
    let integer = json!({"type": "integer"});
    to(integer.clone(), r#""5""#, "5");
    to(integer.clone(), r#"" -5 ""#, "-5");
    to(integer.clone(), r#""5.00""#, "5");
    to(integer.clone(), r#""1e3""#, "1000");
    to(integer.clone(), r#""340282366920938463463374607431768211455""#, "340282366920938463463374607431768211455");
    stays(
        integer,
        [r#""five""#, r#""""#, r#""5.5""#, r#""1e-3""#, r#""+5""#, r#""05""#, r#""5,000""#, r#""0x10""#, r#""5 km""#],
    );
    let number = json!({"type": "number"});
    to(number.clone(), r#""0.1000000000000000055""#, "0.1000000000000000055");
    to(number.clone(), r#""1e3""#, "1e3");
    stays(number, [r#""NaN""#, r#""inf""#, r#""1,5""#, r#"".5""#, "true", "null", "[]"]);
}

#[test]
fn removes_only_a_zero_fraction_of_an_integer() {
    let integer = json!({"type": "integer"});
    to(integer.clone(), "30.0", "30");
    to(integer.clone(), "-7.000", "-7");
    to(integer.clone(), "-0.0", "0");
    to(integer.clone(), "9007199254740993.0", "9007199254740993");
    stays(integer, ["30.5", "30.0000000000000000000000001", "true"]);
}

#[test]
fn removes_an_exponent_if_the_number_is_an_integer() {
    let integer = json!({"type": "integer"});
    for (decimal, whole) in [
        ("1e2", "100"),
        ("1E+1", "10"),
        ("1.5e1", "15"),
        ("-1.50e1", "-15"),
        ("200e-2", "2"),
        ("0e9", "0"),
        ("-0.0e5", "0"),
        ("0.5e1", "5"),
        ("9007199254740993e0", "9007199254740993"),
        ("3e38", "300000000000000000000000000000000000000"),
    ] {
        to(integer.clone(), decimal, whole);
    }
    stays(integer, ["1.5e0", "1e-1", "15e-1", "1e39", "1e400", "1e99999999999999999999", "1e-99999999999999999999"]);
}

/// A schema accepts `2.0` as an integer, its type does not.
#[test]
fn removes_the_fraction_of_an_integer_among_alternatives() {
    let optional = json!({"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}});
    to(optional, r#"{"n":2.0}"#, r#"{"n":2}"#);
    let variant = |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
    to(json!({"oneOf": [variant("A"), variant("B"), {"const": "C"}]}), r#"{"B":1e1}"#, r#"{"B":10}"#);
    // If a number with a fraction is valid, too, it is not repaired.
    let either = json!({"anyOf": [{"type": "integer"}, {"type": "number"}]});
    to(json!({"type": "array", "items": either}), r#""[2.0]""#, "[2.0]");
}

#[test]
fn unquotes_booleans() {
    let boolean = json!({"type": "boolean"});
    to(boolean.clone(), r#""true""#, "true");
    to(boolean.clone(), r#""False""#, "false");
    stays(boolean, [r#""yes""#, r#""1""#, "1", "0", r#""""#]);
}

#[test]
fn unquotes_arrays_and_objects() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    to(list.clone(), r#""[1,2]""#, "[1,2]");
    to(list.clone(), r#""[\"1\", 2.0]""#, "[1,2]");
    to(list.clone(), r#""\"[1]\"""#, "[1]");
    stays(list, [r#""1,2""#, r#""[1,2""#, r#""{}""#, r#""""#, r#""1""#]);
    to(reference("Point"), r#""{\"x\": 1}""#, r#"{"x":1}"#);
    to(reference("Point"), r#""{'x': '1', 'label': 'a'}""#, r#"{"x":1,"label":"a"}"#);
    stays(reference("Point"), [r#""[1]""#, r#""x=1""#, r#""{\"x\": 1, \"x\": 2}""#]);
}

#[test]
fn repairs_nested_values() {
    let tree = r#"{"n":"1","of":[{"n":2,"of":"[{\"n\": \"3\"}]"},{"n":4.0}]}"#;
    let repairs = to(reference("Tree"), tree, r#"{"n":1,"of":[{"n":2,"of":[{"n":3}]},{"n":4}]}"#);
    let paths: Vec<&str> = repairs.iter().map(|repair| repair.path.as_str()).collect();
    assert_eq!(paths, ["v.n", "v.of[0].of", "v.of[0].of[0].n", "v.of[1].n"]);
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let repairs = to(map, r#"{"a b":"1","c":2}"#, r#"{"a b":1,"c":2}"#);
    assert_eq!(repairs[0].path, r#"v["a b"]"#);
    let pair = json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 2});
    to(pair, r#"["5","true"]"#, r#"["5",true]"#);
}

#[test]
fn never_changes_free_text() {
    stays(json!({"type": "string"}), ["5", "true", "null", "[]", "{}", "5.0"]);
    stays(json!({"type": "string", "pattern": "^x"}), [r#""5""#, r#""\"x\"""#]);
    stays(json!({"allOf": [{"type": ["string", "null"], "minLength": 9}]}), [r#""5""#, r#""null""#]);
    stays(json!({"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 9}]}), [r#""5""#]);
    let texts = r#"{"x":"1","label":"5","on":"true"}"#;
    to(reference("Point"), texts, r#"{"x":1,"label":"5","on":true}"#);
    to(reference("Point"), r#"{"x":"1","label":"\u0041\/"}"#, r#"{"x":1,"label":"\u0041\/"}"#);
}

#[test]
fn finds_a_listed_string_in_another_case() {
    to(reference("Level"), r#""HIGH""#, r#""high""#);
    to(json!({"enum": ["ä", "b"]}), r#""Ä""#, r#""ä""#);
    to(json!({"type": "array", "items": reference("Level")}), r#"["Low","high"]"#, r#"["low","high"]"#);
    stays(reference("Level"), [r#""hi""#, r#"" high""#, r#""h""#, "1"]);
    stays(json!({"type": "string", "enum": ["a", "A!", "B", "b"]}), [r#""a!!""#]);
    stays(json!({"type": "string", "enum": ["Go", "GO"]}), [r#""go""#]);
}

#[test]
fn wraps_a_single_value_into_an_array() {
    to(json!({"type": "array", "items": {"type": "integer"}}), "5", "[5]");
    to(json!({"type": "array", "items": reference("Point")}), r#"{"x":1}"#, r#"[{"x":1}]"#);
    to(json!({"type": "array", "items": reference("Level")}), r#""low""#, r#"["low"]"#);
    stays(json!({"type": "array", "items": {"type": "string"}}), [r#""a""#, r#""a, b""#, "5", "null"]);
    stays(json!({"type": "array", "items": {"type": "integer"}}), ["5.5", "{}", "null"]);
    stays(json!({"type": "array", "items": {}}), ["5", "{}", r#""a""#]);
    stays(json!({"allOf": [{"type": ["array", "object"], "items": {"type": "integer"}}]}), ["5"]);
}

#[test]
fn drops_repeated_items_of_a_set() {
    let set = |items: Value| json!({"type": "array", "items": items, "uniqueItems": true});
    let repairs = to(set(json!({"type": "string"})), r#"["a","b","a","\u0061"]"#, r#"["a","b"]"#);
    assert_eq!(repairs.len(), 1);
    assert_eq!(repairs[0].to_string(), r#"`v`: ["a","b","a","\u0061"] → ["a","b"] (had repeated items)"#);
    // Items are compared after their own repairs, and by value.
    to(set(json!({"type": "integer"})), r#"[1,"1",1.0,2]"#, "[1,2]");
    to(set(json!({"type": "number"})), "[1.5,1,1.0,1e0]", "[1.5,1]");
    let objects = r#"[{"x":1,"label":"a"},{"label":"a","x":1},{"x":2}]"#;
    to(set(reference("Point")), objects, r#"[{"x":1,"label":"a"},{"x":2}]"#);
    to(json!({"anyOf": [set(json!({"type": "integer"})), {"type": "null"}]}), "[1,1]", "[1]");
    let repairs =
        to(json!({"type": "object", "additionalProperties": set(json!({}))}), r#"{"a":[1,1]}"#, r#"{"a":[1]}"#);
    assert_eq!(repairs[0].path, "v.a");
    // As floats these two are equal.
    let large = "[340282366920938463463374607431768211454,340282366920938463463374607431768211455,1,1]";
    assert!(repaired_value(set(json!({"type": "integer"})), large).is_none_or(|(text, _)| text.contains("454,340")));
}

#[test]
fn keeps_repeated_items_where_they_are_valid_or_have_a_place() {
    stays(json!({"type": "array", "items": {"type": "integer"}}), ["[1,1]"]);
    stays(json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": false}), ["[1,1]"]);
    let pair = json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "uniqueItems": true});
    stays(pair, ["[1,1]"]);
    stays(json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 2}), ["[1,1]"]);
}

#[test]
fn repairs_only_if_one_alternative_remains() {
    to(reference("Shape"), r#"{"kind":"disc","r":"1.5"}"#, r#"{"kind":"disc","r":1.5}"#);
    to(reference("Shape"), r#""{\"kind\":\"dot\",\"at\":{\"x\":\"1\"}}""#, r#"{"kind":"dot","at":{"x":1}}"#);
    to(reference("Shape"), r#""None""#, r#""none""#);
    stays(reference("Shape"), [r#"{"kind":"disc","r":"wide"}"#, r#"{"kind":"square","r":"1"}"#, r#"{"r":"1"}"#]);
    let either = json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]});
    to(either.clone(), r#""5""#, "5");
    to(either, r#""true""#, "true");
    to(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), r#""5""#, "5");
    stays(json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}]}), [r#""x""#]);
    // It could be `5` and `5.0`.
    stays(json!({"anyOf": [{"type": "integer", "maximum": 9}, {"type": "number", "maximum": 9}]}), [r#""5.0""#]);
}

#[test]
fn removes_null_for_optional_values() {
    let optional = tool(json!({"type": "integer"}), false);
    assert_eq!(attempt(&optional, r#"{"v":null}"#).unwrap().text, "{}");
    assert!(attempt(&tool(json!({"type": "integer"}), true), r#"{"v":null}"#).is_none());
    let repairs = to(reference("Point"), r#"{"x":1,"label":null,"on":"true"}"#, r#"{"x":1,"on":true}"#);
    assert_eq!(repairs[0].to_string(), "`v.label`: null → removed (stood for an absent value)");
    stays(reference("Point"), [r#"{"x":null}"#]);
}

#[test]
fn unwraps_quotes_and_code_fences() {
    let list = tool(json!({"type": "array", "items": {"type": "string"}}), false);
    let right = r#"{"v":["a"]}"#;
    for text in [
        r#""{\"v\":[\"a\"]}""#,
        r#""\"{\\\"v\\\":[\\\"a\\\"]}\"""#,
        "```json\n{\"v\":[\"a\"]}\n```",
        " ``` {\"v\":[\"a\"]}``` ",
        "```JSON\n\"{'v': ['a',],}\"\n```",
        r#"{"v":["a"],}"#,
        r#"{"v":["a",]}"#,
        r#"{v:["a"]}"#,
        r#"{'v':['a']}"#,
        r#"{"v":"['a']"}"#,
    ] {
        let repaired = attempt(&list, text).unwrap_or_else(|| panic!("{text} is not repaired"));
        assert_eq!(repaired.text, right, "{text}");
    }
    for text in ["null", r#""""#, r#"" ""#, "None", r#"{"v":null,}"#] {
        assert_eq!(attempt(&list, text).unwrap().text, "{}", "{text}");
    }
    for text in ["[]", "5", r#""text""#, r#"{"w":1,}"#, r#"{"v":["a"]"#, r#"{"v":["a"],"v":["a"],}"#, "Here: ```{}```"]
    {
        assert!(attempt(&list, text).is_none(), "{text}");
    }
}

#[test]
fn accepts_only_unambiguous_loose_json() {
    for (text, expected) in [
        (r#"{a_1: 'say "hi"', "b": None}"#, r#"{"a_1":"say \"hi\"","b":null}"#),
        ("[True, False, null,]", "[true,false,null]"),
        ("{\"a\": \"one\n\ttwo\u{1}\"}", r#"{"a":"one\n\ttwo\u0001"}"#),
    ] {
        let (node, is_loose) = parse(text).unwrap_or_else(|| panic!("{text} is not read"));
        assert_eq!((node.to_string().as_str(), is_loose), (expected, true));
    }
    for text in [
        "",
        "{",
        "[1",
        "[1 2]",
        "[,]",
        "[1,,]",
        "{,}",
        "{a}",
        "{1:2}",
        "{a-b:1}",
        "[word]",
        "[TRUE]",
        "[nan]",
        "[undefined]",
        "['it's']",
        r"['a\'b']",
        r#"["a]"#,
        r#"["\x"]"#,
        r#"["\ud800"]"#,
        "[1]]",
        "[1] [2]",
        "[1;2]",
        "[01]",
        "[1.]",
        "[+1]",
        "/* no */ []",
        "[1] // no",
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"a":1,a:2}"#,
        "\u{feff}{}",
    ] {
        assert!(parse(text).is_none(), "{text}: {:?}", parse(text));
    }
    let json = r#" {"a\n": [1e5, -0.10, "\u00e4", {}, [], true], "": null} "#;
    let (node, is_loose) = parse(json).unwrap();
    assert_eq!((node.to_string().as_str(), is_loose), (r#"{"a\n":[1e5,-0.10,"\u00e4",{},[],true],"":null}"#, false));
    assert!(parse(&"[".repeat(1_000_000)).is_none());
}

#[test]
fn repairs_do_not_reveal_secrets() {
    let secret = tool(json!({"type": "integer", "writeOnly": true}), true);
    for text in [r#"{"v":"4711"}"#, r#"{"v":4711,}"#] {
        let repairs = attempt(&secret, text).unwrap().repairs;
        assert!(!format!("{repairs:?}").contains("4711"), "{repairs:?}");
        assert_eq!(repairs[0].from, "a secret");
    }
    // Nor those deep inside, in a repair of the whole, of what they stand in, and of themselves.
    let inner = json!({"type": "object", "properties": {"key": {"type": "integer", "writeOnly": true}}});
    let nested = tool(json!({"type": "array", "items": inner}), true);
    for text in [r#"{"v":[{"key":4711}],}"#, r#"{"v":"[{\"key\":4711}]"}"#, r#"{"v":[{"key":"4711"}]}"#] {
        let repairs = attempt(&nested, text).unwrap().repairs;
        assert!(!repairs.is_empty() && !format!("{repairs:?}").contains("4711"), "{repairs:?}");
    }
}

/// A hostile text must not take long.
#[test]
fn nested_alternatives_are_bounded_work() {
    let forms =
        |inner: Value| json!({"anyOf": [inner.clone(), {"type": "array", "items": inner}, {"type": "boolean"}]});
    let mut schema = json!({"type": "integer"});
    for _ in 0..6 {
        schema = forms(json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}));
    }
    let text = format!("{}\"x\"{}", "{\"a\":".repeat(6), "}".repeat(6));
    assert!(repaired_value(schema, &text).is_none());
    assert!(repaired_value(reference("Tree"), &format!("[{}]", vec![r#""1""#; 300_000].join(","))).is_none());
}
