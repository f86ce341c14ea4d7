//! The tools on offer, which every change replaces as a whole.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use rustc_hash::FxBuildHasher;
use tool_dialect::{Form, NameClash};
use tool_model::{Manifest, Registration, ToolDefinition, nearest};

use crate::dispatch::{BoundTool, BuildProblem};
use crate::display::{escape, fold};
use crate::search::SearchIndex;
use crate::{ErrorKind, ToolError};

pub(crate) type Tools = HashMap<Arc<str>, Arc<BoundTool>, FxBuildHasher>;

/// The tools of one moment with their definitions, sorted by name. To have them again costs no more than a clone.
pub type Definitions = Arc<[(Arc<str>, Arc<ToolDefinition>)]>;

/// What a dispatcher offers at one moment.
pub(crate) struct ToolSnapshot {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
    /// Tools that somebody has disabled.
    pub(crate) disabled: BTreeSet<String>,
    /// Tells it from the offers before and after it. What is selected from an offer has the same number.
    pub(crate) version: u64,
    definitions: OnceLock<Definitions>,
    index: OnceLock<SearchIndex>,
    /// What somebody has asked for in a provider's form.
    forms: ArcSwap<Vec<tool_dialect::Offer>>,
}

/// The offer that counts now.
///
/// Most programs never change what they offer, and reading what can be replaced costs some ninety instructions, a
/// twentieth of a small call. So the first offer stands by itself, and stays as long as the dispatcher does.
pub(crate) struct CurrentSnapshot {
    first: ToolSnapshot,
    later: OnceLock<ArcSwap<ToolSnapshot>>,
}

impl CurrentSnapshot {
    pub(crate) fn new(first: ToolSnapshot) -> Self {
        Self { first, later: OnceLock::new() }
    }

    /// An offer that goes when it is replaced, as one must whose tools were made at run time: what they hold on to, such
    /// as a connection, is let go of when they are removed.
    pub(crate) fn replaceable(offer: ToolSnapshot) -> Self {
        let nothing = ToolSnapshot::new(Tools::default(), Vec::new(), 0);
        Self { first: nothing, later: OnceLock::from(ArcSwap::from_pointee(offer)) }
    }

    /// Looks at what is offered at this moment.
    #[inline]
    pub(crate) fn with<T>(&self, look: impl FnOnce(&ToolSnapshot) -> T) -> T {
        match self.later.get() {
            None => look(&self.first),
            Some(later) => look_later(later, look),
        }
    }

    /// Offers something else from now on. What was offered before is given back: it is not for us to say when the
    /// application's own code in it is dropped.
    pub(crate) fn replace(&self, offer: ToolSnapshot) -> Arc<ToolSnapshot> {
        let offer = Arc::new(offer);
        self.later.get_or_init(|| ArcSwap::new(offer.clone())).swap(offer)
    }
}

/// Apart, so that the usual way stays as short as if there were no other.
#[cold]
#[inline(never)]
fn look_later<T>(later: &ArcSwap<ToolSnapshot>, look: impl FnOnce(&ToolSnapshot) -> T) -> T {
    look(&later.load())
}

/// What is wrong where somebody names a tool that is not there, with the nearest names.
pub(crate) fn no_such_tool(name: &str, tools: &Tools) -> Option<BuildProblem> {
    if tools.contains_key(name) {
        return None;
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
        let (definitions, index, forms) = (OnceLock::new(), OnceLock::new(), ArcSwap::default());
        Self { tools, not_offered, disabled: BTreeSet::new(), version, definitions, index, forms }
    }

    pub(crate) fn with_disabled(self, disabled: BTreeSet<String>) -> Self {
        Self { disabled, ..self }
    }

    pub(crate) fn manifest(&self) -> Manifest {
        self.tools.iter().map(|(name, tool)| (name.to_string(), ToolDefinition::clone(tool.definition()))).collect()
    }

    /// The tools with their definitions, made when somebody first asks.
    pub(crate) fn definitions(&self) -> &Definitions {
        self.definitions.get_or_init(|| {
            let tools = self.tools.iter().map(|(name, tool)| (name.clone(), tool.definition().clone()));
            let mut all: Vec<_> = tools.collect();
            all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            all.into()
        })
    }

    /// Where words of the tools stand, made when somebody first searches.
    pub(crate) fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| SearchIndex::new(self.definitions()))
    }

    /// The tools in a provider's form, made when somebody first asks. Two who do so at once may both make it.
    pub(crate) fn in_form(&self, form: Form) -> Result<tool_dialect::Offer, NameClash> {
        let known = self.forms.load();
        if let Some(made) = known.iter().find(|made| made.form() == form) {
            return Ok(made.clone());
        }
        let made = form.offer(self.definitions().iter().map(|(name, tool)| (&**name, &**tool)))?;
        self.forms
            .rcu(|forms| forms.iter().filter(|one| one.form() != form).chain([&made]).cloned().collect::<Vec<_>>());
        Ok(made)
    }

    pub(crate) fn definition(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.tools.get(name).map(|tool| tool.definition().clone())
    }

    /// What a model is told that asks for a tool which is not on offer.
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
        // The name is the model's: it may hold anything.
        let shown = escape(fold(name, 128).0);
        ToolError::new(ErrorKind::UnknownTool, format!("There is no tool `{shown}`. {hint}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::display::is_visible;
    use crate::{Dispatcher, Manifest, RuntimeTool, ToolCall};

    /// Names and values that a model made up come back in what it is told, and from there into terminals and logs.
    #[tokio::test]
    async fn what_does_not_show_is_escaped_in_errors() {
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
        let mended = tools.call(ToolCall::from_text("t", "{\"note\": \"\u{9b}\u{202e}\",}")).await;
        let repairs = mended.metadata.get("repairs").unwrap().to_string();
        assert!(repairs.contains(r"u{202e}") && repairs.chars().all(is_visible), "{repairs}");
    }
}
