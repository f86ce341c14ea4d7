//! Generated schemas with secrets at any place, and values of them, right and wrong.

use proptest::prelude::*;
use serde_json::json;

use crate::redact::*;
use crate::testing::properties;

/// A schema, a value of it with `SECRET` in place of each secret, and its redacted form.
#[derive(Clone, Debug)]
struct Case {
    schema: Value,
    value: Value,
    shown: Value,
}

impl Case {
    fn new(schema: Value, value: impl Into<Value>, shown: impl Into<Value>) -> Self {
        Self { schema, value: value.into(), shown: shown.into() }
    }

    /// A list or an object of other cases, each `(value, shown)` of which `join` puts together.
    fn joined<T>(schema: Value, parts: &[T], join: impl Fn(&[T], fn(&Case) -> &Value) -> Value) -> Self {
        let (value, shown) = (join(parts, |case| &case.value), join(parts, |case| &case.shown));
        Self { schema, value, shown }
    }

    /// The tool with this as its argument `v`. A `$ref` has had its target in it until here.
    fn definition(&self) -> ToolDefinition {
        fn hoist(schema: &mut Value, defs: &mut Map<String, Value>) {
            match schema {
                Value::Object(object) => {
                    object.values_mut().for_each(|inner| hoist(inner, defs));
                    if let Some(target) = object.get_mut("$ref").filter(|target| target.is_object()) {
                        let name = format!("D{}", defs.len());
                        let reference = Value::from(format!("#/$defs/{name}"));
                        defs.insert(name, std::mem::replace(target, reference));
                    }
                }
                Value::Array(items) => items.iter_mut().for_each(|inner| hoist(inner, defs)),
                _ => {}
            }
        }
        let mut schema = self.schema.clone();
        let mut defs = Map::new();
        hoist(&mut schema, &mut defs);
        defs.insert("Tree".to_owned(), tree());
        // An argument has its own `type`.
        let argument = json!({"allOf": [schema]});
        let tool = json!({"description": "", "handler": "", "arguments": {"v": argument}, "$defs": defs});
        serde_json::from_value(tool).unwrap()
    }
}

fn tree() -> Value {
    let of_tree = json!({"$ref": "#/$defs/Tree"});
    let properties = json!({"leaf": {"type": "string"}, "pin": secret(), "left": of_tree, "more": {"items": of_tree}});
    json!({"type": "object", "properties": properties})
}

fn secret() -> Value {
    json!({"type": "string", "writeOnly": true})
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set("[a-z]{8}", 1..4).prop_map(|names| names.into_iter().collect())
}

fn leaves() -> impl Strategy<Value = Case> {
    let tree = |depth: usize| {
        let nested = |secret: &str| {
            let leaf = json!({"leaf": "SHOWN", "pin": secret});
            (0..depth).fold(leaf, |tree, _| json!({"leaf": "SHOWN", "pin": secret, "left": tree, "more": [tree]}))
        };
        Case::new(json!({"$ref": "#/$defs/Tree"}), nested("SECRET"), nested("***"))
    };
    prop_oneof![
        3 => Just(Case::new(secret(), "SECRET", "***")),
        3 => Just(Case::new(json!({"type": "string"}), "SHOWN", "SHOWN")),
        1 => (0..4_usize).prop_map(tree),
    ]
}

/// The same case, with a keyword around its schema that applies it to the same value.
fn in_place(keyword: usize, Case { schema, value, shown }: Case) -> Case {
    let schema = match keyword {
        0 => json!({"allOf": [schema]}),
        1 => json!({"anyOf": [schema, {"type": "null"}]}),
        2 => json!({"oneOf": [{"type": "integer"}, schema]}),
        3 => json!({"if": schema}),
        4 => json!({"if": {"type": "null"}, "then": schema}),
        5 => json!({"if": {"type": "null"}, "else": schema}),
        6 => json!({"not": {"not": schema}}),
        7 => json!({"dependentSchemas": {"x": schema}}),
        8 => json!({"dependencies": {"x": schema, "y": ["x"]}}),
        9 => json!({"$ref": schema}),
        _ => schema,
    };
    Case { schema, value, shown }
}

