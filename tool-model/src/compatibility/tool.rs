//! Comparison of two versions of a tool.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;

use super::annotations;
use super::comparison::{ComparedSides, differences, property};
use super::difference::{DifferenceEffect, SchemaDifference, ValueDirection};
use super::facts::{KnownArguments, VALIDATED, tool_without_facts};
use super::normalize::normalize;
use super::{ALIASES, ARGUMENTS, Change, ChangeKind};
use crate::validate::narrows_its_type;
use crate::validate::read::ParsedSchema;
use crate::{Argument, KEYS, KeyKind, ToolDefinition, canonical};

/// Collects the changes of one tool.
struct ToolChanges<'a> {
    tool: &'a str,
    found: Vec<Change>,
}

pub(super) fn changes(name: &str, old: &ToolDefinition, new: &ToolDefinition) -> Vec<Change> {
    if old == new {
        return Vec::new();
    }
    let mut changes = ToolChanges { tool: name, found: Vec::new() };
    changes.arguments(old, new);
    changes.returns(old, new);
    changes.keys(old, new);
    if changes.found.is_empty() && tool_without_facts(old) != tool_without_facts(new) {
        changes.add("", ChangeKind::Text, "is written differently and means the same".to_owned());
    }
    changes.found
}

/// Returns `true` if both versions accept and return the same values.
pub(super) fn has_same_schemas(old: &ToolDefinition, new: &ToolDefinition) -> bool {
    let mut changes = ToolChanges { tool: "", found: Vec::new() };
    changes.arguments(old, new);
    changes.returns(old, new);
    changes.found.iter().all(|change| change.kind == ChangeKind::Text)
}

impl ToolChanges<'_> {
    fn add(&mut self, path: &str, kind: ChangeKind, message: String) {
        let change = Change { tool: self.tool.to_owned(), path: path.to_owned(), kind, message };
        if !self.found.contains(&change) {
            self.found.push(change);
        }
    }

    fn arguments(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        let (was, is) = (old.parameters(), new.parameters());
        let none = BTreeMap::new();
        let known = known_arguments(new);
        let is_read = with_aliases(is.clone(), new);
        self.schemas(ARGUMENTS, (&was, &none), (&is_read, &none), (ValueDirection::Sent, &known));
        self.aliases(old, new);
        self.found.extend(annotations::changes(self.tool, ARGUMENTS, (&was, &old.defs), (&is, &new.defs)));
    }

    /// Compares the other names of the arguments.
    fn aliases(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        for (name, alias) in argument_aliases(old) {
            // The argument may have a new name, and its old one as an alias.
            let message = match (argument_called(new, alias), argument_called(new, name)) {
                (None, _) => format!("no longer takes the name `{alias}`; calls that send it are refused"),
                (Some(is), kept) if kept == Some(is) => continue,
                (Some(is), _) => format!("no longer takes the name `{alias}`, which is a name of `{is}` now"),
            };
            self.add(&property(ARGUMENTS, name), ChangeKind::Breaking, message);
        }
        for (name, alias) in argument_aliases(new).filter(|(_, alias)| argument_called(old, alias).is_none()) {
            self.add(&property(ARGUMENTS, name), ChangeKind::Compatible, format!("also takes the name `{alias}`"));
        }
    }

    fn returns(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        match (&old.returns, &new.returns) {
            (None, None) => {}
            (None, Some(_)) => self.add("returns", ChangeKind::Compatible, "now has a schema".to_owned()),
            (Some(_), None) => {
                let message = "no longer has a schema; the result may be any value".to_owned();
                self.add("returns", ChangeKind::Breaking, message);
            }
            (Some(was), Some(is)) => {
                self.schemas("returns", (was, &old.defs), (is, &new.defs), (ValueDirection::Returned, &[]));
                self.found.extend(annotations::changes(self.tool, "returns", (was, &old.defs), (is, &new.defs)));
            }
        }
    }

    fn schemas(
        &mut self,
        path: &str,
        old: Schema<'_>,
        new: Schema<'_>,
        (direction, known): (ValueDirection, &KnownArguments),
    ) {
        let (mut was, mut is) = (ParsedSchema::new(old.0, old.1), ParsedSchema::new(new.0, new.1));
        normalize(&mut was);
        normalize(&mut is);
        let found = match was.errors.first().or(is.errors.first()) {
            None => {
                let sides = ComparedSides { old: &was.definitions, new: &is.definitions, direction, known };
                differences(sides, path, &was.schema, &is.schema)
            }
            Some(_) if old == new => Vec::new(),
            Some(error) => {
                let message = format!("cannot be compared: unsupported schema: {error}");
                vec![SchemaDifference { path: path.to_owned(), effect: DifferenceEffect::Unclear, message }]
            }
        };
        for SchemaDifference { path, effect, message } in found {
            self.add(&path, effect.kind(direction), message);
        }
    }

    /// Compares everything besides the schemas.
    fn keys(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        for key in KEYS {
            let (was, is) = (key.get(old), key.get(new));
            if was != is {
                // An alias that is the name now is still accepted.
                let mut judged = was.clone();
                if let (KeyKind::Names, Some(Value::Array(names))) = (key.kind, &mut judged) {
                    names.retain(|name| name != self.tool);
                }
                let kind = key.judge(judged.as_ref(), is.as_ref());
                self.add(key.name, kind, key_change(key.kind, was.as_ref(), is.as_ref()));
            }
        }
        if old.handler != new.handler {
            self.add("handler", ChangeKind::Compatible, change_text(&old.handler, &new.handler));
        }
        if old.description != new.description {
            let (was, is) = (format!("{:?}", old.description), format!("{:?}", new.description));
            self.add("description", ChangeKind::Text, change_text(was, is));
        }
    }
}

