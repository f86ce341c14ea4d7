//! Conversion of schemars' schemas to the manifest's form.
//!
//! Schemars describes every type in full generality. The manifest uses a form that models and providers handle well: no
//! titles, bounds instead of formats such as `uint32`, no boolean schemas, enums without data as one `enum` list, and a
//! `$ref` only for structs and enums with data. Schemas are walked by keyword, because a property may be named `title`
//! or `format`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{Argument, reduce_links};

pub(crate) const REF_PREFIX: &str = "#/$defs/";

/// Holds the documentation of an enum's variants until it is merged into a description.
const VARIANT_DOCS: &str = "x-variants";

/// The definitions of one tool, and the names of those to inline.
pub(crate) struct SchemaDefinitions {
    defs: BTreeMap<String, Value>,
    inlined: BTreeSet<String>,
}

impl SchemaDefinitions {
    pub(crate) fn new(raw: Map<String, Value>) -> Self {
        let mut defs: BTreeMap<String, Value> = raw.into_iter().collect();
        defs.values_mut().for_each(simplify);
        let mut inlined: BTreeSet<String> =
            defs.iter().filter(|(_, schema)| !is_structure(schema)).map(|(name, _)| name.clone()).collect();
        let recursive: Vec<String> =
            inlined.iter().filter(|name| reaches_itself(name, &defs, &inlined)).cloned().collect();
        for name in recursive {
            inlined.remove(&name);
        }
        Self { defs, inlined }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.defs.is_empty()
    }

    /// Converts a schema to the manifest's form.
    pub(crate) fn resolve(&self, mut schema: Value) -> Value {
        simplify(&mut schema);
        self.inline(&mut schema);
        settle(&mut schema);
        schema
    }

    /// Returns the `type` and the other keywords of an argument. The description stays among them for
    /// [`take_description`].
    pub(crate) fn argument(
        &self,
        mut schema: Value,
        optional: bool,
        variants: &[String],
    ) -> (String, BTreeMap<String, Value>) {
        simplify(&mut schema);
        self.inline_root(&mut schema);
        if optional {
            strip_null(&mut schema);
        }
        self.inline(&mut schema);
        let own_docs = schema.as_object_mut().and_then(|object| object.remove(VARIANT_DOCS));
        settle(&mut schema);
        let type_name = self.type_of(&schema, 0).map(str::to_owned);
        let Value::Object(object) = schema else { return ("any".into(), BTreeMap::new()) };
        let mut keywords: BTreeMap<String, Value> = object.into_iter().collect();
        keywords.extend(own_docs.map(|docs| (VARIANT_DOCS.to_owned(), docs)));
        order_variants(&mut keywords, variants);
        let type_name = match keywords.remove("type") {
            Some(Value::String(name)) => name,
            Some(Value::Array(types)) => {
                let each = types.into_iter().map(|name| json!({"type": name})).collect();
                keywords.insert("anyOf".into(), Value::Array(each));
                "any".into()
            }
            _ => type_name.unwrap_or_else(|| "any".to_owned()),
        };
        (type_name, keep_required_inside(keywords))
    }

    /// Returns `true` if a result of this schema is a JSON object or array.
    pub(crate) fn is_structured(&self, schema: &Value) -> bool {
        schema.get("$ref").is_some() || matches!(schema["type"].as_str(), Some("object" | "array"))
    }

    /// Returns the definitions with these names and their dependencies, in the manifest's form.
    pub(crate) fn reachable(mut self, mut open: Vec<String>) -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        while let Some(name) = open.pop() {
            // Inlined definitions are never referenced, so they remain available here.
            let Some(mut def) = self.defs.remove(&name) else { continue };
            self.inline(&mut def);
            settle(&mut def);
            references(&def, &mut open);
            found.insert(name, def);
        }
        found
    }

    /// Inlines references. Terminates, because recursive definitions are not inlined.
    fn inline(&self, schema: &mut Value) {
        self.inline_root(schema);
        each_subschema(schema, &mut |inner| self.inline(inner));
    }

    fn inline_root(&self, schema: &mut Value) {
        while let Some(def) =
            target(schema).filter(|name| self.inlined.contains(&**name)).and_then(|name| self.defs.get(&*name))
        {
            let mut merged = def.as_object().cloned().unwrap_or_default();
            if let Some(siblings) = schema.as_object() {
                merged.extend(
                    siblings.iter().filter(|(key, _)| *key != "$ref").map(|(key, value)| (key.clone(), value.clone())),
                );
            }
            *schema = Value::Object(merged);
        }
    }

    /// Returns the type that all valid values share.
    fn type_of<'a>(&'a self, schema: &'a Value, depth: usize) -> Option<&'a str> {
        if depth > 16 {
            return None;
        }
        if let Some(name) = schema["type"].as_str() {
            return Some(name);
        }
        if let Some(def) = target(schema).and_then(|name| self.defs.get(&*name)) {
            return self.type_of(def, depth + 1);
        }
        let forms = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
        let mut types = forms.iter().map(|form| self.type_of(form, depth + 1));
        let first = types.next()??;
        types.all(|other| other == Some(first)).then_some(first)
    }
}