/// An object whose entries have schemas of their own.
fn object(keyword: usize, entries: &[(String, Case)]) -> Case {
    let each = || entries.iter().map(|(name, case)| (name.clone(), case.schema.clone()));
    let properties = Value::Object(each().collect());
    let schema = match keyword {
        0 => json!({"type": "object", "properties": properties}),
        1 => json!({"type": "object", "dependentSchemas": {"x": {"properties": properties}}}),
        _ => {
            let parts = each().map(|(name, schema)| json!({"properties": {name: schema}}));
            json!({"type": "object", "allOf": parts.collect::<Vec<_>>()})
        }
    };
    Case::joined(schema, entries, |entries, part| {
        Value::Object(entries.iter().map(|(name, case)| (name.clone(), part(case).clone())).collect())
    })
}

/// An object whose entries all have one schema.
fn map(keyword: usize, names: &[String], case: &Case) -> Case {
    let schema = &case.schema;
    let schema = match keyword {
        0 => json!({"type": "object", "additionalProperties": schema}),
        1 => json!({"type": "object", "unevaluatedProperties": schema}),
        2 => json!({"type": "object", "patternProperties": {".": schema}}),
        _ => json!({"type": "object", "properties": {&names[0]: {}}, "patternProperties": {".": schema}}),
    };
    Case::joined(schema, std::slice::from_ref(case), |cases, part| {
        Value::Object(names.iter().map(|name| (name.clone(), part(&cases[0]).clone())).collect())
    })
}

fn list(keyword: usize, length: usize, case: &Case) -> Case {
    let (schema, text) = (&case.schema, json!({"type": "string"}));
    let (schema, begins_with_text) = match keyword {
        0 => (json!({"type": "array", "items": schema}), false),
        1 => (json!({"type": "array", "contains": schema}), false),
        2 => (json!({"type": "array", "unevaluatedItems": schema}), false),
        3 => (json!({"type": "array", "prefixItems": [text], "items": schema}), true),
        4 => (json!({"type": "array", "prefixItems": [text], "unevaluatedItems": schema}), true),
        _ => (json!({"type": "array", "items": [text], "additionalItems": schema}), true),
    };
    Case::joined(schema, std::slice::from_ref(case), |cases, part| {
        let text = begins_with_text.then(|| Value::from("SHOWN"));
        text.into_iter().chain(vec![part(&cases[0]).clone(); length]).collect()
    })
}

fn tuple(keyword: usize, cases: &[Case]) -> Case {
    let schemas: Vec<&Value> = cases.iter().map(|case| &case.schema).collect();
    let schema = if keyword == 0 { json!({"prefixItems": schemas}) } else { json!({"items": schemas}) };
    Case::joined(schema, cases, |cases, part| cases.iter().map(|case| part(case).clone()).collect())
}

fn cases() -> impl Strategy<Value = Case> {
    leaves().prop_recursive(4, 40, 4, |inner| {
        let entries = (names(), prop::collection::vec(inner.clone(), 4))
            .prop_map(|(names, cases)| names.into_iter().zip(cases).collect::<Vec<_>>());
        let any = prop_oneof![
            (0..3_usize, entries).prop_map(|(keyword, entries)| object(keyword, &entries)),
            (0..4_usize, names(), inner.clone()).prop_map(|(keyword, names, case)| map(keyword, &names, &case)),
            (0..6_usize, 1..4_usize, inner.clone()).prop_map(|(keyword, length, case)| list(keyword, length, &case)),
            (0..2_usize, prop::collection::vec(inner, 2..4)).prop_map(|(keyword, cases)| tuple(keyword, &cases)),
        ];
        (0..14_usize, any).prop_map(|(keyword, case)| in_place(keyword, case))
    })
}

/// Mistakes of models: each changes one value somewhere.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    Misspelt,
    InList,
    InObject,
    AsText,
    /// A list of one as what it holds.
    Single,
    /// An object as one of its values.
    Unwrapped,
    /// An object as the list of its values.
    Values,
}

impl Mistake {
    fn apply(self, value: &mut Value) {
        let was = value.take();
        *value = match (self, was) {
            (Self::Misspelt, Value::Object(entries)) => {
                Value::Object(entries.into_iter().map(|(key, value)| (key + "_", value)).collect())
            }
            (Self::InList, was) => json!([was]),
            (Self::InObject, was) => json!({"value": was}),
            (Self::AsText, was) => Value::from(was.to_string()),
            (Self::Single, Value::Array(mut items)) if items.len() == 1 => items.remove(0),
            (Self::Unwrapped, Value::Object(entries)) => entries.into_values().next_back().unwrap_or_default(),
            (Self::Values, Value::Object(entries)) => entries.into_values().collect(),
            (_, was) => was,
        };
    }
}

