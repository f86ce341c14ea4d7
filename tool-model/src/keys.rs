//! Keys of a tool: its settings besides name, description, arguments and result.
//!
//! [`KEYS`] is the only list of them. Attributes, registrations, manifests, comparison, compatibility, selections, prompts
//! and protocols derive from it, so that a new key is a field of [`ToolDefinition`] and a row here.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Value, json};

use crate::ToolDefinition;
use crate::compatibility::ChangeKind;
use crate::compatibility::ChangeKind::{Breaking, Compatible, Text};

/// One key of a tool, such as `sensitive`.
///
/// ```
/// use tool_model::{KEYS, ToolDefinition, key};
///
/// let mut tool = ToolDefinition::default();
/// let sensitive = key("sensitive").unwrap();
/// sensitive.set(&mut tool, true.into())?;
/// assert!(tool.sensitive);
///
/// let set: Vec<&str> = KEYS.iter().filter(|key| key.get(&tool).is_some()).map(|key| key.name).collect();
/// assert_eq!(set, ["sensitive"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// The name in an attribute, a selection and an API.
    pub name: &'static str,
    /// The name in a manifest, which differs where JSON needs a unit.
    pub manifest: &'static str,
    /// The type of its value.
    pub kind: KeyKind,
    /// A sentence about it, for documentation.
    pub about: &'static str,
    /// `true` if `#[tool_class(..)]` can set it for all methods.
    pub on_class: bool,
    /// `true` if a manifest may change it. A manifest that disagrees with the code about any other key is stale.
    pub is_wording: bool,
    /// The sentence for the model about a tool that has this flag.
    pub sentence: Option<&'static str>,
    /// The word before its text in the description that a model reads, such as `Deprecated`.
    pub notice: Option<&'static str>,
    /// The MCP annotation that carries it.
    pub mcp_hint: Option<&'static str>,
    /// The flag that a tool with this flag has too, unless it is set to `false`.
    pub implies: Option<&'static str>,
    judge: fn(was: Option<&Value>, is: Option<&Value>) -> ChangeKind,
    access: FieldAccess,
}

/// Access to the field of a key.
#[derive(Debug)]
struct FieldAccess {
    get: fn(&ToolDefinition) -> Option<Value>,
    set: fn(&mut ToolDefinition, Value) -> serde_json::Result<()>,
    copy: fn(&ToolDefinition, &mut ToolDefinition),
}

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// `true` or unset. A selection can filter by it.
    Flag,
    /// `true`, `false`, or unset to use the default of the runtime.
    Choice,
    /// A text.
    Text,
    /// A list of words.
    Words,
    /// Names: one string or a list in an attribute, a list in a manifest. Models do not see them.
    Names,
    /// A duration: `"5s"` in an attribute, milliseconds in a manifest.
    Time,
}

/// The value of a key, as the macros leave it in the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// A flag or a choice.
    Bool(bool),
    /// A text.
    Text(&'static str),
    /// A list of words or names.
    Words(&'static [&'static str]),
    /// A duration in milliseconds.
    Millis(u64),
}

/// Reads and writes a field of [`ToolDefinition`].
macro_rules! field {
    ($field:ident) => {
        FieldAccess {
            get: |tool| KeyField::get(&tool.$field),
            set: |tool, value| KeyField::set(&mut tool.$field, value),
            copy: |from, to| to.$field.clone_from(&from.$field),
        }
    };
}

