//! The providers' rules, implemented independently from their documentation, without the crate's own code.

use serde_json::{Map, Value, json};
use tool_dialect::{Dialect, DialectForm};

use crate::fixtures::{function_of, schema_of};

/// Returns everything in one definition that its provider would reject.
pub fn objections(form: DialectForm, definition: &Value) -> Vec<String> {
    let mut judge = Judge { form, found: Vec::new(), strict: false, depth: 0 };
    judge.envelope(definition);
    let function = function_of(form, definition);
    judge.strict = function.get("strict") == Some(&Value::Bool(true));
    judge.name(function["name"].as_str().unwrap_or_default());
    if let Some(description) = function.get("description") {
        judge.check(description.as_str().is_some_and(|text| !text.is_empty()), "description", "is a text");
    }
    let schema = schema_of(form, definition);
    if form.dialect == Dialect::Gemini && schema.is_null() {
        return judge.found;
    }
    judge.root(&schema);
    judge.schema(&schema, "$");
    judge.definitions(&schema);
    judge.found
}

struct Judge {
    form: DialectForm,
    found: Vec<String>,
    strict: bool,
    depth: usize,
}

const SUBSCHEMAS: [&str; 8] =
    ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];

impl Judge {
    fn check(&mut self, holds: bool, place: &str, rule: &str) {
        if !holds {
            self.found.push(format!("{place}: {rule}"));
        }
    }

    fn envelope(&mut self, definition: &Value) {
        let keys = |value: &Value| value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
        let own: Vec<String> = keys(definition);
        let inner: Vec<String> = keys(&function_of(self.form, definition));
        let allowed: (&[&str], &[&str]) = match self.form.dialect {
            Dialect::OpenAiChat | Dialect::OpenRouter => {
                (&["type", "function"], &["name", "description", "parameters", "strict"])
            }
            Dialect::OpenAiResponses => (&["type", "name", "description", "parameters", "strict"], &[]),
            Dialect::Anthropic => (&["name", "description", "input_schema", "strict"], &[]),
            Dialect::Gemini => (&["functionDeclarations"], &["name", "description", "parameters"]),
            Dialect::Bedrock => (&["toolSpec"], &["name", "description", "inputSchema", "strict"]),
            _ => (&["name", "description", "inputSchema", "outputSchema", "annotations"], &[]),
        };
        let inner_allowed = if allowed.1.is_empty() { allowed.0 } else { allowed.1 };
        self.check(own.iter().all(|key| allowed.0.contains(&key.as_str())), "definition", "has known keys");
        self.check(inner.iter().all(|key| inner_allowed.contains(&key.as_str())), "function", "has known keys");
        if self.form.dialect == Dialect::OpenAiResponses {
            self.check(definition["strict"].is_boolean(), "strict", "is said, since it is on by default");
        }
    }

