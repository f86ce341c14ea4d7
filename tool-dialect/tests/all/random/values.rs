//! Random values for a schema, and values as a strict form requires them.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Generates values that are valid or nearly valid for a schema.
pub fn nearly(schema: &Value) -> BoxedStrategy<Value> {
    values_of(schema.clone(), schema.get("$defs").cloned().unwrap_or_default(), 5)
}

fn values_of(schema: Value, defs: Value, depth: u32) -> BoxedStrategy<Value> {
    if depth == 0 {
        return scalar();
    }
    let wrong = scalar();
    let right = right(&schema, &defs, depth);
    prop_oneof![9 => right, 1 => wrong].boxed()
}

fn right(schema: &Value, defs: &Value, depth: u32) -> BoxedStrategy<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
        let mut whole = defs[name].clone();
        if let (Some(own), Some(more)) = (whole["properties"].as_object().cloned(), schema["properties"].as_object()) {
            whole["properties"] = own.into_iter().chain(more.clone()).collect::<Map<_, _>>().into();
        }
        return values_of(whole, defs.clone(), depth - 1);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(forms) = schema[keyword].as_array().filter(|forms| !forms.is_empty()) {
            let forms: Vec<_> = forms.iter().map(|form| values_of(form.clone(), defs.clone(), depth)).collect();
            return proptest::strategy::Union::new(forms).boxed();
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return proptest::sample::select(values.clone()).boxed();
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].clone(),
        kind => kind.clone(),
    };
    match kind.as_str() {
        Some("string") => prop_oneof!["[a-z]{0,4}", Just("word".to_owned())].prop_map(Value::from).boxed(),
        Some("integer") => (-6..6_i64).prop_map(Value::from).boxed(),
        Some("number") => prop_oneof![(-6..6_i64).prop_map(Value::from), Just(json!(1.5))].boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("null") => Just(Value::Null).boxed(),
        Some("array") => array(schema, defs, depth),
        Some("object") => object(schema, defs, depth),
        _ => scalar(),
    }
}

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!("a")),
        Just(json!(3)),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["a", 1])),
        Just(json!({"a": "b"})),
    ]
    .boxed()
}

fn array(schema: &Value, defs: &Value, depth: u32) -> BoxedStrategy<Value> {
    if let Some(places) = schema["prefixItems"].as_array() {
        let places: Vec<_> = places.iter().map(|place| values_of(place.clone(), defs.clone(), depth - 1)).collect();
        return places.prop_map(Value::Array).boxed();
    }
    vec(values_of(schema["items"].clone(), defs.clone(), depth - 1), 0..4).prop_map(Value::Array).boxed()
}

fn object(schema: &Value, defs: &Value, depth: u32) -> BoxedStrategy<Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let entries: Vec<_> = properties
        .into_iter()
        .map(|(name, schema)| {
            let likely = if required.contains(&Value::from(name.as_str())) { 0.95 } else { 0.5 };
            (Just(name), proptest::option::weighted(likely, values_of(schema, defs.clone(), depth - 1)))
        })
        .collect();
    let more = match &schema["additionalProperties"] {
        Value::Object(values) => {
            btree_map("[a-z]{3}", values_of(Value::Object(values.clone()), defs.clone(), depth - 1), 0..3).boxed()
        }
        Value::Bool(false) => match schema["patternProperties"]["^\\d+$"].clone() {
            Value::Null => Just(std::collections::BTreeMap::new()).boxed(),
            values => btree_map("[0-9]{1,2}", values_of(values, defs.clone(), depth - 1), 0..3).boxed(),
        },
        _ => btree_map("[a-z]{3}", scalar(), 0..2).boxed(),
    };
    (entries, more)
        .prop_map(|(entries, more)| {
            let known = entries.into_iter().filter_map(|(name, value)| Some((name, value?)));
            Value::Object(more.into_iter().chain(known).collect())
        })
        .boxed()
}

/// Returns the value as a strict form requires it, with `null` for missing properties, and the value without unknown
/// keys, because strict objects are closed. Returns `None` if no alternative matches.
pub fn with_nulls(value: &Value, schema: &Value, root: &Value) -> Option<(Value, Value)> {
    if let Some(name) = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
        return with_nulls(value, &root["$defs"][name], root);
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().find_map(|form| with_nulls(value, form, root));
    }
    let (written, known) = match value {
        Value::Object(object) => {
            let (mut written, mut known) = (Map::new(), Map::new());
            for (name, schema) in schema["properties"].as_object()? {
                let inner = with_nulls(object.get(name).unwrap_or(&Value::Null), schema, root)?;
                written.insert(name.clone(), inner.0);
                if object.contains_key(name) {
                    known.insert(name.clone(), inner.1);
                }
            }
            (Value::Object(written), Value::Object(known))
        }
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(|item| with_nulls(item, &schema["items"], root)).collect();
            let (written, known) = items?.into_iter().unzip();
            (Value::Array(written), Value::Array(known))
        }
        scalar => (scalar.clone(), scalar.clone()),
    };
    let mut whole = schema.clone();
    if !root["$defs"].is_null() {
        whole["$defs"] = root["$defs"].clone();
    }
    super::compile(&whole).ok()?.is_valid(&written).then_some((written, known))
}
