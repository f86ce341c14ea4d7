//! Snapshots of the tools, which every change replaces as a whole.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use rustc_hash::FxBuildHasher;
use tool_dialect::{DialectForm, NameClash};
use tool_model::{Manifest, Registration, ToolDefinition, nearest};

use crate::dispatch::{BoundTool, BuildProblem};
use crate::display::excerpt;
use crate::search::SearchIndex;
use crate::selection::CompiledSelection;
use crate::{ErrorKind, ToolError};

pub(crate) type Tools = HashMap<Arc<str>, Arc<BoundTool>, FxBuildHasher>;

/// The tools of a snapshot with their definitions, sorted by name. Cheap to clone.
pub type Definitions = Arc<[(Arc<str>, Arc<ToolDefinition>)]>;

/// The immutable set of bound tools that a call uses from start to end.
pub(crate) struct ToolSnapshot {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
    /// The tools that the application has disabled.
    pub(crate) disabled: BTreeSet<String>,
    /// Identifies the snapshot. A selection from a snapshot has the same number.
    version: u64,
    definitions: OnceLock<Definitions>,
    index: OnceLock<SearchIndex>,
    /// The tools that have aliases, by alias.
    aliases: OnceLock<Tools>,
    /// The tools in the forms of model providers, cached.
    forms: ArcSwap<Vec<tool_dialect::ToolOffer>>,
}

/// The current snapshot.
///
/// Most programs never change their tools, and reading a replaceable snapshot costs about ninety instructions, a
/// twentieth of a small call. So the first snapshot is stored apart, and lives as long as the dispatcher.
pub(crate) struct CurrentSnapshot {
    first: ToolSnapshot,
    later: OnceLock<ArcSwap<ToolSnapshot>>,
}

impl CurrentSnapshot {
    pub(super) fn new(first: ToolSnapshot) -> Self {
        Self { first, later: OnceLock::new() }
    }

    /// Creates a snapshot that is dropped when it is replaced. Runtime tools need this, because a removed tool must
    /// release what it holds, such as a connection.
    pub(super) fn replaceable(snapshot: ToolSnapshot) -> Self {
        let empty = ToolSnapshot::new(Tools::default(), Vec::new(), 0);
        Self { first: empty, later: OnceLock::from(ArcSwap::from_pointee(snapshot)) }
    }

    /// Reads the current snapshot.
    #[inline]
    pub(crate) fn with<T>(&self, read: impl FnOnce(&ToolSnapshot) -> T) -> T {
        match self.later.get() {
            None => read(&self.first),
            Some(later) => read_later(later, read),
        }
    }

    /// Replaces the snapshot. Returns the old one, so that the caller decides when application values in it are dropped.
    pub(super) fn replace(&self, snapshot: ToolSnapshot) -> Arc<ToolSnapshot> {
        let snapshot = Arc::new(snapshot);
        self.later.get_or_init(|| ArcSwap::new(snapshot.clone())).swap(snapshot)
    }
}

/// Not inlined, so that the fast path stays as short as if there were no other.
#[cold]
#[inline(never)]
fn read_later<T>(later: &ArcSwap<ToolSnapshot>, read: impl FnOnce(&ToolSnapshot) -> T) -> T {
    read(&later.load())
}

/// A selection from the current snapshot, or from another view of it.
pub(crate) struct SelectionView {
    parent: Option<Arc<SelectionView>>,
    selection: CompiledSelection,
    /// The selected tools of the snapshot that was read last.
    selected: ArcSwapOption<ToolSnapshot>,
}

impl SelectionView {
    pub(super) fn new(parent: Option<Arc<Self>>, selection: CompiledSelection) -> Self {
        Self { parent, selection, selected: ArcSwapOption::empty() }
    }

    /// Reads the selected tools of the current snapshot.
    pub(super) fn with<T>(&self, current: &CurrentSnapshot, read: impl FnOnce(&ToolSnapshot) -> T) -> T {
        current.with(|snapshot| read(&self.select(snapshot)))
    }

    /// Returns the selected tools of a snapshot, computed once for each snapshot.
    fn select(&self, snapshot: &ToolSnapshot) -> Arc<ToolSnapshot> {
        let cached = self.selected.load();
        if let Some(selected) = cached.as_ref().filter(|selected| selected.version == snapshot.version) {
            return selected.clone();
        }
        let tools = match &self.parent {
            None => self.selection.apply(snapshot),
            Some(parent) => self.selection.apply(&parent.select(snapshot)),
        };
        let selected = Arc::new(ToolSnapshot::new(tools, Vec::new(), snapshot.version));
        self.selected.store(Some(selected.clone()));
        selected
    }
}

/// Returns the problem of a name that is no tool, with the nearest names. Returns `None` if the tool exists.
pub(crate) fn no_such_tool(name: &str, tools: &Tools) -> Option<BuildProblem> {
    if tools.contains_key(name) {
        return None;
    }
    if let Some(tool) = tools.values().find(|tool| tool.aliases().iter().any(|alias| **alias == *name)) {
        let message = format!("this is an alias of `{}`", tool.name);
        return Some(BuildProblem::of_tool(name, message, format!("write `{}`", tool.name)));
    }
    let near = nearest(name, tools.keys().map(|name| &**name));
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let remedy = match near.as_slice() {
        [] => "there is none like it".to_owned(),
        near => format!("is it {}?", near.join(" or ")),
    };
    Some(BuildProblem::of_tool(name, "there is no such tool", remedy))
}

