//! Parallel traversal of two schemas up to their first difference.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::canonical;
use crate::schema::{Position, position, target_of};
use crate::validate::path::{is_identifier, quote};

/// The first difference between two schemas.
pub(crate) struct Mismatch {
    /// The steps to the place, in reverse order.
    steps: Vec<String>,
    what: String,
    manifest: String,
    code: String,
}

impl Mismatch {
    fn new(what: impl Into<String>, entry: Option<&Value>, linked: Option<&Value>) -> Self {
        let show = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), canonical);
        Self { steps: Vec::new(), what: what.into(), manifest: show(entry), code: show(linked) }
    }

    fn below(mut self, step: impl FnOnce() -> String) -> Self {
        self.steps.push(step());
        self
    }

    /// Returns `true` if the schemas differ at the root.
    pub(crate) fn is_at_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the path from the compared schemas: `.order.items[]`.
    pub(crate) fn path(&self) -> String {
        self.steps.iter().rev().map(String::as_str).collect()
    }
}

/// `` `type` is "integer" in the manifest, "string" in the code ``
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} in the manifest, {} in the code", self.what, self.manifest, self.code)
    }
}

type Agreement = Result<(), Mismatch>;

/// The keywords of a schema, sorted and without its description.
type Keywords<'a> = Vec<(&'a str, &'a Value)>;

pub(crate) fn sorted_keywords<'a>(schema: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Keywords<'a> {
    let keywords = schema.into_iter().filter(|(key, _)| *key != "description");
    let mut keywords: Keywords<'a> = keywords.map(|(key, value)| (key.as_str(), value)).collect();
    keywords.sort_unstable_by_key(|(key, _)| *key);
    keywords
}

/// Returns `true` if a schema accepts any value: the manifest's `any`.
pub(crate) fn is_any(schema: &Map<String, Value>) -> bool {
    schema.keys().all(|key| matches!(key.as_str(), "description" | "default" | "writeOnly"))
}

/// Compares the schema of a manifest's entry with that of the linked tool.
pub(crate) struct SchemaWalk<'a> {
    entry_defs: &'a BTreeMap<String, Value>,
    linked_defs: &'a BTreeMap<String, Value>,
    /// The pairs of definitions already visited, because types may be recursive.
    seen: Vec<(String, String)>,
}

impl<'a> SchemaWalk<'a> {
    pub(crate) fn new(entry_defs: &'a BTreeMap<String, Value>, linked_defs: &'a BTreeMap<String, Value>) -> Self {
        Self { entry_defs, linked_defs, seen: Vec::new() }
    }

    pub(crate) fn schemas(&mut self, entry: &'a Value, linked: &'a Value) -> Agreement {
        match (entry, linked) {
            (Value::Object(entry), _) if is_any(entry) => Ok(()),
            (Value::Object(entry), Value::Object(linked)) => {
                self.keywords(sorted_keywords(entry), sorted_keywords(linked))
            }
            (entry, linked) if entry == linked => Ok(()),
            (entry, linked) => Err(Mismatch::new("the schema", Some(entry), Some(linked))),
        }
    }

    pub(crate) fn keywords(&mut self, entry: Keywords<'a>, mut linked: Keywords<'a>) -> Agreement {
        if entry.iter().all(|(key, _)| *key != "default") {
            linked.retain(|(key, _)| *key != "default");
        }
        let mut linked = linked.into_iter().peekable();
        for (key, was) in entry {
            match linked.next_if(|(name, _)| *name <= key) {
                Some((name, is)) if name == key => self.keyword(key, was, is)?,
                Some((name, is)) => return Err(Mismatch::new(format!("`{name}`"), None, Some(is))),
                None => return Err(Mismatch::new(format!("`{key}`"), Some(was), None)),
            }
        }
        linked.next().map_or(Ok(()), |(key, is)| Err(Mismatch::new(format!("`{key}`"), None, Some(is))))
    }

    fn keyword(&mut self, key: &str, entry: &'a Value, linked: &'a Value) -> Agreement {
        let differ = || Err(Mismatch::new(format!("`{key}`"), Some(entry), Some(linked)));
        match (position(key), entry, linked) {
            _ if key == "$ref" => self.targets(entry, linked),
            (Position::One, ..) => self.schemas(entry, linked).map_err(|inner| inner.below(|| step(key))),
            (Position::List, Value::Array(entry), Value::Array(linked)) => {
                if entry.len() != linked.len() {
                    return differ();
                }
                entry.iter().zip(linked).enumerate().try_for_each(|(index, (was, is))| {
                    let place = || if key == "prefixItems" { format!("[{index}]") } else { format!("({})", index + 1) };
                    self.schemas(was, is).map_err(|inner| inner.below(place))
                })
            }
            (Position::Map, Value::Object(entry), Value::Object(linked)) => self.named(entry, linked),
            _ if entry == linked => Ok(()),
            _ => differ(),
        }
    }

    fn named(&mut self, entry: &'a Map<String, Value>, linked: &'a Map<String, Value>) -> Agreement {
        for (name, was) in entry {
            match linked.get(name) {
                Some(is) => self.schemas(was, is).map_err(|inner| inner.below(|| property(name)))?,
                None => return Err(Mismatch::new("it", Some(was), None).below(|| property(name))),
            }
        }
        match linked.iter().find(|(name, _)| !entry.contains_key(*name)) {
            Some((name, is)) => Err(Mismatch::new("it", None, Some(is)).below(|| property(name))),
            None => Ok(()),
        }
    }

    fn targets(&mut self, was: &Value, is: &Value) -> Agreement {
        let differ = || Err(Mismatch::new("`$ref`", Some(was), Some(is)));
        let target = |reference: &Value| reference.as_str().and_then(target_of).map(|name| name.into_owned());
        let (Some(entry), Some(linked)) = (target(was), target(is)) else {
            return if was == is { Ok(()) } else { differ() };
        };
        let definitions = (self.entry_defs.get(&entry), self.linked_defs.get(&linked));
        let pair = (entry, linked);
        if self.seen.contains(&pair) {
            return Ok(());
        }
        self.seen.push(pair);
        match definitions {
            (Some(entry), Some(linked)) => self.schemas(entry, linked),
            _ => differ(),
        }
    }
}

fn step(keyword: &str) -> String {
    match keyword {
        "items" => "[]".to_owned(),
        "additionalProperties" => ".*".to_owned(),
        other => format!("({other})"),
    }
}

fn property(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quote(name)) }
}
