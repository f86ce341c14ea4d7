//! Which tools a manifest offers: each entry finds the function it names, and must still say what that function is.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tool_model::{Manifest, Registration, ToolDefinition, difference};

use crate::dispatch::BuildProblem;

const WRITE_AGAIN: &str = "write the manifest again";

/// A tool that is to be bound.
pub(crate) struct MatchedTool {
    pub(crate) registration: &'static Registration,
    /// What the model is told of it, where that is known already.
    pub(crate) definition: OnceLock<Arc<ToolDefinition>>,
}

/// The tools of a manifest, and those of services that were given by hand. `linked` are the tools that can be offered,
/// `all` also those of `manual` classes without a service; both are sorted by name, as a manifest is.
pub(crate) fn choose(
    manifest: &Manifest,
    linked: &[&'static Registration],
    all: &[&'static Registration],
    problems: &mut Vec<BuildProblem>,
) -> Vec<MatchedTool> {
    let by_handler = LazyCell::new(|| all.iter().map(|tool| (tool.handler, *tool)).collect::<HashMap<_, _>>());
    let mut chosen = Vec::with_capacity(manifest.len());
    let mut rest = linked;
    for (name, entry) in manifest.iter() {
        let passed = rest.iter().take_while(|tool| tool.name < name).count();
        rest = &rest[passed..];
        let mut fitting = rest.iter().take_while(|tool| tool.name == name).filter(|tool| tool.handler == entry.handler);
        match (fitting.next(), fitting.next()) {
            (Some(tool), None) => match agreed(entry, tool) {
                Ok(definition) => {
                    chosen.push(MatchedTool { registration: tool, definition: OnceLock::from(definition) })
                }
                Err(message) => problems.push(BuildProblem::of_tool(name, message, WRITE_AGAIN)),
            },
            (Some(first), Some(second)) => problems.push(duplicate(first, second)),
            (None, _) => problems.push(match by_handler.get(&*entry.handler) {
                Some(tool) => misfit(name, entry, tool, manifest),
                None => match rest
                    .iter()
                    .find(|tool| tool.name == name && crate_of(tool.handler) == crate_of(&entry.handler))
                {
                    Some(tool) => moved(name, &entry.handler, tool),
                    None => not_linked(name, &entry.handler),
                },
            }),
        }
    }
    let by_hand = linked.iter().filter(|tool| tool.options.manual && manifest.get(tool.name).is_none());
    chosen.extend(by_hand.map(|tool| MatchedTool { registration: tool, definition: OnceLock::new() }));
    chosen
}

/// What the model is told of a tool: what the code is, in the manifest's words.
fn agreed(entry: &ToolDefinition, tool: &Registration) -> Result<Arc<ToolDefinition>, String> {
    let linked = tool.definition();
    if *entry == linked {
        return Ok(Arc::new(linked));
    }
    match difference(entry, &linked).as_slice() {
        [] => Ok(Arc::new(linked.with_words_of(entry))),
        differences => Err(format!("the manifest is stale: {}", differences.join("; "))),
    }
}

/// Why the linked tool with the entry's handler is not the entry's.
fn misfit(name: &str, entry: &ToolDefinition, tool: &Registration, manifest: &Manifest) -> BuildProblem {
    let handler = &entry.handler;
    if tool.name == name {
        let message =
            format!("the manifest offers it, but `{handler}` is of a `manual` class and no instance is given");
        return BuildProblem::of_tool(name, message, "add `.service(..)`, or take it out of the manifest");
    }
    let is_offered_too = manifest.get(tool.name).is_some_and(|other| other.handler == *handler);
    if is_offered_too {
        let message = format!("the manifest has its handler `{handler}` twice, which is called `{}`", tool.name);
        return BuildProblem::of_tool(name, message, WRITE_AGAIN);
    }
    let message = format!("the manifest is stale: its handler `{handler}` is now called `{}`", tool.name);
    BuildProblem::of_tool(name, message, WRITE_AGAIN)
}

/// Another function of the crate has the name; mostly the same one, in another module.
fn moved(name: &str, handler: &str, tool: &Registration) -> BuildProblem {
    let message = format!("the manifest is stale: its handler is now `{}`, not `{handler}`", tool.handler);
    BuildProblem::of_tool(name, message, WRITE_AGAIN)
}

fn not_linked(name: &str, handler: &str) -> BuildProblem {
    let krate = crate_of(handler);
    BuildProblem::of_tool(
        name,
        format!("the manifest offers it, but its handler `{handler}` is not linked"),
        format!(
            "if the crate exists and is never named, the linker drops it: write `use {krate} as _;`; \
             if the handler is gone, write the manifest again"
        ),
    )
}

fn crate_of(handler: &str) -> &str {
    handler.split("::").next().unwrap_or(handler)
}

pub(crate) fn duplicate(first: &Registration, second: &Registration) -> BuildProblem {
    BuildProblem::of_tool(
        first.name,
        format!(
            "two tools have this name: {} ({}) and {} ({})",
            first.handler, first.source, second.handler, second.source
        ),
        "rename one with `#[tool(name = \"..\")]` or `prefix`",
    )
}
