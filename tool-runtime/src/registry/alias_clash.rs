//! Aliases of tools that other tools have as names or aliases.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, Tools};

const REMEDY: &str = "remove the alias, or rename one of the tools";

/// An alias of a tool that is also a name or an alias of another tool.
pub(super) struct AliasClash {
    /// The names of both tools.
    pub(super) tools: [Arc<str>; 2],
    pub(super) problem: BuildProblem,
}

/// The names of the tools that have an alias, by alias. Tools that were registered with `replace` may share one.
pub(super) struct AliasOwners {
    owners: HashMap<Arc<str>, Vec<Arc<str>>>,
}

impl AliasOwners {
    pub(super) fn new(tools: &Tools) -> Self {
        let mut all = Self { owners: HashMap::new() };
        tools.values().for_each(|tool| all.add(tool));
        all
    }

    pub(super) fn add(&mut self, tool: &BoundTool) {
        for alias in tool.aliases() {
            self.owners.entry(alias).or_default().push(tool.name.clone());
        }
    }

    pub(super) fn remove(&mut self, tool: &BoundTool) {
        for alias in tool.aliases() {
            if let Some(owners) = self.owners.get_mut(&alias) {
                owners.retain(|owner| *owner != tool.name);
            }
        }
    }

    /// Returns the problem of a tool that shares a name or an alias with another one.
    pub(super) fn clash_of(&self, tool: &BoundTool, tools: &Tools) -> Option<BuildProblem> {
        let is_other = |other: &&Arc<BoundTool>| other.name != tool.name;
        let owner = |alias: &str| self.owners.get(alias)?.iter().filter_map(|name| tools.get(name)).find(is_other);
        let of_alias = tool.aliases().into_iter().find_map(|alias| {
            let clash = |also: String| clash(tool, &alias, &also);
            let named = tools.get(&alias).filter(is_other).map(|named| format!("the name of {}", named.origin()));
            named.or_else(|| owner(&alias).map(|other| alias_of(other))).map(clash)
        });
        of_alias.or_else(|| {
            let message = format!("its name is {}", alias_of(owner(&tool.name)?));
            Some(BuildProblem::of_tool(&tool.name, message, "rename one of them, or use `replace`"))
        })
    }
}

/// Returns every alias that is also the name or an alias of another tool.
pub(super) fn alias_clashes(tools: &Tools) -> Vec<AliasClash> {
    let mut sorted: Vec<&Arc<BoundTool>> = tools.values().collect();
    sorted.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut known: HashMap<Arc<str>, Vec<&BoundTool>> = HashMap::new();
    let mut clashes = Vec::new();
    for tool in sorted {
        for alias in tool.aliases() {
            let mut add = |other: &BoundTool, also: &str| {
                let tools = [tool.name.clone(), other.name.clone()];
                clashes.push(AliasClash { tools, problem: clash(tool, &alias, also) });
            };
            if let Some(named) = tools.get(&alias) {
                add(named, &format!("the name of {}", named.origin()));
                continue;
            }
            let owners = known.entry(alias.clone()).or_default();
            owners.iter().for_each(|other| add(other, &alias_of(other)));
            owners.push(tool);
        }
    }
    clashes
}

fn alias_of(tool: &BoundTool) -> String {
    format!("an alias of `{}`, {}", tool.name, tool.origin())
}

fn clash(tool: &BoundTool, alias: &str, other: &str) -> BuildProblem {
    BuildProblem::of_tool(&tool.name, format!("its alias `{alias}` is also {other}"), REMEDY)
}
