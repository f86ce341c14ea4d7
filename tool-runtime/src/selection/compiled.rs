//! Selections applied to a snapshot of the tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use tool_model::{Argument, name, nearest};

use super::matcher::ToolMatcher;
use super::{Selection, SelectionCriteria};
use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, ToolSnapshot, Tools, no_such_tool};

/// A validated selection.
pub(crate) struct CompiledSelection {
    matcher: ToolMatcher,
}

/// The selected tools by their new names, and the problems of names that cannot be given.
type NamedTools<'a> = (BTreeMap<String, &'a Arc<BoundTool>>, Vec<BuildProblem>);

impl CompiledSelection {
    /// Validates a selection against the current tools.
    ///
    /// # Errors
    /// Returns every problem of the selection.
    pub(crate) fn new(selection: Selection, offer: &ToolSnapshot) -> Result<Self, Vec<BuildProblem>> {
        let mut problems = Vec::new();
        let compiled = Self { matcher: ToolMatcher::new(selection, &mut problems) };
        let SelectionCriteria { rename, rename_arguments, .. } = compiled.matcher.criteria();
        let renamed = rename.keys().chain(rename_arguments.keys()).map(String::as_str);
        let mut names: Vec<&str> = compiled.matcher.exact_names().chain(renamed).collect();
        names.sort_unstable();
        names.dedup();
        problems.extend(names.into_iter().filter_map(|name| no_such_tool(name, &offer.tools)));
        problems.extend(compiled.named(offer).1);
        if problems.is_empty() { Ok(compiled) } else { Err(problems) }
    }

    /// Returns the selected tools. Tools that were added later and whose new names conflict are skipped with a warning.
    pub(crate) fn apply(&self, offer: &ToolSnapshot) -> Tools {
        let (named, problems) = self.named(offer);
        for problem in problems {
            tracing::warn!("not selected: {problem}");
        }
        let tools = named.into_iter().map(|(name, tool)| {
            let name: Arc<str> = if *name == *tool.name { tool.name.clone() } else { name.into() };
            // Problems of arguments were reported with those of names.
            let arguments = self.argument_names(tool).unwrap_or_default();
            let is_alias = tool.aliases().contains(&name);
            let tool = match (name == tool.name, arguments.is_empty() && !is_alias) {
                (true, true) => tool.clone(),
                (_, true) => Arc::new(tool.renamed(name.clone())),
                _ => Arc::new(tool.renamed(name.clone()).with_argument_names(&arguments)),
            };
            (name, tool)
        });
        tools.collect()
    }

    fn named<'a>(&self, offer: &'a ToolSnapshot) -> NamedTools<'a> {
        let mut named: BTreeMap<String, &Arc<BoundTool>> = BTreeMap::new();
        let mut problems = Vec::new();
        for (own, _) in offer.definitions().iter() {
            let Some(tool) = offer.tools.get(own).filter(|tool| self.matcher.matches(own, tool.definition())) else {
                continue;
            };
            let new_name = self.new_name(own);
            if let Err(error) = name::check(&new_name) {
                problems.push(BuildProblem::of_tool(
                    own,
                    format!("its new name {new_name:?} is invalid: {error}"),
                    RENAME,
                ));
            } else if let Some(other) = named.get(&new_name) {
                let message = format!("its new name `{new_name}` is also the name of `{}`", other.name);
                problems.push(BuildProblem::of_tool(own, message, RENAME));
            } else if let Err(problem) = self.argument_names(tool) {
                problems.push(*problem);
            } else {
                named.insert(new_name, tool);
            }
        }
        (named, problems)
    }

    /// Returns the arguments of a tool that the selection offers under other names, each with its new name.
    fn argument_names(&self, tool: &BoundTool) -> Result<BTreeMap<String, String>, Box<BuildProblem>> {
        let SelectionCriteria { rename_arguments, case, .. } = self.matcher.criteria();
        let (definition, set) = (tool.shown_definition(), rename_arguments.get(&*tool.name));
        let problem = |message: String, remedy: String| Box::new(BuildProblem::of_tool(&tool.name, message, remedy));
        if let Some(unknown) =
            set.into_iter().flatten().map(|(name, _)| name).find(|name| !definition.arguments.contains_key(*name))
        {
            let near = nearest(unknown, definition.arguments.keys().map(String::as_str));
            let remedy = near.first().map_or("remove its new name".to_owned(), |near| format!("is it `{near}`?"));
            return Err(problem(format!("it has no argument `{unknown}`"), remedy));
        }
        let mut taken: Vec<String> = Vec::new();
        let mut renamed = BTreeMap::new();
        for own in definition.arguments.keys() {
            let by_case = || case.map(|case| case.apply(own)).filter(|name| !name.is_empty());
            let new_name = set.and_then(|set| set.get(own).cloned()).or_else(by_case).unwrap_or_else(|| own.clone());
            // The names of a remote tool's arguments may have any form.
            if new_name != *own && !name::is_argument_name(&new_name) {
                return Err(problem(
                    format!("the new name {new_name:?} of `{own}` is invalid"),
                    name::ARGUMENT_NAME.to_owned(),
                ));
            }
            if taken.contains(&new_name) {
                let message = format!("the new name `{new_name}` of `{own}` is the name of another argument");
                return Err(problem(message, RENAME_ARGUMENT.to_owned()));
            }
            let has_alias =
                |(name, argument): &(&String, &Argument)| *name != own && argument.aliases.contains(&new_name);
            if let Some((other, _)) = definition.arguments.iter().find(has_alias) {
                let message = format!("the new name `{new_name}` of `{own}` is an alias of `{other}`");
                return Err(problem(message, "choose another name".to_owned()));
            }
            taken.push(new_name.clone());
            if new_name != *own {
                renamed.insert(own.clone(), new_name);
            }
        }
        Ok(renamed)
    }

    /// Returns the name under which the selection offers a tool.
    fn new_name(&self, own: &str) -> String {
        let SelectionCriteria { rename, case, prefix, .. } = self.matcher.criteria();
        if let Some(new_name) = rename.get(own) {
            return new_name.clone();
        }
        let new_name = case.map_or_else(|| own.to_owned(), |case| case.apply(own));
        prefix.iter().fold(new_name, |name, prefix| format!("{prefix}{name}"))
    }
}

const RENAME: &str = "`rename` one of them";

const RENAME_ARGUMENT: &str = "`rename_argument` one of them";