/// All keys, sorted by their name in a manifest.
pub const KEYS: &[Key] = &[
    Key::new(
        "alias",
        KeyKind::Names,
        "Other names under which it can be called, which models do not see.",
        when_shortened,
        field!(aliases),
    )
    .in_manifest("aliases"),
    Key::new("category", KeyKind::Text, "A broad group, such as `monitoring`.", text, field!(category)).on_class(),
    Key::new(
        "deprecated",
        KeyKind::Text,
        "The reason why it should not be used any more, and what to use instead.",
        never,
        field!(deprecated),
    )
    .notice("Deprecated"),
    Key::new(
        "destructive",
        KeyKind::Flag,
        "It destroys something that cannot be restored. It is `sensitive` too, unless `sensitive = false` is set.",
        when_set,
        field!(destructive),
    )
    .implies("sensitive")
    .sentence("It destroys something that cannot be restored.")
    .mcp_hint("destructiveHint"),
    Key::new(
        "idempotent",
        KeyKind::Flag,
        "A second call with the same arguments has no effect.",
        when_unset,
        field!(idempotent),
    )
    .mcp_hint("idempotentHint"),
    Key::new(
        "instructions",
        KeyKind::Text,
        "More for the system prompt than the description should hold.",
        text,
        field!(instructions),
    )
    .wording(),
    Key::new("read_only", KeyKind::Flag, "It changes nothing.", when_unset, field!(read_only))
        .sentence("It changes nothing.")
        .mcp_hint("readOnlyHint"),
    Key::new("repair", KeyKind::Choice, "Repairs arguments that are nearly valid.", when_off, field!(repair)),
    Key::new("sensitive", KeyKind::Flag, "A person is asked before it runs.", when_set, field!(sensitive))
        .on_class()
        .sentence("A person may be asked first, and may refuse."),
    Key::new(
        "sequential",
        KeyKind::Flag,
        "It does not run beside other calls of the same turn.",
        never,
        field!(sequential),
    )
    .sentence("Call it alone, not together with others."),
    Key::new("strict", KeyKind::Choice, "Asks providers to enforce the schema.", never, field!(strict)),
    Key::new(
        "supports_streaming",
        KeyKind::Flag,
        "It reports parts of its result while it runs. Set for a function that returns `impl Stream`.",
        never,
        field!(supports_streaming),
    ),
    Key::new("tags", KeyKind::Words, "Words to select tools by; those of the class come first.", text, field!(tags))
        .on_class(),
    Key::new("timeout", KeyKind::Time, "The longest time that a call may take.", when_shorter, field!(timeout))
        .in_manifest("timeout_ms"),
];

/// Returns the key of this name.
#[must_use]
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

impl Key {
    const fn new(
        name: &'static str,
        kind: KeyKind,
        about: &'static str,
        judge: fn(Option<&Value>, Option<&Value>) -> ChangeKind,
        access: FieldAccess,
    ) -> Self {
        Self {
            name,
            manifest: name,
            kind,
            about,
            on_class: false,
            is_wording: false,
            sentence: None,
            notice: None,
            mcp_hint: None,
            implies: None,
            judge,
            access,
        }
    }

    const fn in_manifest(mut self, name: &'static str) -> Self {
        self.manifest = name;
        self
    }

    const fn on_class(mut self) -> Self {
        self.on_class = true;
        self
    }

    const fn wording(mut self) -> Self {
        self.is_wording = true;
        self
    }

    const fn sentence(mut self, sentence: &'static str) -> Self {
        self.sentence = Some(sentence);
        self
    }

    const fn notice(mut self, notice: &'static str) -> Self {
        self.notice = Some(notice);
        self
    }

    const fn mcp_hint(mut self, hint: &'static str) -> Self {
        self.mcp_hint = Some(hint);
        self
    }

    const fn implies(mut self, flag: &'static str) -> Self {
        self.implies = Some(flag);
        self
    }

    /// Returns the value of a tool in the manifest's form, or `None` if it is unset.
    #[must_use]
    pub fn get(&self, tool: &ToolDefinition) -> Option<Value> {
        (self.access.get)(tool)
    }

    /// Sets the value of a tool from the manifest's form.
    ///
    /// # Errors
    /// If the value is not of the key's [kind](KeyKind).
    pub fn set(&self, tool: &mut ToolDefinition, value: Value) -> serde_json::Result<()> {
        (self.access.set)(tool, value)
    }

