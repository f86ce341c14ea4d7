//! Selections: filtered and renamed views of the tools.

mod compiled;
mod matcher;
mod name_case;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;
use tool_model::{KEYS, Key, KeyKind, ToolDefinition, key, nearest};

pub(crate) use compiled::CompiledSelection;
pub use name_case::NameCase;
pub(crate) use name_case::words as words_of_name;

type Predicate = Arc<dyn Fn(&str, &ToolDefinition) -> bool + Send + Sync>;

/// A filter over the tools, with optional new names; see [`Dispatcher::select`](crate::Dispatcher::select).
///
/// A tool is selected if it matches every criterion. A selection is built in code or deserialized from JSON with the
/// same keys: `{"tags": ["files"], "category": "io", "read_only": true}`. Unknown keys are rejected.
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
#[derive(Clone, Default)]
#[must_use = "a selection has no effect until `Dispatcher::select`"]
pub struct Selection {
    criteria: SelectionCriteria,
    /// Flags that a tool must have, or must not have, by the names of their keys.
    flags: BTreeMap<&'static str, bool>,
    predicate: Option<Predicate>,
}

/// The criteria that are deserialized by serde's derive.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SelectionCriteria {
    names: Option<Vec<String>>,
    tags: Vec<String>,
    category: Option<String>,
    name_pattern: Option<String>,
    name_glob: Option<String>,
    any_of: Option<Vec<Selection>>,
    hide: Vec<String>,
    prefix: Option<String>,
    rename: BTreeMap<String, String>,
    rename_arguments: BTreeMap<String, BTreeMap<String, String>>,
    case: Option<NameCase>,
}

impl Selection {
    /// Selects all tools under their own names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects tools by name. `*` matches any characters, `?` matches one; a name without wildcards must exist.
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.criteria.names.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Selects tools that have all of these tags.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.criteria.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Selects tools of this category.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.criteria.category = Some(category.into());
        self
    }

    /// Selects tools by a regular expression that matches at the start of the name; end it with `$` to match the whole
    /// name. Matching takes linear time for every pattern.
    pub fn name_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.criteria.name_pattern = Some(pattern.into());
        self
    }

    /// Selects tools whose names match a glob: `*` matches any characters including dots, `?` matches one.
    pub fn name_glob(mut self, glob: impl Into<String>) -> Self {
        self.criteria.name_glob = Some(glob.into());
        self
    }

    /// Selects tools that change nothing, or with `false` the others.
    pub fn read_only(self, read_only: bool) -> Self {
        self.flag("read_only", read_only)
    }

    /// Selects tools that need an approval, or with `false` the others.
    pub fn sensitive(self, sensitive: bool) -> Self {
        self.flag("sensitive", sensitive)
    }

    /// Selects tools that destroy data, or with `false` the others.
    pub fn destructive(self, destructive: bool) -> Self {
        self.flag("destructive", destructive)
    }

    /// Selects tools whose repeated calls have no further effect, or with `false` the others.
    pub fn idempotent(self, idempotent: bool) -> Self {
        self.flag("idempotent", idempotent)
    }

    /// Selects tools that run alone among the calls of a turn, or with `false` the others.
    pub fn sequential(self, sequential: bool) -> Self {
        self.flag("sequential", sequential)
    }

    /// Selects tools that report parts of their result while they run, or with `false` the others.
    pub fn supports_streaming(self, supports_streaming: bool) -> Self {
        self.flag("supports_streaming", supports_streaming)
    }

    /// Selects tools for which a function returns `true`. A panic counts as `false`. Not available in JSON.
    pub fn predicate(mut self, predicate: impl Fn(&str, &ToolDefinition) -> bool + Send + Sync + 'static) -> Self {
        self.predicate = Some(Arc::new(predicate));
        self
    }

    /// Selects tools that match at least one of these selections, which must not rename tools.
    pub fn any_of(mut self, selections: impl IntoIterator<Item = Self>) -> Self {
        self.criteria.any_of.get_or_insert_default().extend(selections);
        self
    }

    /// Excludes tools by name. `*` matches any characters, `?` matches one; a name without wildcards must exist.
    pub fn hide<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.criteria.hide.extend(names.into_iter().map(Into::into));
        self
    }

    /// Prepends a prefix to each name that is not set by [`rename`](Self::rename).
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.criteria.prefix = Some(prefix.into());
        self
    }

    /// Offers a tool under exactly this name.
    pub fn rename(mut self, name: impl Into<String>, new_name: impl Into<String>) -> Self {
        self.criteria.rename.insert(name.into(), new_name.into());
        self
    }

    /// Offers an argument of a tool under another name. Handlers, policies and the journal keep its own name.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, RuntimeTool, Selection, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    /// let read = RuntimeTool::from_schema("read", "Reads a file.", &schema, |arguments, _| async move {
    ///     arguments["path"].as_str().unwrap_or_default().to_owned()
    /// });
    /// let tools = Dispatcher::builder().tool(read).build()?;
    /// let tools = tools.select(Selection::new().rename_argument("read", "path", "file"))?;
    /// assert_eq!(tools.call(ToolCall::new("read", json!({"file": "a.txt"}))).await.output, "a.txt");
    /// # Ok(())
    /// # }
    /// ```
    pub fn rename_argument(
        mut self,
        tool: impl Into<String>,
        argument: impl Into<String>,
        new_name: impl Into<String>,
    ) -> Self {
        self.criteria.rename_arguments.entry(tool.into()).or_default().insert(argument.into(), new_name.into());
        self
    }

    /// Converts the names of tools and arguments to this case, except those that [`rename`](Self::rename) and
    /// [`rename_argument`](Self::rename_argument) set.
    pub fn case(mut self, case: NameCase) -> Self {
        self.criteria.case = Some(case);
        self
    }
}

