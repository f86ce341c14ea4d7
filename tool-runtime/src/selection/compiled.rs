//! A selection as it is made from the tools of one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use tool_model::name;

use super::Selection;
use super::matcher::Matcher;
use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, ToolSnapshot, Tools, no_such_tool};

/// A selection without a mistake.
pub(crate) struct CompiledSelection {
    matcher: Matcher,
}

/// What tools are called, and which of them cannot be called so.
type Named<'a> = (BTreeMap<String, &'a Arc<BoundTool>>, Vec<BuildProblem>);

impl CompiledSelection {
    /// # Errors
    /// All that is wrong with the selection, seen from these tools.
    pub(crate) fn new(selection: Selection, offer: &ToolSnapshot) -> Result<Self, Vec<BuildProblem>> {
        let mut problems = Vec::new();
        let chosen = Self { matcher: Matcher::new(selection, &mut problems) };
        let renamed = chosen.matcher.selection().rename.keys().map(String::as_str);
        let mut said: Vec<&str> = chosen.matcher.said().chain(renamed).collect();
        said.sort_unstable();
        said.dedup();
        problems.extend(said.into_iter().filter_map(|name| no_such_tool(name, &offer.tools)));
        problems.extend(chosen.named(offer).1);
        if problems.is_empty() { Ok(chosen) } else { Err(problems) }
    }

    /// What is selected from an offer. Tools that came later and cannot have their names are left out.
    pub(crate) fn from(&self, offer: &ToolSnapshot) -> Tools {
        let (named, problems) = self.named(offer);
        for problem in problems {
            tracing::warn!("not selected: {problem}");
        }
        let tools = named.into_iter().map(|(name, tool)| {
            let name: Arc<str> = if *name == *tool.name { tool.name.clone() } else { name.into() };
            let tool = if name == tool.name { tool.clone() } else { Arc::new(tool.renamed(name.clone())) };
            (name, tool)
        });
        tools.collect()
    }

    fn named<'a>(&self, offer: &'a ToolSnapshot) -> Named<'a> {
        let mut named: BTreeMap<String, &Arc<BoundTool>> = BTreeMap::new();
        let mut problems = Vec::new();
        for (own, _) in offer.definitions().iter() {
            let Some(tool) = offer.tools.get(own).filter(|tool| self.matcher.takes(own, tool.definition())) else {
                continue;
            };
            let called = self.called(own);
            if let Err(error) = name::check(&called) {
                problems.push(BuildProblem::of_tool(own, format!("it would be called {called:?}: {error}"), RENAME));
            } else if let Some(other) = named.get(&called) {
                let message = format!("it would be called `{called}`, and so would `{}`", other.name);
                problems.push(BuildProblem::of_tool(own, message, RENAME));
            } else {
                named.insert(called, tool);
            }
        }
        (named, problems)
    }

    /// What a tool is called here.
    fn called(&self, own: &str) -> String {
        let Selection { rename, case, prefix, .. } = self.matcher.selection();
        if let Some(called) = rename.get(own) {
            return called.clone();
        }
        let called = case.map_or_else(|| own.to_owned(), |case| case.apply(own));
        prefix.iter().fold(called, |called, prefix| format!("{prefix}{called}"))
    }
}

const RENAME: &str = "`rename` one of them";
