//! Properties of an object, including those in `allOf`, `anyOf`, `oneOf` and references.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::names;
use crate::schema::target;
use crate::validate::SchemaError;

/// The maximum nesting of combined schemas, which bounds the recursion. Far beyond handwritten schemas.
const MAX_DEPTH: usize = 128;

/// The possible properties of an object.
#[derive(Clone, Default)]
pub(super) struct ObjectProperties {
    pub(super) schemas: BTreeMap<String, Value>,
    pub(super) required: BTreeSet<String>,
    /// `true` if the schema has constraints beyond the individual properties.
    pub(super) has_object_constraints: bool,
}

impl ObjectProperties {
    pub(super) fn from_schema(schema: &Value, defs: &BTreeMap<String, Value>) -> Result<Self, SchemaError> {
        let mut defs = PropertyCache { all: defs, known: BTreeMap::new() };
        let failed = |path: &str, message: String| Err(SchemaError { path: path.to_owned(), message });
        let mut found = Self::default();
        match schema {
            Value::Bool(true) => return Ok(found),
            Value::Object(_) => {
                found.collect(schema, &mut defs, 0)?;
                found.mark_secrets(schema, defs.all);
            }
            _ => return failed("#", "the arguments of a tool must be an object with properties".to_owned()),
        }
        if let Some(kind) = schema.get("type").filter(|kind| !may_be_object(kind)) {
            return failed("#/type", format!("the arguments of a tool must be an object, not {kind}"));
        }
        let unnamed = ["additionalProperties", "patternProperties"].iter().find(|key| {
            let value = schema.get(**key);
            value.and_then(Value::as_object).is_some_and(|object| !object.is_empty())
        });
        match unnamed {
            Some(key) if found.schemas.is_empty() => failed(
                &format!("#/{key}"),
                "a model needs argument names: declare one argument that holds the map".into(),
            ),
            _ => Ok(found),
        }
    }