/// Moves the `required` list of an inlined struct into `allOf`, because an argument has its own boolean `required`.
fn keep_required_inside(mut keywords: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    if !keywords.contains_key("required") {
        return keywords;
    }
    let outside: Vec<_> = ["description", VARIANT_DOCS].iter().filter_map(|key| keywords.remove_entry(*key)).collect();
    let inside = Value::Object(keywords.into_iter().collect());
    outside.into_iter().chain([("allOf".to_owned(), json!([inside]))]).collect()
}

/// Returns the argument's own description or else its type's, with the documentation of an enum's variants.
pub(crate) fn take_description(keywords: &mut BTreeMap<String, Value>, own: Option<String>) -> Option<String> {
    let of_type = keywords.remove("description").and_then(into_string);
    let variants = keywords.remove(VARIANT_DOCS).and_then(into_string);
    join(own.or(of_type), variants)
}

fn join(description: Option<String>, variants: Option<String>) -> Option<String> {
    match (description, variants) {
        (Some(description), Some(variants)) => Some(format!("{description}\n{variants}")),
        (description, variants) => description.or(variants),
    }
}

fn into_string(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

/// Removes keywords that only schemars needs, and replaces number formats by bounds.
pub(crate) fn simplify(schema: &mut Value) {
    if let Value::Bool(accepts) = schema {
        *schema = if *accepts { json!({}) } else { json!({"not": {}}) };
    }
    let Value::Object(object) = schema else { return };
    object.remove("title");
    object.remove("$schema");
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    // `true` is the default.
    for key in ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"] {
        if object.get(key) == Some(&Value::Bool(true)) {
            object.remove(key);
        }
    }
    bound_by_format(object);
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = reduce_links(text);
    }
    each_subschema(schema, &mut simplify);
    collapse_bare_variants(schema);
}

/// Replaces formats such as `uint32`, which cause warnings in strict clients, by the equivalent bounds.
fn bound_by_format(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else { return };
    let (least, most): (Option<i64>, Option<i64>) = match format {
        "int8" => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        "int16" => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        "int32" => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        "uint8" => (Some(0), Some(u8::MAX.into())),
        "uint16" => (Some(0), Some(u16::MAX.into())),
        "uint32" => (Some(0), Some(u32::MAX.into())),
        "uint" | "uint64" | "uint128" => (Some(0), None),
        "int" | "int64" | "int128" | "float" | "double" => (None, None),
        _ => return,
    };
    object.remove("format");
    let mut bound = |key: &str, value: Option<i64>| {
        if let Some(value) = value {
            object.entry(key).or_insert_with(|| value.into());
        }
    };
    bound("minimum", least);
    bound("maximum", most);
}

/// Converts an enum without data to one list of strings, whether or not its variants are documented.
fn collapse_bare_variants(schema: &mut Value) {
    let Some(forms) = schema["oneOf"].as_array() else { return };
    let mut values = Vec::new();
    let mut docs = Vec::new();
    for form in forms {
        if form["type"] != "string" {
            return;
        }
        match (&form["const"], &form["enum"]) {
            (Value::String(name), _) => {
                if let Some(text) = form["description"].as_str() {
                    docs.push(format!("- `{name}`: {}", text.split_whitespace().collect::<Vec<_>>().join(" ")));
                }
                values.push(Value::String(name.clone()));
            }
            (_, Value::Array(names)) => values.extend(names.iter().cloned()),
            _ => return,
        }
    }
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), Value::Array(values));
    if !docs.is_empty() {
        object.insert(VARIANT_DOCS.into(), docs.join("\n").into());
    }
}

/// Restores the order of declaration; schemars lists undocumented variants first.
fn order_variants(keywords: &mut BTreeMap<String, Value>, declared: &[String]) {
    let Some(Value::Array(values)) = keywords.get_mut("enum") else { return };
    let position = |value: &Value| declared.iter().position(|name| value.as_str() == Some(name));
    if values.iter().all(|value| position(value).is_some()) {
        values.sort_by_key(position);
    }
}

/// Merges the documentation of variants into descriptions, recursively.
fn settle(schema: &mut Value) {
    if let Value::Object(object) = schema
        && let Some(variants) = object.remove(VARIANT_DOCS)
    {
        let description = object.remove("description").and_then(into_string);
        if let Some(text) = join(description, into_string(variants)) {
            object.insert("description".into(), text.into());
        }
    }
    each_subschema(schema, &mut settle);
}