impl ToolSnapshot {
    pub(crate) fn new(tools: Tools, not_offered: Vec<&'static Registration>, version: u64) -> Self {
        let (definitions, index, aliases) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let forms = ArcSwap::default();
        Self { tools, not_offered, disabled: BTreeSet::new(), version, definitions, index, aliases, forms }
    }

    pub(crate) fn with_disabled(self, disabled: BTreeSet<String>) -> Self {
        Self { disabled, ..self }
    }

    pub(crate) fn manifest(&self) -> Manifest {
        self.tools
            .iter()
            .map(|(name, tool)| (name.to_string(), ToolDefinition::clone(tool.shown_definition())))
            .collect()
    }

    /// Returns the tools with their definitions, computed on first use.
    pub(crate) fn definitions(&self) -> &Definitions {
        self.definitions.get_or_init(|| {
            let tools = self.tools.iter().map(|(name, tool)| (name.clone(), tool.shown_definition().clone()));
            let mut all: Vec<_> = tools.collect();
            all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            all.into()
        })
    }

    /// Returns the search index of the tools, computed on first use.
    pub(crate) fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| SearchIndex::new(self.definitions()))
    }

    /// Returns the tools in the form of a model provider, computed on first use. Two concurrent callers may both compute
    /// it.
    pub(crate) fn in_form(&self, form: DialectForm) -> Result<tool_dialect::ToolOffer, NameClash> {
        let known = self.forms.load();
        if let Some(made) = known.iter().find(|made| made.form() == form) {
            return Ok(made.clone());
        }
        let made = form.offer(self.definitions().iter().map(|(name, tool)| (&**name, &**tool)))?;
        self.forms
            .rcu(|forms| forms.iter().filter(|one| one.form() != form).chain([&made]).cloned().collect::<Vec<_>>());
        Ok(made)
    }

    /// Returns the tool with this name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<BoundTool>> {
        self.tools.get(name).or_else(|| self.aliased(name))
    }

    /// Returns the tool with this alias. A name takes precedence over an alias.
    #[cold]
    #[inline(never)]
    pub(crate) fn aliased(&self, alias: &str) -> Option<&Arc<BoundTool>> {
        let aliases = self.aliases.get_or_init(|| {
            let mut tools: Vec<_> = self.tools.values().collect();
            tools.sort_unstable_by(|a, b| b.name.cmp(&a.name));
            tools.iter().flat_map(|tool| tool.aliases().into_iter().map(|alias| (alias, (*tool).clone()))).collect()
        });
        aliases.get(alias).filter(|_| !self.tools.contains_key(alias))
    }

    pub(crate) fn definition(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.find(name).map(|tool| tool.shown_definition().clone())
    }

    /// Returns the error for a model that calls an unknown tool.
    #[cold]
    pub(crate) fn unknown_tool(&self, name: &str) -> ToolError {
        let mut names: Vec<&str> = self.tools.keys().map(|name| &**name).collect();
        names.sort_unstable();
        let near = nearest(name, names.iter().copied());
        let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let hint = match near.as_slice() {
            [] if names.is_empty() => "There are no tools.".to_owned(),
            [] if names.len() <= 20 => format!("The tools are {}.", quoted(&names)),
            [] => format!("There are {} tools, none with a similar name.", names.len()),
            near => format!("Did you mean {}?", quoted(near)),
        };
        // The name comes from the model and may hold anything.
        let shown = excerpt(name);
        ToolError::new(ErrorKind::UnknownTool, format!("There is no tool `{shown}`. {hint}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::display::is_visible;
    use crate::{Dispatcher, Manifest, RuntimeTool, ToolCall};

    /// Names and values from the model are repeated in errors, which end up in terminals and logs.
    #[tokio::test]
    async fn escapes_unprintable_characters_in_errors() {
        let nasty = "\x1b]0;title\x07\u{9b}31m\u{202e}\u{2028}\x7f\nx";
        let schema = json!({"type": "object", "properties": {
            "count": {"type": "integer"},
            "note": {"type": "string"},
            "point": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": false},
        }});
        let tool = RuntimeTool::from_schema("t", "", &schema, |_, _| async { "ran" });
        let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool).build().unwrap();
        let count = format!("{{\"count\": {}}}", serde_json::to_string(nasty).unwrap());
        for (name, arguments) in [
            (nasty, "{}".to_owned()),
            ("t", json!({nasty: 1}).to_string()),
            ("t", count),
            ("t", json!({"point": {nasty: 1}}).to_string()),
            ("t", json!({"point": nasty}).to_string()),
            ("t", format!("{{\"point\": {{\"{0}\": 1, \"{0}\": 2}}}}", "\u{9b}\u{202e}")),
            ("t", format!("{{\"count\": {}", "\u{9b}\u{202e}")),
            ("t", format!("[{}]", json!(nasty))),
        ] {
            let result = tools.call(ToolCall::from_text(name, &arguments)).await;
            assert!(!result.success, "{arguments}");
            let error = serde_json::to_value(result.error).unwrap();
            for text in [&result.output, error["message"].as_str().unwrap()] {
                assert!(text.chars().all(|c| is_visible(c) || c == '\n'), "{text:?}");
            }
        }
        let unknown = tools.call(ToolCall::from_text(nasty, "{}")).await.output;
        assert!(
            unknown.starts_with(r"There is no tool `\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2028}\u{7f}\nx`."),
            "{unknown}"
        );
        let repaired = tools.call(ToolCall::from_text("t", "{\"note\": \"\u{9b}\u{202e}\",}")).await;
        let repairs = repaired.metadata.get("repairs").unwrap().to_string();
        assert!(repairs.contains(r"u{202e}") && repairs.chars().all(is_visible), "{repairs}");
    }
}