    /// Returns the notice for the description that a model reads: `Deprecated: use orders.find.`
    fn notice_of(&self, tool: &ToolDefinition) -> Option<String> {
        let (notice, text) = (self.notice?, self.get(tool)?);
        let text = text.as_str()?.trim().trim_end_matches('.').to_owned();
        Some(if text.is_empty() { format!("{notice}.") } else { format!("{notice}: {text}.") })
    }

    /// Copies the value from one tool to another.
    pub fn copy(&self, from: &ToolDefinition, to: &mut ToolDefinition) {
        (self.access.copy)(from, to);
    }

    /// Returns `true` if a tool has this flag, or this choice is `true`.
    #[must_use]
    pub fn is_on(&self, tool: &ToolDefinition) -> bool {
        matches!(self.kind, KeyKind::Flag | KeyKind::Choice) && self.get(tool) == Some(Value::Bool(true))
    }

    /// Returns `true` if a flag that is on [implies](field@Self::implies) this one.
    #[must_use]
    pub fn is_implied(&self, is_on: impl Fn(&Self) -> bool) -> bool {
        KEYS.iter().any(|other| other.implies == Some(self.name) && is_on(other))
    }

    /// Returns what a change of the value means for callers.
    pub(crate) fn judge(&self, was: Option<&Value>, is: Option<&Value>) -> ChangeKind {
        (self.judge)(was, is)
    }
}

impl ToolDefinition {
    /// Sets the flags that the tool's flags [imply](field@Key::implies).
    pub fn set_implied_flags(&mut self) {
        let implied: Vec<_> = KEYS.iter().filter(|key| key.is_implied(|other| other.is_on(self))).collect();
        for flag in implied {
            // A flag takes a boolean.
            let set = flag.set(self, true.into());
            debug_assert!(set.is_ok(), "`{}`", flag.name);
        }
    }

    /// Returns the description as a model reads it: with the notices of its [keys](KEYS), such as that it is deprecated.
    #[must_use]
    pub fn full_description(&self) -> Cow<'_, str> {
        let notices = KEYS.iter().filter_map(|key| key.notice_of(self));
        notices.fold(Cow::Borrowed(self.description.as_str()), |text, notice| match text.trim_end() {
            "" => notice.into(),
            text => format!("{text} {notice}").into(),
        })
    }
}

impl KeyKind {
    /// Returns the JSON Schema of a value in a manifest.
    #[must_use]
    pub fn schema(self) -> Value {
        match self {
            Self::Flag | Self::Choice => json!({"type": "boolean"}),
            Self::Text => json!({"type": "string"}),
            Self::Words | Self::Names => json!({"type": "array", "items": {"type": "string"}}),
            Self::Time => json!({"type": "integer", "minimum": 0}),
        }
    }
}

impl From<KeyValue> for Value {
    fn from(value: KeyValue) -> Self {
        match value {
            KeyValue::Bool(value) => value.into(),
            KeyValue::Text(text) => text.into(),
            KeyValue::Words(words) => words.iter().copied().collect(),
            KeyValue::Millis(milliseconds) => milliseconds.into(),
        }
    }
}

/// A type that a key's field can have.
trait KeyField: Sized {
    fn get(&self) -> Option<Value>;

    fn set(&mut self, value: Value) -> serde_json::Result<()>;
}

impl KeyField for bool {
    fn get(&self) -> Option<Value> {
        self.then_some(Value::Bool(true))
    }

    fn set(&mut self, value: Value) -> serde_json::Result<()> {
        *self = serde_json::from_value(value)?;
        Ok(())
    }
}

impl KeyField for Option<bool> {
    fn get(&self) -> Option<Value> {
        self.map(Value::Bool)
    }

    fn set(&mut self, value: Value) -> serde_json::Result<()> {
        *self = serde_json::from_value(value)?;
        Ok(())
    }
}

impl KeyField for Option<String> {
    fn get(&self) -> Option<Value> {
        self.as_deref().map(Value::from)
    }

    fn set(&mut self, value: Value) -> serde_json::Result<()> {
        *self = serde_json::from_value(value)?;
        Ok(())
    }
}

