//! Aliases of tools that other tools have as names or aliases.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, Tools};

const REMEDY: &str = "remove the alias, or rename one of the tools";

/// Returns a problem for each alias that is also the name or an alias of another tool, with the name of that tool.
pub(super) fn alias_clashes(tools: &Tools) -> Vec<(Arc<str>, BuildProblem)> {
    let mut sorted: Vec<&Arc<BoundTool>> = tools.values().collect();
    sorted.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut known: HashMap<Arc<str>, &BoundTool> = HashMap::new();
    let mut problems = Vec::new();
    for tool in sorted {
        for alias in tool.aliases() {
            if let Some(named) = tools.get(&alias) {
                problems.push((named.name.clone(), clash(tool, &alias, &format!("the name of {}", named.origin()))));
            } else if let Some(other) = known.insert(alias.clone(), tool) {
                let also = format!("an alias of `{}`, {}", other.name, other.origin());
                problems.push((other.name.clone(), clash(tool, &alias, &also)));
            }
        }
    }
    problems
}

/// Returns the problem of a tool that shares a name or an alias with another one.
pub(super) fn clash_of(tool: &BoundTool, tools: &Tools) -> Option<BuildProblem> {
    let own = tool.aliases();
    let others = tools.values().filter(|other| other.name != tool.name);
    others.into_iter().find_map(|other| {
        let aliases = other.aliases();
        if own.contains(&other.name) {
            return Some(clash(tool, &other.name, &format!("the name of {}", other.origin())));
        }
        let shared = aliases.iter().find(|alias| own.contains(alias) || **alias == tool.name)?;
        Some(match **shared == *tool.name {
            true => {
                let message = format!("its name is an alias of `{}`, {}", other.name, other.origin());
                BuildProblem::of_tool(&tool.name, message, "rename one of them, or use `replace`")
            }
            false => clash(tool, shared, &format!("an alias of `{}`, {}", other.name, other.origin())),
        })
    })
}

fn clash(tool: &BoundTool, alias: &str, other: &str) -> BuildProblem {
    BuildProblem::of_tool(&tool.name, format!("its alias `{alias}` is also {other}"), REMEDY)
}