/// Returns the aliases of all arguments, each with the name of its argument.
fn argument_aliases(tool: &ToolDefinition) -> impl Iterator<Item = (&String, &String)> {
    tool.arguments.iter().flat_map(|(name, argument)| argument.aliases.iter().map(move |alias| (name, alias)))
}

/// Returns the name of the argument with this name or alias.
fn argument_called<'a>(tool: &'a ToolDefinition, name: &str) -> Option<&'a String> {
    let by_name = tool.arguments.get_key_value(name).map(|(name, _)| name);
    by_name.or_else(|| argument_aliases(tool).find(|(_, alias)| *alias == name).map(|(name, _)| name))
}

/// Adds the aliases of the arguments to their schema, as [facts](ALIASES).
fn with_aliases(mut parameters: Value, tool: &ToolDefinition) -> Value {
    for (name, argument) in tool.arguments.iter().filter(|(_, argument)| !argument.aliases.is_empty()) {
        parameters["properties"][name][ALIASES] = argument.aliases.iter().map(String::as_str).collect();
    }
    parameters
}

/// Returns the arguments whose facts are known. An argument is also validated if its schema shows that it has to be.
fn known_arguments(tool: &ToolDefinition) -> Vec<(String, bool)> {
    let fact = |(name, argument): (&String, &Argument)| {
        let is_validated = argument.keywords.get(VALIDATED)?.as_bool()?;
        Some((property(ARGUMENTS, name), is_validated || narrows_its_type(&argument.schema(), &tool.defs)))
    };
    tool.arguments.iter().filter_map(fact).collect()
}

fn key_change(kind: KeyKind, was: Option<&Value>, is: Option<&Value>) -> String {
    let shown = |value: Option<&Value>| match (kind, value) {
        (KeyKind::Choice, None) => "not said".to_owned(),
        (KeyKind::Choice, Some(value)) => if value == true { "on" } else { "off" }.to_owned(),
        (_, None) => "none".to_owned(),
        (KeyKind::Words | KeyKind::Names, Some(Value::Array(words))) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        (KeyKind::Time, Some(time)) => format!("{:?}", Duration::from_millis(time.as_u64().unwrap_or(u64::MAX))),
        (_, Some(value)) => value.to_string(),
    };
    match kind {
        KeyKind::Flag if is.is_some() => "is set now".to_owned(),
        KeyKind::Flag => "is no longer set".to_owned(),
        _ => change_text(shown(was), shown(is)),
    }
}

/// A schema with the definitions it refers to.
type Schema<'a> = (&'a Value, &'a BTreeMap<String, Value>);

pub(super) fn change_text(was: impl Display, is: impl Display) -> String {
    format!("is {is}; it was {was}")
}

/// Formats a value for a message.
pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or("none".to_owned(), canonical)
}