    fn collect(&mut self, schema: &Value, defs: &mut PropertyCache<'_>, depth: usize) -> Result<(), SchemaError> {
        if depth > MAX_DEPTH {
            let message = format!("the argument schemas are nested more than {MAX_DEPTH} levels deep");
            return Err(SchemaError { path: "#".to_owned(), message });
        }
        let Some(object) = schema.as_object() else { return Ok(()) };
        for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.add(name, property);
        }
        for name in names(object.get("required")) {
            self.schemas.entry(name.clone()).or_insert_with(|| json!({}));
            self.required.insert(name);
        }
        self.has_object_constraints |= object.keys().any(|key| OBJECT_KEYWORDS.contains(&key.as_str()));
        if let Some(name) = target(schema) {
            let Self { schemas, required, has_object_constraints } = defs.properties(&name, depth + 1)?;
            schemas.iter().for_each(|(name, schema)| self.add(name, schema));
            self.required.extend(required);
            self.has_object_constraints |= has_object_constraints;
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect(part, defs, depth + 1)?;
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(forms) = object.get(key).and_then(Value::as_array) {
                self.collect_forms(forms, defs, depth)?;
            }
        }
        Ok(())
    }

    /// Adds the properties of all alternatives. A property is required only if every alternative requires it.
    fn collect_forms(
        &mut self,
        forms: &[Value],
        defs: &mut PropertyCache<'_>,
        depth: usize,
    ) -> Result<(), SchemaError> {
        let mut required_by_all: Option<BTreeSet<String>> = None;
        for form in forms {
            let mut alternative = Self::default();
            alternative.collect(form, defs, depth + 1)?;
            for (name, schema) in &alternative.schemas {
                self.add(name, schema);
            }
            required_by_all = Some(match required_by_all {
                None => alternative.required,
                Some(known) => known.intersection(&alternative.required).cloned().collect(),
            });
        }
        self.required.extend(required_by_all.unwrap_or_default());
        Ok(())
    }

    /// Marks properties that are secret only under a condition or by a name pattern. They are offered with their own
    /// schema, which lacks that information.
    fn mark_secrets(&mut self, schema: &Value, defs: &BTreeMap<String, Value>) {
        let mut open = vec![(schema, false)];
        let mut seen = BTreeSet::new();
        while let Some((schema, is_condition)) = open.pop() {
            if !seen.insert((std::ptr::from_ref(schema), is_condition)) {
                continue;
            }
            let Some(object) = schema.as_object() else { continue };
            let is_named = |name: &str| object.get("properties").is_some_and(|named| named.get(name).is_some());
            for (keyword, value) in object {
                let map = value.as_object().into_iter().flatten();
                match keyword.as_str() {
                    "properties" if is_condition => {
                        let secret = map.filter(|(_, property)| holds_secret(property, defs));
                        secret.for_each(|(name, _)| self.mark_secret(|property| property == name));
                    }
                    "patternProperties" if holds_secret(value, defs) => self.mark_secret(|_| true),
                    "additionalProperties" | "unevaluatedProperties" if holds_secret(value, defs) => {
                        self.mark_secret(|property| !is_named(property));
                    }
                    "allOf" | "anyOf" | "oneOf" => {
                        open.extend(value.as_array().into_iter().flatten().map(|form| (form, is_condition)));
                    }
                    "if" | "then" | "else" | "not" => open.push((value, true)),
                    "dependentSchemas" | "dependencies" => open.extend(map.map(|(_, schema)| (schema, true))),
                    "$ref" => {
                        let target = target(schema).and_then(|name| defs.get(&*name));
                        open.extend(target.map(|schema| (schema, is_condition)));
                    }
                    _ => {}
                }
            }
        }
    }

    fn mark_secret(&mut self, is_meant: impl Fn(&str) -> bool) {
        for (_, schema) in self.schemas.iter_mut().filter(|(name, _)| is_meant(name)) {
            match schema {
                Value::Object(schema) => {
                    schema.insert("writeOnly".to_owned(), Value::Bool(true));
                }
                other => *other = json!({"allOf": [other.take()], "writeOnly": true}),
            }
        }
    }

    /// Adds a property. Several descriptions of one property become alternatives.
    fn add(&mut self, name: &str, schema: &Value) {
        let Some(known) = self.schemas.get_mut(name) else {
            self.schemas.insert(name.to_owned(), schema.clone());
            return;
        };
        let is_any = |schema: &Value| schema.as_object().is_some_and(serde_json::Map::is_empty);
        if *known == *schema || is_any(schema) {
            return;
        }
        if is_any(known) {
            *known = schema.clone();
            return;
        }
        match known.get_mut(EITHER).and_then(Value::as_array_mut) {
            Some(forms) if !forms.contains(schema) => forms.push(schema.clone()),
            Some(_) => {}
            None => *known = json!({EITHER: [known.clone(), schema.clone()]}),
        }
    }
}

/// A cache of the properties of each definition. Each definition is visited once, because remote definitions can refer
/// to each other in exponentially many ways.
struct PropertyCache<'a> {
    all: &'a BTreeMap<String, Value>,
    known: BTreeMap<String, ObjectProperties>,
}

impl PropertyCache<'_> {
    fn properties(&mut self, name: &str, depth: usize) -> Result<ObjectProperties, SchemaError> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let mut found = ObjectProperties::default();
        // A recursive reference adds nothing.
        self.known.insert(name.to_owned(), ObjectProperties::default());
        if let Some(def) = self.all.get(name) {
            found.collect(def, self, depth)?;
        }
        self.known.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

/// Returns `true` if a value of the schema can contain a secret, at any depth.
fn holds_secret<'a>(schema: &'a Value, defs: &'a BTreeMap<String, Value>) -> bool {
    let mut open = vec![schema];
    let mut seen = BTreeSet::new();
    while let Some(schema) = open.pop() {
        if schema.get("writeOnly") == Some(&Value::Bool(true)) {
            return true;
        }
        match schema {
            Value::Object(object) => open.extend(object.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
        let target = target(schema).and_then(|name| defs.get_key_value(&*name));
        open.extend(target.filter(|(name, _)| seen.insert(*name)).map(|(_, def)| def));
    }
    false
}

const EITHER: &str = "anyOf";

fn may_be_object(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    }
}

/// Keywords that constrain the object as a whole.
const OBJECT_KEYWORDS: [&str; 14] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "maxProperties",
    "propertyNames",
];
