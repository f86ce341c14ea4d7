//! Some of the tools, possibly by other names.

mod case;
mod chosen;
mod matcher;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use tool_model::ToolDefinition;

pub use case::Case;
pub(crate) use case::words as words_of_name;
pub(crate) use chosen::Chosen;

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
///     .case(tool_runtime::Case::Camel);
/// assert_eq!(format!("{selection:?}"), format!("{same:?}"));
/// assert!(serde_json::from_str::<Selection>(r#"{"tag": ["io"]}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use = "a selection does nothing until a dispatcher makes it"]
pub struct Selection {
    names: Option<Vec<String>>,
    tags: Vec<String>,
    category: Option<String>,
    name_pattern: Option<String>,
    name_glob: Option<String>,
    read_only: Option<bool>,
    sensitive: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    sequential: Option<bool>,
    any_of: Option<Vec<Selection>>,
    hide: Vec<String>,
    prefix: Option<String>,
    rename: BTreeMap<String, String>,
    case: Option<Case>,
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
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }

    /// Those that need somebody's consent; with `false`, the others.
    pub fn sensitive(mut self, sensitive: bool) -> Self {
        self.sensitive = Some(sensitive);
        self
    }

    /// Those that destroy something; with `false`, the others.
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Those that change nothing more when called again; with `false`, the others.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Those that run alone among the calls of a turn; with `false`, the others.
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = Some(sequential);
        self
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
    pub fn case(mut self, case: Case) -> Self {
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
        for (key, flag) in self.flags() {
            say(&mut shown, key, flag);
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

impl Selection {
    fn flags(&self) -> [(&'static str, Option<bool>); 5] {
        [
            ("read_only", self.read_only),
            ("sensitive", self.sensitive),
            ("destructive", self.destructive),
            ("idempotent", self.idempotent),
            ("sequential", self.sequential),
        ]
    }
}

#[cfg(test)]
mod tests;
