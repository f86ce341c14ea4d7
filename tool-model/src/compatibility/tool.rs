//! One tool, then and now.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;

use super::compare::{Sides, differences};
use super::difference::{Difference, Direction, Effect};
use super::normal::normalize;
use super::texts;
use super::{ARGUMENTS, Change, ChangeKind};
use crate::validate::read::Reading;
use crate::{ToolDefinition, canonical};

/// Collects the changes of one tool.
struct Changes<'a> {
    tool: &'a str,
    found: Vec<Change>,
}

pub(super) fn changes(name: &str, old: &ToolDefinition, new: &ToolDefinition) -> Vec<Change> {
    if old == new {
        return Vec::new();
    }
    let mut changes = Changes { tool: name, found: Vec::new() };
    changes.arguments(old, new);
    changes.returns(old, new);
    changes.promises(old, new);
    changes.words(old, new);
    if changes.found.is_empty() {
        changes.add("", ChangeKind::Text, "is written in another way and means the same".to_owned());
    }
    changes.found
}

/// Whether both take and give the same values.
pub(super) fn has_same_schemas(old: &ToolDefinition, new: &ToolDefinition) -> bool {
    let mut changes = Changes { tool: "", found: Vec::new() };
    changes.arguments(old, new);
    changes.returns(old, new);
    changes.found.iter().all(|change| change.kind == ChangeKind::Text)
}

impl Changes<'_> {
    fn add(&mut self, path: &str, kind: ChangeKind, message: String) {
        let change = Change { tool: self.tool.to_owned(), path: path.to_owned(), kind, message };
        if !self.found.contains(&change) {
            self.found.push(change);
        }
    }

    fn arguments(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        let (was, is) = (old.parameters(), new.parameters());
        let none = BTreeMap::new();
        self.schemas(ARGUMENTS, (&was, &none), (&is, &none), Direction::Sent);
        self.found.extend(texts::changes(self.tool, ARGUMENTS, (&was, &old.defs), (&is, &new.defs)));
    }

    fn returns(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        match (&old.returns, &new.returns) {
            (None, None) => {}
            (None, Some(_)) => self.add("returns", ChangeKind::Compatible, "is described now".to_owned()),
            (Some(_), None) => {
                let message = "is no longer described; the result may be anything".to_owned();
                self.add("returns", ChangeKind::Breaking, message);
            }
            (Some(was), Some(is)) => {
                self.schemas("returns", (was, &old.defs), (is, &new.defs), Direction::Returned);
                self.found.extend(texts::changes(self.tool, "returns", (was, &old.defs), (is, &new.defs)));
            }
        }
    }

    fn schemas(&mut self, path: &str, old: Schema<'_>, new: Schema<'_>, direction: Direction) {
        let (mut was, mut is) = (Reading::of(old.0, old.1), Reading::of(new.0, new.1));
        normalize(&mut was);
        normalize(&mut is);
        let found = match was.errors.first().or(is.errors.first()) {
            None => {
                let sides = Sides { old: &was.definitions, new: &is.definitions, direction };
                differences(sides, path, &was.schema, &is.schema)
            }
            Some(_) if old == new => Vec::new(),
            Some(error) => {
                let message = format!("cannot be compared, for a schema cannot be enforced: {error}");
                vec![Difference { path: path.to_owned(), effect: Effect::Unclear, message }]
            }
        };
        for Difference { path, effect, message } in found {
            self.add(&path, effect.kind(direction), message);
        }
    }

    /// What a caller, or whoever lets it call, relies on besides the schemas.
    fn promises(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        use ChangeKind::{Breaking, Compatible};
        self.flag("sensitive", old.sensitive, new.sensitive, [Breaking, Compatible]);
        self.flag("destructive", old.destructive, new.destructive, [Breaking, Compatible]);
        self.flag("read_only", old.read_only, new.read_only, [Compatible, Breaking]);
        self.flag("idempotent", old.idempotent, new.idempotent, [Compatible, Breaking]);
        self.flag("sequential", old.sequential, new.sequential, [Compatible, Compatible]);
        self.timeout(old.timeout, new.timeout);
        if old.repair != new.repair {
            let kind = if new.repair == Some(false) { Breaking } else { Compatible };
            self.add("repair", kind, was_is(setting(old.repair), setting(new.repair)));
        }
        if old.strict != new.strict {
            self.add("strict", Compatible, was_is(setting(old.strict), setting(new.strict)));
        }
        if old.handler != new.handler {
            self.add("handler", Compatible, was_is(&old.handler, &new.handler));
        }
    }

    fn flag(&mut self, name: &str, old: bool, new: bool, [set, unset]: [ChangeKind; 2]) {
        match (old, new) {
            (false, true) => self.add(name, set, "is set now".to_owned()),
            (true, false) => self.add(name, unset, "is no longer set".to_owned()),
            _ => {}
        }
    }

    fn timeout(&mut self, old: Option<Duration>, new: Option<Duration>) {
        let words = |timeout: Option<Duration>| timeout.map_or("none".to_owned(), |timeout| format!("{timeout:?}"));
        if old != new {
            let shorter = new.unwrap_or(Duration::MAX) < old.unwrap_or(Duration::MAX);
            let kind = if shorter { ChangeKind::Breaking } else { ChangeKind::Compatible };
            self.add("timeout", kind, was_is(words(old), words(new)));
        }
    }

    fn words(&mut self, old: &ToolDefinition, new: &ToolDefinition) {
        let text = |text: &Option<String>| text.as_deref().map_or("none".to_owned(), |text| format!("{text:?}"));
        let tags = |tags: &[String]| if tags.is_empty() { "none".to_owned() } else { tags.join(", ") };
        for (path, was, is) in [
            ("description", format!("{:?}", old.description), format!("{:?}", new.description)),
            ("instructions", text(&old.instructions), text(&new.instructions)),
            ("category", text(&old.category), text(&new.category)),
            ("tags", tags(&old.tags), tags(&new.tags)),
        ] {
            if was != is {
                self.add(path, ChangeKind::Text, was_is(was, is));
            }
        }
    }
}

/// A schema with the definitions it refers to.
type Schema<'a> = (&'a Value, &'a BTreeMap<String, Value>);

fn setting(setting: Option<bool>) -> &'static str {
    match setting {
        Some(true) => "on",
        Some(false) => "off",
        None => "not said",
    }
}

pub(super) fn was_is(was: impl Display, is: impl Display) -> String {
    format!("is {is}; it was {was}")
}

/// A value as it is shown in a message.
pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or("none".to_owned(), canonical)
}