impl fmt::Debug for Selection {
    /// Shows only the criteria that are set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn say<T: fmt::Debug>(shown: &mut fmt::DebugStruct<'_, '_>, key: &str, value: Option<T>) {
            if let Some(value) = value {
                shown.field(key, &value);
            }
        }
        let mut shown = f.debug_struct("Selection");
        say(&mut shown, "names", self.criteria.names.as_ref());
        say(&mut shown, "tags", Some(&self.criteria.tags).filter(|tags| !tags.is_empty()));
        say(&mut shown, "category", self.criteria.category.as_ref());
        say(&mut shown, "name_pattern", self.criteria.name_pattern.as_ref());
        say(&mut shown, "name_glob", self.criteria.name_glob.as_ref());
        for (key, flag) in &self.flags {
            say(&mut shown, key, Some(flag));
        }
        say(&mut shown, "any_of", self.criteria.any_of.as_ref());
        say(&mut shown, "hide", Some(&self.criteria.hide).filter(|hide| !hide.is_empty()));
        say(&mut shown, "prefix", self.criteria.prefix.as_ref());
        say(&mut shown, "rename", Some(&self.criteria.rename).filter(|rename| !rename.is_empty()));
        let arguments = Some(&self.criteria.rename_arguments).filter(|arguments| !arguments.is_empty());
        say(&mut shown, "rename_arguments", arguments);
        say(&mut shown, "case", self.criteria.case);
        say(&mut shown, "predicate", self.predicate.as_ref().map(|_| ".."));
        shown.finish()
    }
}

/// The keys of a selection's JSON besides the flags, which are those of [`KEYS`].
const FIELDS: [&str; 11] = [
    "names",
    "tags",
    "category",
    "name_pattern",
    "name_glob",
    "any_of",
    "hide",
    "prefix",
    "rename",
    "rename_arguments",
    "case",
];

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static KNOWN: LazyLock<Vec<&'static str>> =
            LazyLock::new(|| FIELDS.into_iter().chain(flag_keys().map(|key| key.name)).collect());
        let mut fields = BTreeMap::<String, Value>::deserialize(deserializer)?;
        if let Some(unknown) = fields.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            let near = match nearest(unknown, KNOWN.iter().copied()).first() {
                Some(near) => format!("did you mean `{near}`? "),
                None => String::new(),
            };
            let message = format!("unknown key `{unknown}` of a selection; {near}The keys are {}", KNOWN.join(", "));
            return Err(D::Error::custom(message));
        }
        let mut flags = BTreeMap::new();
        for key in flag_keys() {
            if let Some(value) = fields.remove(key.name) {
                let wanted: Option<bool> = serde_json::from_value(value).map_err(D::Error::custom)?;
                flags.extend(wanted.map(|wanted| (key.name, wanted)));
            }
        }
        let rest = Value::Object(fields.into_iter().collect());
        let criteria = serde_json::from_value(rest).map_err(D::Error::custom)?;
        Ok(Self { criteria, flags, predicate: None })
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

    /// Returns `true` if a tool has all required flags and no excluded ones.
    fn has_flags(&self, tool: &ToolDefinition) -> bool {
        self.flags.iter().all(|(name, wanted)| key(name).is_some_and(|key| key.is_on(tool) == *wanted))
    }
}

#[cfg(test)]
mod tests;
