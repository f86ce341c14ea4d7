//! Redaction: arguments without their secrets, for journals, events, logs and people.
//!
//! A [`Redaction`] is planned once from the schemas of a tool (`plan.rs`) and then applied to the arguments of each
//! call. It fails closed: a value is shown only if its schemas know its place and hold no secret there.

mod plan;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use tool_model::ToolDefinition;

/// The placeholder for a secret.
const HIDDEN: &str = "***";

/// Arguments nested deeper than this are hidden. serde_json parses none that are deeper.
const DEEPEST: usize = 128;

/// Returns the arguments with `"***"` in place of each secret: arguments marked `#[arg(secret)]`, and values that a
/// schema calls `writeOnly`, at any depth.
///
/// In doubt a value is hidden. An argument that the tool does not have may be a secret with its name misspelt. The same
/// holds for a key inside of an argument, and for a value of a shape that its schema does not describe, wherever that
/// schema has a secret in it.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::{Manifest, redact};
///
/// let manifest = Manifest::from_json(
///     r#"{"login": {"description": "", "handler": "login", "arguments": {
///         "user": {"type": "string", "required": true},
///         "password": {"type": "string", "required": true, "writeOnly": true}
///     }}}"#,
/// )?;
/// let arguments = json!({"user": "ada", "password": "1815", "pasword": "1815"});
/// let shown = redact(&arguments, manifest.get("login").unwrap());
/// assert_eq!(shown, json!({"user": "ada", "password": "***", "pasword": "***"}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn redact(arguments: &Value, definition: &ToolDefinition) -> Value {
    Redaction::new(definition).redact(arguments)
}

/// The places in a tool's arguments that can hold secrets.
pub(crate) struct Redaction {
    /// Each argument of the tool, sorted by name.
    arguments: Names,
    nodes: Box<[Node]>,
}

/// What a plan says about one place in the arguments.
#[derive(Clone, Copy)]
enum Place {
    /// No secret can be here or below. Objects and lists are shown if the schemas allow them here.
    Open { objects: bool, lists: bool },
    /// A secret, or a value that nothing is known about.
    Secret,
    /// Secrets can be further inside; the index of the [`Node`] that says where.
    Node(usize),
}

/// A place that is no secret itself and has secrets below it. Strings are always hidden here: one may be the value that
/// belongs here, as JSON text.
#[derive(Default)]
struct Node {
    /// The entries of an object, if the schemas describe one.
    object: Option<Object>,
    /// The items of a list, if the schemas describe one.
    list: Option<List>,
    /// Whether a schema allows a number.
    numbers: bool,
}

struct Object {
    named: Names,
    /// Every other key.
    rest: Place,
}

struct List {
    first: Box<[Place]>,
    /// Every other item.
    rest: Place,
}

/// Places by key, sorted.
type Names = Box<[(Box<str>, Place)]>;

/// Returns the value to put in place of a secret.
type Replace<'a> = &'a mut dyn FnMut(&Value) -> Value;

impl Redaction {
    /// Plans the redaction of a tool's arguments.
    pub(crate) fn new(definition: &ToolDefinition) -> Self {
        plan::plan(definition)
    }

    /// Returns the arguments with `"***"` in place of each secret.
    pub(crate) fn redact(&self, arguments: &Value) -> Value {
        self.replace(arguments, &mut |_| Value::from(HIDDEN))
    }

    /// Returns the arguments with each secret replaced by what `replace` returns for it.
    ///
    /// Secrets are recognized by their place, not by their value. So putting secrets back with this function puts them
    /// where secrets belong, and nowhere else.
    pub(crate) fn replace(&self, arguments: &Value, replace: Replace<'_>) -> Value {
        let Value::Object(arguments) = arguments else { return replace(arguments) };
        let replaced = arguments.iter().map(|(name, value)| {
            let place = find(&self.arguments, name).filter(|place| place.admits(value)).unwrap_or(Place::Secret);
            (name.clone(), self.value(value, place, 0, replace))
        });
        Value::Object(replaced.collect())
    }

    /// Returns `true` if the argument as a whole is a secret. An argument that the tool does not have is one.
    pub(crate) fn is_secret(&self, argument: &str) -> bool {
        matches!(find(&self.arguments, argument), None | Some(Place::Secret))
    }

    /// Returns `true` if the argument can hold a secret at any depth. An argument that the tool does not have can.
    pub(crate) fn may_hold_secret(&self, argument: &str) -> bool {
        !matches!(find(&self.arguments, argument), Some(Place::Open { .. }))
    }

    /// Returns `true` if any argument of the tool can hold a secret.
    pub(crate) fn may_hold_secrets(&self) -> bool {
        self.arguments.iter().any(|(_, place)| !matches!(place, Place::Open { .. }))
    }

    fn value(&self, value: &Value, place: Place, depth: usize, replace: Replace<'_>) -> Value {
        let node = match place {
            Place::Open { .. } => return value.clone(),
            Place::Node(index) if depth <= DEEPEST => &self.nodes[index],
            Place::Node(_) | Place::Secret => return replace(value),
        };
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(_) if node.numbers => value.clone(),
            Value::Object(entries) => match node.object.as_ref().filter(|object| object.fits(entries)) {
                Some(object) => {
                    let replaced = entries
                        .iter()
                        .map(|(key, value)| (key.clone(), self.value(value, object.place(key), depth + 1, replace)));
                    Value::Object(replaced.collect())
                }
                None => replace(value),
            },
            Value::Array(items) => match node.list.as_ref().filter(|list| list.fits(items)) {
                Some(list) => {
                    let items = items.iter().enumerate();
                    items.map(|(index, item)| self.value(item, list.place(index), depth + 1, replace)).collect()
                }
                None => replace(value),
            },
            Value::Number(_) | Value::String(_) => replace(value),
        }
    }
}

fn find(names: &Names, name: &str) -> Option<Place> {
    let index = names.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
    Some(names[index].1)
}

impl Place {
    /// Returns `false` for an object or a list where the schemas describe something else. Such a value was meant for
    /// another place, and may hold the secrets of that place.
    fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Open { objects, .. }, Value::Object(_)) => objects,
            (Self::Open { lists, .. }, Value::Array(_)) => lists,
            _ => true,
        }
    }
}

impl Object {
    fn place(&self, key: &str) -> Place {
        find(&self.named, key).unwrap_or(self.rest)
    }

    /// An object with a value that is not admitted is hidden as a whole, so that its placeholder stands where
    /// [`Redaction::replace`] finds it again.
    fn fits(&self, entries: &Map<String, Value>) -> bool {
        entries.iter().all(|(key, value)| self.place(key).admits(value))
    }
}

impl List {
    fn place(&self, index: usize) -> Place {
        self.first.get(index).copied().unwrap_or(self.rest)
    }

    /// In a list that is too short nobody knows which items are missing.
    fn fits(&self, items: &[Value]) -> bool {
        items.len() >= self.first.len() && items.iter().enumerate().all(|(index, item)| self.place(index).admits(item))
    }
}