    fn name(&mut self, name: &str) {
        let (extra, longest) = match self.form.dialect {
            Dialect::Gemini => ("_.:-", 128),
            Dialect::Mcp => ("_.-", 128),
            Dialect::OpenAiResponses => ("_-", 128),
            _ => ("_-", 64),
        };
        let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c));
        self.check(fits && (1..=longest).contains(&name.len()), "name", &format!("{name:?} is taken"));
        if self.form.dialect == Dialect::Gemini {
            let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
            self.check(name.starts_with(starts), "name", &format!("{name:?} starts with a letter"));
        }
    }

    fn root(&mut self, schema: &Value) {
        self.check(schema["type"] == "object", "$", "is an object");
        self.check(schema["properties"].is_object(), "$", "has properties");
        for keyword in ["oneOf", "anyOf", "allOf", "enum", "not", "$ref"] {
            self.check(schema.get(keyword).is_none(), "$", &format!("has no {keyword}"));
        }
        let names = schema["properties"].as_object().map(Map::keys);
        for name in names.into_iter().flatten().cloned().collect::<Vec<String>>() {
            let plain = |extra: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c));
            let fits = match self.form.dialect {
                Dialect::Anthropic => plain("_.-") && (1..=64).contains(&name.len()),
                Dialect::Gemini => plain("_") && !name.starts_with(|c: char| c.is_ascii_digit()) && name.len() <= 64,
                _ => true,
            };
            self.check(fits, "$", &format!("the argument {name:?} is taken"));
        }
    }

    fn schema(&mut self, schema: &Value, place: &str) {
        let Some(object) = schema.as_object() else {
            return self.check(false, place, "is no boolean schema");
        };
        self.check(!object.is_empty(), place, "says something");
        self.portable(object, place);
        if self.strict {
            self.strict(object, place);
        }
        if self.form.dialect == Dialect::Gemini {
            self.gemini(object, place);
        }
        self.below(object, place);
    }

    /// Rules that clients enforce in practice.
    fn portable(&mut self, object: &Map<String, Value>, place: &str) {
        let is_openai_strict = self.strict && self.is_openai();
        let type_list = object.get("type").is_some_and(Value::is_array);
        self.check(!type_list || is_openai_strict, place, "has no list of types");
        if let Some(format) = object.get("format").and_then(Value::as_str) {
            let machine = ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind));
            self.check(!machine, place, "has no format of a machine number");
        }
        let is_array = object.get("type").is_some_and(|name| name == "array" || name[0] == "array");
        self.check(!is_array || object.contains_key("items"), place, "is a list with items");
        for keyword in ["title", "$schema", "$comment", "writeOnly", "readOnly", "x-variants"] {
            self.check(!object.contains_key(keyword), place, &format!("has no {keyword}"));
        }
        self.check(object.get("enum") != Some(&json!([])), place, "has values to choose from");
        self.check(object.get("additionalProperties") != Some(&Value::Bool(true)), place, "has no boolean schema");
        if let Some(reference) = object.get("$ref") {
            let local = reference.as_str().is_some_and(|text| text.starts_with("#/$defs/"));
            self.check(local, place, "refers only to its own definitions");
        }
    }

    fn is_openai(&self) -> bool {
        matches!(self.form.dialect, Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::OpenRouter)
    }

    fn strict(&mut self, object: &Map<String, Value>, place: &str) {
        let banned: &[&str] = if self.is_openai() {
            &[
                "oneOf",
                "allOf",
                "not",
                "if",
                "then",
                "else",
                "default",
                "minLength",
                "maxLength",
                "patternProperties",
                "uniqueItems",
                "contains",
                "prefixItems",
                "propertyNames",
                "dependentRequired",
                "dependentSchemas",
                "minProperties",
                "maxProperties",
                "examples",
            ]
        } else {
            &[
                "oneOf",
                "not",
                "if",
                "then",
                "else",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
                "minLength",
                "maxLength",
                "maxItems",
                "uniqueItems",
                "patternProperties",
                "prefixItems",
                "$ref",
                "$defs",
                "minProperties",
                "maxProperties",
            ]
        };
        for keyword in banned {
            self.check(!object.contains_key(*keyword), place, &format!("has no {keyword}"));
        }
        let says_what = ["type", "anyOf", "$ref", "enum", "const"].iter().any(|key| object.contains_key(*key));
        self.check(says_what, place, "says what it is");
        let is_object = object.get("type").is_some_and(|name| name == "object" || name[0] == "object");
        if is_object {
            self.check(object.get("additionalProperties") == Some(&Value::Bool(false)), place, "is closed");
        }
        if is_object && self.is_openai() {
            let properties = object.get("properties").and_then(Value::as_object).map(Map::len).unwrap_or(usize::MAX);
            let required = object.get("required").and_then(Value::as_array).map(Vec::len);
            self.check(required == Some(properties), place, "requires every property");
        }
        if let Some(pattern) = object.get("pattern").and_then(Value::as_str) {
            let looks = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|part| pattern.contains(part));
            self.check(!looks, place, "has a pattern that does not look around");
        }
        if self.is_openai() && object.contains_key("$ref") {
            self.check(object.len() == 1, place, "has nothing beside its reference");
        }
        if !self.is_openai()
            && let Some(least) = object.get("minItems").and_then(Value::as_u64)
        {
            self.check(least <= 1, place, "has a minItems of 0 or 1");
        }
    }

    fn gemini(&mut self, object: &Map<String, Value>, place: &str) {
        let known = [
            "type",
            "description",
            "nullable",
            "enum",
            "format",
            "items",
            "properties",
            "required",
            "anyOf",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "pattern",
            "minProperties",
            "maxProperties",
        ];
        for key in object.keys() {
            self.check(known.contains(&key.as_str()), place, &format!("has no {key}"));
        }
        self.check(object.contains_key("type") || object.contains_key("anyOf"), place, "has a type");
        if let Some(Value::Array(values)) = object.get("enum") {
            self.check(values.iter().all(Value::is_string), place, "has an enum of strings");
        }
        if let Some(format) = object.get("format").and_then(Value::as_str) {
            let known = ["int32", "int64", "float", "double", "enum", "date-time"].contains(&format);
            self.check(known, place, &format!("has no format {format}"));
        }
        if let Some(Value::Object(properties)) = object.get("properties") {
            self.check(!properties.is_empty(), place, "has properties or none at all");
        }
    }

    fn below(&mut self, object: &Map<String, Value>, place: &str) {
        for keyword in SUBSCHEMAS {
            match object.get(keyword) {
                Some(Value::Bool(false)) if keyword == "additionalProperties" => {}
                Some(schema) => self.deeper(schema, &format!("{place}/{keyword}")),
                None => {}
            }
        }
        for (at, form) in object.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate() {
            self.deeper(form, &format!("{place}/prefixItems/{at}"));
        }
        for keyword in ["properties", "patternProperties", "dependentSchemas"] {
            for (name, schema) in object.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                self.deeper(schema, &format!("{place}/{keyword}/{name}"));
            }
        }
        // Alternatives are on the level of their value, and a definition starts at depth zero at each use.
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for (at, form) in object.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
                self.schema(form, &format!("{place}/{keyword}/{at}"));
            }
        }
        for (name, schema) in object.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            self.schema(schema, &format!("{place}/$defs/{name}"));
        }
    }

    /// Descends one level.
    fn deeper(&mut self, schema: &Value, place: &str) {
        self.depth += 1;
        let fits = !self.strict || !self.is_openai() || self.depth <= 10;
        self.check(fits, place, "is one of ten levels");
        self.schema(schema, place);
        self.depth -= 1;
    }

    /// Every reference has a target, and every definition is referenced.
    fn definitions(&mut self, schema: &Value) {
        let empty = Map::new();
        let defs = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
        let used = references(schema);
        for name in &used {
            self.check(defs.contains_key(name), "$defs", &format!("has {name}"));
        }
        for name in defs.keys() {
            self.check(used.contains(name), "$defs", &format!("has only what is used, not {name}"));
        }
    }
}