impl KeyField for Vec<String> {
    fn get(&self) -> Option<Value> {
        (!self.is_empty()).then(|| self.iter().map(String::as_str).collect())
    }

    fn set(&mut self, value: Value) -> serde_json::Result<()> {
        *self = serde_json::from_value(value)?;
        Ok(())
    }
}

impl KeyField for Option<Duration> {
    fn get(&self) -> Option<Value> {
        self.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).into())
    }

    fn set(&mut self, value: Value) -> serde_json::Result<()> {
        *self = serde_json::from_value::<Option<u64>>(value)?.map(Duration::from_millis);
        Ok(())
    }
}

/// Callers cannot tell the difference.
fn never(_was: Option<&Value>, _is: Option<&Value>) -> ChangeKind {
    Compatible
}

/// Only what a model or a person reads has changed.
fn text(_was: Option<&Value>, _is: Option<&Value>) -> ChangeKind {
    Text
}

/// The flag takes something from callers.
fn when_set(_was: Option<&Value>, is: Option<&Value>) -> ChangeKind {
    if is.is_some() { Breaking } else { Compatible }
}

/// The flag is a promise to callers.
fn when_unset(was: Option<&Value>, _is: Option<&Value>) -> ChangeKind {
    if was.is_some() { Breaking } else { Compatible }
}

/// Calls with the missing names or words are refused.
fn when_shortened(was: Option<&Value>, is: Option<&Value>) -> ChangeKind {
    let list = |value: Option<&'_ Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (was, is) = (list(was), list(is));
    if was.iter().all(|name| is.contains(name)) { Compatible } else { Breaking }
}

/// Calls that relied on the choice may fail without it.
fn when_off(_was: Option<&Value>, is: Option<&Value>) -> ChangeKind {
    if is == Some(&Value::Bool(false)) { Breaking } else { Compatible }
}

/// Calls that took longer fail.
fn when_shorter(was: Option<&Value>, is: Option<&Value>) -> ChangeKind {
    let time = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(u64::MAX);
    if time(is) < time(was) { Breaking } else { Compatible }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_manifest_name() {
        assert!(KEYS.is_sorted_by_key(|key| key.manifest));
    }

    #[test]
    fn implied_flags_are_keys() {
        for implied in KEYS.iter().filter_map(|key| key.implies) {
            assert_eq!(key(implied).map(|key| key.kind), Some(KeyKind::Flag), "{implied}");
        }
        let mut tool = ToolDefinition { destructive: true, ..ToolDefinition::default() };
        tool.set_implied_flags();
        assert!(tool.sensitive);
    }

    #[test]
    fn a_notice_follows_the_description() {
        let deprecated = Some("use `orders.find` instead".to_owned());
        let mut tool = ToolDefinition { deprecated, ..ToolDefinition::default() };
        assert_eq!(tool.full_description(), "Deprecated: use `orders.find` instead.");
        tool.description = "Find an order.\n".to_owned();
        assert_eq!(tool.full_description(), "Find an order. Deprecated: use `orders.find` instead.");
    }

    #[test]
    fn every_key_round_trips() {
        for key in KEYS {
            let value = match key.kind {
                KeyKind::Flag | KeyKind::Choice => json!(true),
                KeyKind::Text => json!("text"),
                KeyKind::Words | KeyKind::Names => json!(["a", "b"]),
                KeyKind::Time => json!(1_500),
            };
            let mut tool = ToolDefinition::default();
            assert_eq!(key.get(&tool), None, "{}", key.name);
            key.set(&mut tool, value.clone()).expect("a value of its kind");
            assert_eq!(key.get(&tool), Some(value), "{}", key.name);
            let others = KEYS.iter().filter(|other| other.name != key.name);
            assert_eq!(others.filter(|other| other.get(&tool).is_some()).count(), 0, "{}", key.name);
            key.set(&mut tool, json!({})).expect_err("a value of another kind");
        }
    }
}
