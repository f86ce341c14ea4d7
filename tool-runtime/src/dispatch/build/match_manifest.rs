//! Matching of manifest entries with linked tools. Each entry must still agree with the code.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tool_model::{Manifest, Registration, ToolDefinition, difference};

use super::problem::BuildProblem;

const WRITE_AGAIN: &str = "write the manifest again";

/// A linked tool that is to be bound.
pub(super) struct MatchedTool {
    pub(super) registration: &'static Registration,
    /// The definition, if it is known already.
    pub(super) definition: OnceLock<Arc<ToolDefinition>>,
}

/// Returns the tools of a manifest and of the `manual` classes whose service was added. `linked` are the tools that can
/// be offered, `all` includes `manual` classes without a service. Both are sorted by name, as a manifest is.
pub(super) fn match_manifest(
    manifest: &Manifest,
    linked: &[&'static Registration],
    all: &[&'static Registration],
    problems: &mut Vec<BuildProblem>,
) -> Vec<MatchedTool> {
    let by_handler = LazyCell::new(|| all.iter().map(|tool| (tool.handler, *tool)).collect::<HashMap<_, _>>());
    let mut matched = Vec::with_capacity(manifest.len());
    let mut rest = linked;
    for (name, entry) in manifest.iter() {
        let passed = rest.iter().take_while(|tool| tool.name < name).count();
        rest = &rest[passed..];
        let mut fitting = rest.iter().take_while(|tool| tool.name == name).filter(|tool| tool.handler == entry.handler);
        match (fitting.next(), fitting.next()) {
            (Some(tool), None) => match merge_definition(entry, tool) {
                Ok(definition) => {
                    matched.push(MatchedTool { registration: tool, definition: OnceLock::from(definition) })
                }
                Err(message) => problems.push(BuildProblem::of_tool(name, message, WRITE_AGAIN)),
            },
            (Some(first), Some(second)) => problems.push(duplicate(first, second)),
            (None, _) => problems.push(match by_handler.get(&*entry.handler) {
                Some(tool) => mismatched(name, entry, tool, manifest),
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
    matched.extend(by_hand.map(|tool| MatchedTool { registration: tool, definition: OnceLock::new() }));
    matched
}

/// Returns the definition of the code with the texts of the manifest, or how the two disagree.
fn merge_definition(entry: &ToolDefinition, tool: &Registration) -> Result<Arc<ToolDefinition>, String> {
    let linked = tool.definition();
    if *entry == linked {
        return Ok(Arc::new(linked));
    }
    match difference(entry, &linked).as_slice() {
        [] => Ok(Arc::new(linked.with_words_of(entry))),
        differences => Err(format!("the manifest is stale: {}", differences.join("; "))),
    }
}

/// Returns the problem of an entry whose handler belongs to a tool of another name, or of a `manual` class.
fn mismatched(name: &str, entry: &ToolDefinition, tool: &Registration, manifest: &Manifest) -> BuildProblem {
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

/// Returns the problem of an entry whose name belongs to another function of the crate, mostly one that was moved.
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

pub(super) fn duplicate(first: &Registration, second: &Registration) -> BuildProblem {
    BuildProblem::of_tool(
        first.name,
        format!(
            "two tools have this name: {} ({}) and {} ({})",
            first.handler, first.source, second.handler, second.source
        ),
        "rename one with `#[tool(name = \"..\")]` or `prefix`",
    )
}