/// Returns `true` if one of these definitions is recursive.
pub fn contains_itself(name: &str, defs: &Map<String, Value>) -> bool {
    let mut open = defs.get(name).map(references).unwrap_or_default();
    let mut seen: Vec<String> = Vec::new();
    while let Some(next) = open.pop() {
        if !seen.contains(&next) {
            open.extend(defs.get(&next).map(references).unwrap_or_default());
            seen.push(next);
        }
    }
    seen.iter().any(|known| known == name)
}

/// Returns the definitions that a schema refers to. A property may be named `$ref`, but its schema is never a string.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(object) => {
            let own = object.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
            let inner =
                object.iter().filter(|(key, _)| !matches!(key.as_str(), "enum" | "const" | "default" | "examples"));
            own.map(str::to_owned).into_iter().chain(inner.flat_map(|(_, value)| references(value))).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// A control: the judge rejects handwritten tools that break a rule.
#[test]
fn the_judge_rejects_violations() {
    let naive = |parameters: Value, strict: bool| {
        let mut definition = json!({"type": "function", "function": {"name": "a.b", "parameters": parameters}});
        if strict {
            definition["function"]["strict"] = true.into();
        }
        objections(Dialect::OpenAiChat.into(), &definition)
    };
    let good = json!({"type": "object", "properties": {}});
    assert_eq!(naive(good.clone(), false), ["name: \"a.b\" is taken"]);
    assert!(naive(good, true).len() > 1);
    for bad in [
        json!({"x": true}),
        json!({"x": {"type": ["string", "null"]}}),
        json!({"x": {"type": "integer", "format": "uint32"}}),
        json!({"x": {"type": "array"}}),
        json!({"x": {"$ref": "#/$defs/Missing"}}),
        json!({"x": {}}),
    ] {
        assert_eq!(naive(json!({"type": "object", "properties": bad}), false).len(), 2, "{bad}");
    }
    let nested = |levels: usize| {
        let closed = |inner| json!({"type": "object", "properties": {"x": inner}, "required": ["x"], "additionalProperties": false});
        naive((0..levels).fold(json!({"type": "string"}), |inner, _| closed(inner)), true).len()
    };
    assert_eq!((nested(10), nested(11)), (1, 2), "ten levels, and not eleven");
}

