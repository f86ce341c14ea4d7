//! Interpretation of schemas for forms.

use serde_json::{Map, Value};

/// Maximum number of references to follow.
const REFERENCES: usize = 8;

/// A schema with its references resolved.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    /// The resolved schema.
    pub(super) value: &'a Value,
    /// The description at the place of use, or else of the declaration.
    pub(super) description: &'a str,
    pub(super) default: &'a Value,
}

/// The shape of an input.
pub(super) enum Shape<'a> {
    /// A constant.
    Fixed(&'a Value),
    /// A choice of values.
    Choice(Vec<Value>),
    Number {
        is_integer: bool,
    },
    Text,
    /// Plain values, one per line.
    Lines {
        of_text: bool,
    },
    /// An object with these fields.
    Object(&'a Map<String, Value>),
    /// A list.
    List(&'a Value),
    /// A tuple.
    Tuple(&'a [Value]),
    /// A map with free keys.
    Map(&'a Value),
    /// One of several shapes.
    OneOf(Vec<&'a Value>),
    /// Any value, entered as JSON.
    Open,
}

impl<'a> Schema<'a> {
    /// Resolves references and ignores `null`, which an empty input means.
    pub(super) fn resolve(written: &'a Value, root: &'a Value) -> Self {
        let mut value = written;
        for _ in 0..REFERENCES {
            if is_mixed(value) {
                break;
            }
            let leads_to = value["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
            let Some(next) = leads_to.or_else(|| only(value)) else { break };
            value = next;
        }
        let said = |key: &str| if written[key].is_null() { &value[key] } else { &written[key] };
        Self { value, description: said("description").as_str().unwrap_or_default(), default: said("default") }
    }

    pub(super) fn shape(self) -> Shape<'a> {
        let Self { value, .. } = self;
        if is_mixed(value) {
            return Shape::Open;
        }
        if let Some(only) = value.get("const") {
            return Shape::Fixed(only);
        }
        if let Some(choices) = choices(value) {
            return Shape::Choice(choices);
        }
        if let Some(shapes) = alternatives(value) {
            return Shape::OneOf(shapes);
        }
        match () {
            () if self.has_type("integer") || self.has_type("number") => {
                Shape::Number { is_integer: self.has_type("integer") }
            }
            () if self.has_type("string") => Shape::Text,
            () if self.has_type("array") => list(value),
            () => object(value),
        }
    }

    /// Returns `true` if the schema has this type, alone or with `null`.
    fn has_type(self, kind: &str) -> bool {
        has_type(self.value, kind)
    }

    /// Describes the expected value, such as `integer, 1 to 100`.
    pub(super) fn in_words(self) -> String {
        let value = self.value;
        let kind = match &value["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
            // The type may be declared outside.
            _ if !value["properties"].is_null() => "object".to_owned(),
            _ => "any".to_owned(),
        };
        let format = value["format"].as_str().map_or_else(String::new, |format| format!(", {format}"));
        let bounds =
            [("minimum", "maximum", ""), ("minItems", "maxItems", " items")].map(|(least, most, what)| {
                match (value[least].as_number(), value[most].as_number()) {
                    (Some(least), Some(most)) => format!(", {least} to {most}{what}"),
                    (Some(least), None) => format!(", from {least}{what}"),
                    (None, Some(most)) => format!(", up to {most}{what}"),
                    (None, None) => String::new(),
                }
            });
        format!("{kind}{format}{}", bounds.concat())
    }
}

/// Returns the label of a variant: its tag, title or type.
pub(super) fn name_of_shape(written: &Value, root: &Value) -> String {
    let schema = Schema::resolve(written, root);
    let mut properties = schema.value["properties"].as_object().into_iter().flatten();
    let mark = properties.find_map(|(_, property)| property["const"].as_str());
    let required = schema.value["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sole = match required {
        [sole] => sole.as_str(),
        _ => None,
    };
    let title = schema.value["title"].as_str().or(mark).or_else(|| written["$ref"].as_str()?.rsplit('/').next());
    match (title.or(sole), schema.shape()) {
        (Some(name), _) => name.to_owned(),
        (None, Shape::Fixed(value)) => shown(value),
        (None, Shape::Choice(values)) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        (None, _) => schema.in_words(),
    }
}

/// Formats a value for people.
pub(super) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns `true` if a schema has both its own fields and other schemas, of which a form could show only one.
fn is_mixed(value: &Value) -> bool {
    let has_fields = value["properties"].as_object().is_some_and(|fields| !fields.is_empty());
    has_fields && ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| !value[key].is_null())
}

/// Returns the only alternative besides `null`.
fn only(value: &Value) -> Option<&Value> {
    let several = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| value[key].as_array())?;
    let mut rest = several.iter().filter(|one| one["type"] != "null");
    rest.next().filter(|_| rest.next().is_none())
}

/// Returns the alternatives except `null`.
fn alternatives(value: &Value) -> Option<Vec<&Value>> {
    let several = ["anyOf", "oneOf"].into_iter().find_map(|key| value[key].as_array())?;
    Some(several.iter().filter(|one| one["type"] != "null").collect())
}

/// Returns the values of an enumeration, including variants with their own description.
fn choices(value: &Value) -> Option<Vec<Value>> {
    if let Some(all) = value["enum"].as_array() {
        return Some(all.iter().filter(|one| !one.is_null()).cloned().collect());
    }
    if has_type(value, "boolean") {
        return Some(vec![true.into(), false.into()]);
    }
    alternatives(value)?.into_iter().map(|one| one.get("const").cloned()).collect()
}

fn list(value: &Value) -> Shape<'_> {
    if let Some(each) = value["prefixItems"].as_array() {
        return Shape::Tuple(each);
    }
    let items = &value["items"];
    let is_plain = items["enum"].is_null() && ["string", "integer", "number"].iter().any(|kind| has_type(items, kind));
    match items {
        items if is_plain => Shape::Lines { of_text: has_type(items, "string") },
        Value::Object(schema) if !schema.is_empty() => Shape::List(items),
        _ => Shape::Open,
    }
}

fn object(value: &Value) -> Shape<'_> {
    match (&value["properties"], &value["additionalProperties"]) {
        (Value::Object(properties), _) if !properties.is_empty() => Shape::Object(properties),
        (_, values @ Value::Object(schema)) if !schema.is_empty() => Shape::Map(values),
        _ => Shape::Open,
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match &value["type"] {
        Value::String(only) => only == kind,
        Value::Array(several) => several.iter().all(|one| one == kind || one == "null") && !several.is_empty(),
        _ => false,
    }
}
