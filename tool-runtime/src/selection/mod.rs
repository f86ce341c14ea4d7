//! Some of the tools, possibly by other names.

mod compiled;
mod matcher;
mod name_case;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;
use tool_model::{KEYS, Key, KeyKind, ToolDefinition, key};

pub(crate) use compiled::CompiledSelection;
pub use name_case::NameCase;
pub(crate) use name_case::words as words_of_name;

type Predicate = Arc<dyn Fn(&str, &ToolDefinition) -> bool + Send + Sync>;

/// Which tools to offer, and by which names; see [`Dispatcher::select`](crate::Dispatcher::select).
///
/// A tool is selected if all that is said here holds for it. Written in code, or read from JSON with the same words:
/// `{"tags": ["files"], "category": "io", "read_only": true}`. A key that does not exist is an error there.
///
/// ```
/// use tool_runtime::Selection;
///
/// let selection: Selection = serde_json::from_str(
///     r#"{"any_of": [{"category": "io", "read_only": true}, {"names": ["mail.send"]}], "hide": ["*.secret"], "case": "camel"}"#,
/// )?;
/// let same = Selection::new()
///     .any_of([Selection::new().category("io").read_only(true), Selection::new().names(["mail.send"])])
///     .hide(["*.secret"])
///     .case(tool_runtime::NameCase::Camel);
/// assert_eq!(format!("{selection:?}"), format!("{same:?}"));
/// assert!(serde_json::from_str::<Selection>(r#"{"tag": ["io"]}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
#[must_use = "a selection does nothing until a dispatcher makes it"]
pub struct Selection {
    names: Option<Vec<String>>,
    tags: Vec<String>,
    category: Option<String>,
    name_pattern: Option<String>,
    name_glob: Option<String>,
    /// Flags that a tool must have, or must not have, by the names of their keys.
    #[serde(skip)]
    flags: BTreeMap<&'static str, bool>,
    any_of: Option<Vec<Selection>>,
    hide: Vec<String>,
    prefix: Option<String>,
    rename: BTreeMap<String, String>,
    case: Option<NameCase>,
    #[serde(skip)]
    predicate: Option<Predicate>,
}

impl Selection {
    /// All tools, as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of these names. A name may have `*` for any characters and `?` for one; one without them must exist.
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Those that have all of these tags.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Those of this category.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// Those whose names begin with what this regular expression matches; with `$` at its end, those that it matches
    /// as a whole. It takes time in proportion to the name, whatever it is.
    pub fn name_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.name_pattern = Some(pattern.into());
        self
    }

    /// Those whose names have this form: `*` stands for any characters, dots included, `?` for one.
    pub fn name_glob(mut self, glob: impl Into<String>) -> Self {
        self.name_glob = Some(glob.into());
        self
    }

    /// Those that change nothing; with `false`, the others.
    pub fn read_only(self, read_only: bool) -> Self {
        self.flag("read_only", read_only)
    }

    /// Those that need somebody's consent; with `false`, the others.
    pub fn sensitive(self, sensitive: bool) -> Self {
        self.flag("sensitive", sensitive)
    }

    /// Those that destroy something; with `false`, the others.
    pub fn destructive(self, destructive: bool) -> Self {
        self.flag("destructive", destructive)
    }

    /// Those that change nothing more when called again; with `false`, the others.
    pub fn idempotent(self, idempotent: bool) -> Self {
        self.flag("idempotent", idempotent)
    }

    /// Those that run alone among the calls of a turn; with `false`, the others.
    pub fn sequential(self, sequential: bool) -> Self {
        self.flag("sequential", sequential)
    }

    /// Those for which a function says so. A selection from JSON has none. One that panics says no.
    pub fn predicate(mut self, says: impl Fn(&str, &ToolDefinition) -> bool + Send + Sync + 'static) -> Self {
        self.predicate = Some(Arc::new(says));
        self
    }

    /// Those that at least one of these selects. They say nothing of names.
    pub fn any_of(mut self, selections: impl IntoIterator<Item = Self>) -> Self {
        self.any_of.get_or_insert_default().extend(selections);
        self
    }

    /// None of these names, which may have `*` and `?`; one without them must exist.
    pub fn hide<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hide.extend(names.into_iter().map(Into::into));
        self
    }

    /// Puts this before each name that is not [renamed](Self::rename) by itself.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Calls a tool exactly so.
    pub fn rename(mut self, name: impl Into<String>, called: impl Into<String>) -> Self {
        self.rename.insert(name.into(), called.into());
        self
    }

    /// Writes each name that is not [renamed](Self::rename) by itself in this style.
    pub fn case(mut self, case: NameCase) -> Self {
        self.case = Some(case);
        self
    }
}

impl fmt::Debug for Selection {
    /// Only what is said.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn say<T: fmt::Debug>(shown: &mut fmt::DebugStruct<'_, '_>, key: &str, value: Option<T>) {
            if let Some(value) = value {
                shown.field(key, &value);
            }
        }
        let mut shown = f.debug_struct("Selection");
        say(&mut shown, "names", self.names.as_ref());
        say(&mut shown, "tags", Some(&self.tags).filter(|tags| !tags.is_empty()));
        say(&mut shown, "category", self.category.as_ref());
        say(&mut shown, "name_pattern", self.name_pattern.as_ref());
        say(&mut shown, "name_glob", self.name_glob.as_ref());
        for (key, flag) in &self.flags {
            say(&mut shown, key, Some(flag));
        }
        say(&mut shown, "any_of", self.any_of.as_ref());
        say(&mut shown, "hide", Some(&self.hide).filter(|hide| !hide.is_empty()));
        say(&mut shown, "prefix", self.prefix.as_ref());
        say(&mut shown, "rename", Some(&self.rename).filter(|rename| !rename.is_empty()));
        say(&mut shown, "case", self.case);
        say(&mut shown, "predicate", self.predicate.as_ref().map(|_| ".."));
        shown.finish()
    }
}

/// Everything in a selection's JSON but the flags, which are those of [`KEYS`].
const FIELDS: [&str; 10] =
    ["names", "tags", "category", "name_pattern", "name_glob", "any_of", "hide", "prefix", "rename", "case"];

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static KNOWN: LazyLock<Vec<&'static str>> =
            LazyLock::new(|| FIELDS.into_iter().chain(flag_keys().map(|key| key.name)).collect());
        let mut fields = BTreeMap::<String, Value>::deserialize(deserializer)?;
        if let Some(unknown) = fields.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            return Err(D::Error::unknown_field(unknown, &KNOWN));
        }
        let mut flags = BTreeMap::new();
        for key in flag_keys() {
            if let Some(value) = fields.remove(key.name) {
                let wanted: Option<bool> = serde_json::from_value(value).map_err(D::Error::custom)?;
                flags.extend(wanted.map(|wanted| (key.name, wanted)));
            }
        }
        let rest = Value::Object(fields.into_iter().collect());
        // The derived function, which reads everything else.
        let selection = Self::deserialize(rest).map_err(D::Error::custom)?;
        Ok(Self { flags, ..selection })
    }
}

fn flag_keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.kind == KeyKind::Flag)
}

impl Selection {
    fn flag(mut self, name: &'static str, wanted: bool) -> Self {
        self.flags.insert(name, wanted);
        self
    }

    /// Returns `true` if a tool has the flags that it must have, and none that it must not have.
    fn has_flags(&self, tool: &ToolDefinition) -> bool {
        self.flags.iter().all(|(name, wanted)| key(name).is_some_and(|key| key.is_on(tool) == *wanted))
    }
}

#[cfg(test)]
mod tests;
