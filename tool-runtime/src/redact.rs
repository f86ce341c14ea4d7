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
/// In doubt a value is hidden. An argument that the tool does not have may be a secret with its name misspelt, and so may
/// a key that a schema does not have beside or above a secret. In a tool with secrets, an object or a list is hidden
/// where the schemas describe something else.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::Manifest;
/// use tool_runtime::arguments::redact;
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
    nodes: Box<[ShapeNode]>,
}

/// The part of a plan for one place in the arguments.
#[derive(Clone, Copy)]
enum Visibility {
    /// Any value is shown.
    Shown,
    /// Any value is hidden: it is a secret, or nothing is known about it.
    Hidden,
    /// It depends on the value; the index of the [`ShapeNode`] that says how.
    ByShape(usize),
}

/// A place whose values have a known shape.
#[derive(Default)]
struct ShapeNode {
    /// `true` if a secret can be below. Then all strings are hidden: one may be the value that belongs here, as JSON text.
    holds_secret: bool,
    /// The entries of an object, if the schemas allow one.
    object: Option<ObjectShape>,
    /// The items of a list, if the schemas allow one.
    list: Option<ListShape>,
    /// `true` if a schema allows a number.
    numbers: bool,
}

struct ObjectShape {
    named: Names,
    /// Every other key.
    rest: Visibility,
}

struct ListShape {
    first: Box<[Visibility]>,
    /// Every other item.
    rest: Visibility,
}

/// Places by key, sorted.
type Names = Box<[(Box<str>, Visibility)]>;

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
            let place = find(&self.arguments, name).filter(|place| self.admits(*place, value));
            let place = place.unwrap_or(Visibility::Hidden);
            (name.clone(), self.value(value, place, 0, replace))
        });
        Value::Object(replaced.collect())
    }

    /// Returns `true` if the argument as a whole is a secret. An argument that the tool does not have is one.
    pub(crate) fn is_secret(&self, argument: &str) -> bool {
        matches!(find(&self.arguments, argument), None | Some(Visibility::Hidden))
    }

    /// Returns `true` if the argument can hold a secret at any depth. An argument that the tool does not have can.
    pub(crate) fn may_hold_secret(&self, argument: &str) -> bool {
        find(&self.arguments, argument).is_none_or(|place| self.holds_secret(place))
    }

    /// Returns `true` if any argument of the tool can hold a secret.
    pub(crate) fn may_hold_secrets(&self) -> bool {
        self.arguments.iter().any(|(_, place)| self.holds_secret(*place))
    }

    fn holds_secret(&self, place: Visibility) -> bool {
        match place {
            Visibility::Shown => false,
            Visibility::Hidden => true,
            Visibility::ByShape(index) => self.nodes[index].holds_secret,
        }
    }

    fn value(&self, value: &Value, place: Visibility, depth: usize, replace: Replace<'_>) -> Value {
        let node = match place {
            Visibility::Shown => return value.clone(),
            Visibility::ByShape(index) if depth <= DEEPEST => &self.nodes[index],
            Visibility::ByShape(_) | Visibility::Hidden => return replace(value),
        };
        match value {
            _ if !node.holds_secret => value.clone(),
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(_) if node.numbers => value.clone(),
            Value::Object(entries) => match node.object.as_ref().filter(|object| self.fits(object, entries)) {
                Some(object) => {
                    let replaced = entries
                        .iter()
                        .map(|(key, value)| (key.clone(), self.value(value, object.place(key), depth + 1, replace)));
                    Value::Object(replaced.collect())
                }
                None => replace(value),
            },
            Value::Array(items) => match node.list.as_ref().filter(|list| self.fits_list(list, items)) {
                Some(list) => {
                    let items = items.iter().enumerate();
                    items.map(|(index, item)| self.value(item, list.place(index), depth + 1, replace)).collect()
                }
                None => replace(value),
            },
            Value::Number(_) | Value::String(_) => replace(value),
        }
    }

    /// Returns `false` for an object that has, where no secret belongs, a value that does not belong there either. Such an
    /// object is hidden as a whole, so that its placeholder is where a secret can be put back.
    fn fits(&self, object: &ObjectShape, entries: &Map<String, Value>) -> bool {
        entries.iter().all(|(key, value)| self.admits(object.place(key), value))
    }

    /// As [`fits`](Self::fits). In a list that is too short it is not known which items are missing.
    fn fits_list(&self, list: &ListShape, items: &[Value]) -> bool {
        items.len() >= list.first.len()
            && items.iter().enumerate().all(|(index, item)| self.admits(list.place(index), item))
    }

    /// Returns `false` where no secret belongs, for objects and lists that the schemas do not describe there. They were
    /// meant for another place, and may hold the secrets of that place.
    fn admits(&self, place: Visibility, value: &Value) -> bool {
        let Visibility::ByShape(index) = place else { return true };
        let node = &self.nodes[index];
        match value {
            _ if node.holds_secret => true,
            Value::Object(entries) => node.object.as_ref().is_some_and(|object| self.fits(object, entries)),
            Value::Array(items) => node
                .list
                .as_ref()
                .is_some_and(|list| items.iter().enumerate().all(|(index, item)| self.admits(list.place(index), item))),
            _ => true,
        }
    }
}

fn find(names: &Names, name: &str) -> Option<Visibility> {
    let index = names.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
    Some(names[index].1)
}

impl ObjectShape {
    fn place(&self, key: &str) -> Visibility {
        find(&self.named, key).unwrap_or(self.rest)
    }
}

impl ListShape {
    fn place(&self, index: usize) -> Visibility {
        self.first.get(index).copied().unwrap_or(self.rest)
    }
}