/// The same control for the rules of the other forms.
#[test]
fn the_judge_rejects_violations_in_other_forms() {
    let object = |x: Value| json!({"type": "object", "properties": {"x": x}});
    let closed =
        |x: Value| json!({"type": "object", "properties": {"x": x}, "required": ["x"], "additionalProperties": false});
    let gemini = |parameters: Value| {
        let function = json!({"name": "a.b", "parameters": parameters});
        objections(Dialect::Gemini.into(), &json!({"functionDeclarations": [function]}))
    };
    assert!(gemini(object(json!({"type": "string", "nullable": true}))).is_empty());
    for bad in [
        json!({"type": "string", "const": "a"}),
        json!({"type": "integer", "enum": [1]}),
        json!({"type": "string", "format": "uuid"}),
        json!({"description": "No type."}),
        json!({"type": "object", "properties": {}}),
    ] {
        assert_eq!(gemini(object(bad.clone())).len(), 1, "{bad}");
    }
    assert_eq!(gemini(json!({"type": "object", "properties": {"user-name": {"type": "string"}}})).len(), 1);

    let anthropic = |schema: Value| {
        let definition = json!({"name": "a", "input_schema": schema, "strict": true});
        objections(Dialect::Anthropic.strict(), &definition)
    };
    assert!(anthropic(closed(json!({"type": "string"}))).is_empty());
    assert_eq!(anthropic(object(json!({"type": "string"}))).len(), 1, "it is not closed");
    for bad in [
        json!({"type": "integer", "minimum": 1}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
        json!({"type": "string", "pattern": "^(?=a)"}),
        json!({"oneOf": [{"type": "string"}], "type": "string"}),
    ] {
        assert_eq!(anthropic(closed(bad.clone())).len(), 1, "{bad}");
    }
    assert_eq!(
        objections(
            Dialect::OpenAiResponses.into(),
            &json!({"type": "function", "name": "a", "parameters": object(json!({"type": "string"}))})
        )
        .len(),
        1,
        "`strict` is not said"
    );
    assert_eq!(
        objections(
            Dialect::Bedrock.into(),
            &json!({"toolSpec": {"name": "a.b", "inputSchema": {"json": object(json!({"type": "string"}))}}})
        )
        .len(),
        1,
        "a dot"
    );
    assert!(
        objections(Dialect::Mcp.into(), &json!({"name": "a.b", "inputSchema": object(json!({"type": "string"}))}))
            .is_empty()
    );
    assert_eq!(
        objections(Dialect::Mcp.into(), &json!({"name": "a/b", "inputSchema": object(json!({"type": "string"}))}))
            .len(),
        1
    );
}