/// Removes `null` from an optional argument, which is left out instead: `required` expresses that.
fn strip_null(schema: &mut Value) {
    let is_null = |form: &Value| form["type"] == "null";
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if types.len() == 1 {
            let only = types.remove(0);
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| !is_null(form));
        if forms.len() == 1
            && let Value::Object(mut only) = forms.remove(0)
        {
            object.remove("anyOf");
            only.append(object);
            *object = only;
        }
    }
}

/// Returns `true` if a definition is a struct or an enum with data, which stays behind a `$ref`.
fn is_structure(schema: &Value) -> bool {
    ["properties", "oneOf", "anyOf", "allOf", "patternProperties"].iter().any(|key| schema.get(key).is_some())
}

fn reaches_itself(name: &str, defs: &BTreeMap<String, Value>, inlined: &BTreeSet<String>) -> bool {
    let mut open = Vec::new();
    let mut seen = BTreeSet::new();
    if let Some(def) = defs.get(name) {
        references(def, &mut open);
    }
    while let Some(next) = open.pop() {
        if next == name {
            return true;
        }
        if inlined.contains(&next)
            && seen.insert(next.clone())
            && let Some(def) = defs.get(&next)
        {
            references(def, &mut open);
        }
    }
    false
}

/// Returns the name of the definition that a schema refers to, if it is a reference.
pub fn target(schema: &Value) -> Option<Cow<'_, str>> {
    schema.get("$ref")?.as_str().and_then(target_of)
}

/// Returns the definition's name in a reference such as `#/$defs/Order`, with URL and JSON pointer escapes decoded.
pub(crate) fn target_of(reference: &str) -> Option<Cow<'_, str>> {
    let name = reference.strip_prefix(REF_PREFIX)?;
    if !name.contains(['%', '~']) {
        return Some(Cow::Borrowed(name));
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (byte, hex) {
            (b'%', Some(decoded)) => {
                bytes.push(decoded);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~")))
}

/// Renames the definitions that a schema refers to.
pub(crate) fn rename_references(schema: &mut Value, rename: &impl Fn(&str) -> Option<String>) {
    if let Some(name) = target(schema).and_then(|name| rename(&name)) {
        schema["$ref"] = format!("{REF_PREFIX}{name}").into();
    }
    each_subschema(schema, &mut |inner| rename_references(inner, rename));
}

/// Returns the names of all definitions that a schema refers to, at any depth.
pub(crate) fn referred(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    references(schema, &mut names);
    names
}

/// Returns the names of all definitions that arguments refer to.
pub(crate) fn referred_by<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in arguments.into_iter().flat_map(|argument| &argument.keywords) {
        references_below(key, value, &mut names);
    }
    names
}

/// Returns the definitions with these names and their dependencies.
pub(crate) fn reached(mut open: Vec<String>, defs: &BTreeMap<String, Value>) -> BTreeMap<&String, &Value> {
    let mut found = BTreeMap::new();
    while let Some(name) = open.pop() {
        if let Some((name, def)) = defs.get_key_value(&name)
            && found.insert(name, def).is_none()
        {
            references(def, &mut open);
        }
    }
    found
}

fn references(schema: &Value, names: &mut Vec<String>) {
    let Some(object) = schema.as_object() else { return };
    for (key, value) in object {
        references_below(key, value, names);
    }
}

fn references_below(key: &str, value: &Value, names: &mut Vec<String>) {
    match (position(key), value) {
        (Position::One, _) => references(value, names),
        (Position::List, Value::Array(items)) => items.iter().for_each(|item| references(item, names)),
        (Position::Map, Value::Object(map)) => map.values().for_each(|item| references(item, names)),
        (_, Value::String(reference)) if key == "$ref" => names.extend(target_of(reference).map(Cow::into_owned)),
        _ => {}
    }
}

/// The position of subschemas in the value of a keyword.
pub(crate) enum Position {
    One,
    List,
    Map,
    Nowhere,
}

pub(crate) fn position(keyword: &str) -> Position {
    match keyword {
        "items"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Position::One,
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => Position::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" => Position::Map,
        _ => Position::Nowhere,
    }
}

pub(crate) fn each_subschema(schema: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    let Value::Object(object) = schema else { return };
    for (key, value) in object.iter_mut() {
        match (position(key), value) {
            // `additionalProperties: false` is the one boolean schema that every client supports.
            (Position::One, Value::Bool(_)) if key.ends_with("Properties") || key == "unevaluatedItems" => {}
            (Position::One, value) => visit(value),
            (Position::List, Value::Array(items)) => items.iter_mut().for_each(&mut *visit),
            (Position::Map, Value::Object(map)) => map.values_mut().for_each(&mut *visit),
            _ => {}
        }
    }
}