/// Makes a mistake at one of the places in a value, counted from `*at`.
fn make(mistake: Mistake, value: &mut Value, at: &mut usize) {
    if *at == 0 {
        mistake.apply(value);
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Object(entries) if *at < usize::MAX / 2 => {
            entries.values_mut().for_each(|inner| make(mistake, inner, at))
        }
        Value::Array(items) if *at < usize::MAX / 2 => items.iter_mut().for_each(|inner| make(mistake, inner, at)),
        _ => {}
    }
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(entries) => entries.values().map(places).sum(),
        Value::Array(items) => items.iter().map(places).sum(),
        _ => 0,
    }
}

/// JSON as text comes alone: moved elsewhere by another mistake, it is a text like any other.
fn mistakes() -> impl Strategy<Value = Vec<(Mistake, prop::sample::Index)>> {
    use Mistake::{AsText, InList, InObject, Misspelt, Single, Unwrapped, Values};
    let others = prop::sample::select(vec![Misspelt, InList, InObject, Single, Unwrapped, Values]);
    let index = any::<prop::sample::Index>;
    prop_oneof![
        1 => index().prop_map(|index| vec![(AsText, index)]),
        5 => prop::collection::vec((others, index()), 1..3),
    ]
}

fn with_mistakes(arguments: &Value, mistakes: &[(Mistake, prop::sample::Index)]) -> Value {
    let mut arguments = arguments.clone();
    for (mistake, index) in mistakes {
        let mut at = index.index(places(&arguments));
        make(*mistake, &mut arguments, &mut at);
    }
    arguments
}

/// The first value among many that a redaction shows a secret of.
fn leak(redact: impl Fn(&Value, &ToolDefinition) -> Value) -> Option<String> {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(properties(1));
    let mut next = || (cases(), mistakes()).new_tree(&mut runner).unwrap().current();
    (0..200).map(|_| next()).find_map(|(case, mistakes)| {
        let arguments = with_mistakes(&json!({"v": case.value}), &mistakes);
        let shown = redact(&arguments, &case.definition()).to_string();
        shown.contains("SECRET").then_some(shown)
    })
}

/// The control of the properties below: they find secrets where nothing, or too little, is hidden.
#[test]
fn a_redaction_that_hides_too_little_is_found_out() {
    assert!(leak(|arguments, _| arguments.clone()).is_some());
    let only_at_the_top = |arguments: &Value, definition: &ToolDefinition| {
        let is_secret = |name: &str| definition.arguments.get(name).is_none_or(tool_model::Argument::is_secret);
        let Some(arguments) = arguments.as_object() else { return Value::Null };
        let shown = arguments.iter().filter(|(name, _)| !is_secret(name));
        Value::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    assert!(leak(only_at_the_top).is_some());
    let only_what_is_known = |arguments: &Value, definition: &ToolDefinition| {
        let mut redaction = Redaction::new(definition);
        for node in &mut redaction.nodes {
            let object = node.object.as_mut().map(|object| &mut object.rest);
            let list = node.list.as_mut().map(|list| &mut list.rest);
            object
                .into_iter()
                .chain(list)
                .filter(|rest| matches!(rest, Visibility::Hidden))
                .for_each(|rest| *rest = Visibility::Shown);
        }
        redaction.redact(arguments)
    };
    assert!(leak(only_what_is_known).is_some());
    assert_eq!(leak(redact), None);
}

proptest! {
    #![proptest_config(properties(500))]

    #[test]
    fn a_value_of_the_right_shape_is_shown_but_for_its_secrets(case in cases()) {
        let arguments = json!({"v": case.value});
        prop_assert_eq!(redact(&arguments, &case.definition()), json!({"v": case.shown}));
    }

    #[test]
    fn no_secret_is_shown_whatever_is_wrong(case in cases(), mistakes in mistakes()) {
        let arguments = with_mistakes(&json!({"v": case.value}), &mistakes);
        let shown = redact(&arguments, &case.definition()).to_string();
        prop_assert!(!shown.contains("SECRET"), "{} is shown as {}", arguments, shown);
    }

    #[test]
    fn no_secret_of_either_alternative_is_shown(one in cases(), other in cases(), keyword in 0..3_usize) {
        let keyword = ["anyOf", "oneOf", "allOf"][keyword];
        let schema = json!({keyword: [one.schema, other.schema]});
        for case in [one, other] {
            let definition = Case { schema: schema.clone(), ..case.clone() }.definition();
            let shown = redact(&json!({"v": case.value}), &definition).to_string();
            prop_assert!(!shown.contains("SECRET"), "{} is shown as {}", case.value, shown);
        }
    }
}
