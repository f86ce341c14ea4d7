//! Matching of manifest entries with linked tools. Each entry must still agree with the code.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use tool_model::{Manifest, Registration, ToolDefinition, difference, nearest};

use super::Dependencies;
use super::bind::class_of;
use super::problem::{BuildProblem, short_type};
use crate::manifest::{class_path, crate_of};
use crate::shim::ToolClass;

const WRITE_AGAIN: &str = "write the manifest again: `tool-gen write`, or build again if a build script writes it";

/// A linked tool that is to be bound.
pub(super) struct MatchedTool {
    pub(super) registration: &'static Registration,
    /// The definition, if it is known already.
    pub(super) definition: OnceLock<Arc<ToolDefinition>>,
    /// Set if a manifest is used that does not list the tool.
    pub(super) is_beside_manifest: bool,
}

/// Returns the tools of a manifest, and those that are offered beside it. `linked` are the tools that can be offered,
/// `all` includes `manual` classes without a service. Both are sorted by name, as a manifest is.
pub(super) fn match_manifest(
    manifest: &Manifest,
    linked: &[&'static Registration],
    all: &[&'static Registration],
    dependencies: &Dependencies,
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
            (Some(tool), second) => {
                problems.extend(second.map(|second| duplicate(tool, second)));
                match merge_definition(entry, tool) {
                    Ok(definition) => matched.push(MatchedTool {
                        registration: tool,
                        definition: OnceLock::from(definition),
                        is_beside_manifest: false,
                    }),
                    Err(message) => problems.push(BuildProblem::of_tool(name, message, WRITE_AGAIN)),
                }
            }
            (None, _) => problems.push(match by_handler.get(&*entry.handler) {
                Some(tool) => mismatched(name, entry, tool, manifest),
                None => match rest
                    .iter()
                    .find(|tool| tool.name == name && crate_of(tool.handler) == crate_of(&entry.handler))
                {
                    Some(tool) => moved(name, &entry.handler, tool),
                    None => not_linked(name, &entry.handler, all, manifest),
                },
            }),
        }
    }
    let beside = linked.iter().filter(|tool| !is_listed(manifest, tool) && is_beside_manifest(tool, dependencies));
    matched.extend(beside.map(|tool| MatchedTool {
        registration: tool,
        definition: OnceLock::new(),
        is_beside_manifest: true,
    }));
    problems.extend(unlisted_services(manifest, linked, dependencies));
    matched
}

/// Returns `true` if the manifest has an entry for the tool, and not only for another one with its name.
fn is_listed(manifest: &Manifest, tool: &Registration) -> bool {
    manifest.get(tool.name).is_some_and(|entry| entry.handler == tool.handler)
}

/// Returns `true` for a tool of a service that was passed to `.also(..)`.
fn is_beside_manifest(tool: &'static Registration, dependencies: &Dependencies) -> bool {
    let is_of = |class: ToolClass| dependencies.beside_manifest.iter().any(|service| class.accepts(*service));
    !dependencies.beside_manifest.is_empty() && class_of(tool).is_some_and(is_of)
}

/// Returns a problem for each `manual` class with a service that the manifest lists no tool of: the service was passed so
/// that its tools are offered. If it lists some of them, it has made a choice.
fn unlisted_services(
    manifest: &Manifest,
    linked: &[&'static Registration],
    dependencies: &Dependencies,
) -> Vec<BuildProblem> {
    let mut classes: Vec<(ToolClass, Vec<&Registration>)> = Vec::new();
    for tool in linked.iter().filter(|tool| tool.options.manual && !is_beside_manifest(tool, dependencies)) {
        let Some(class) = class_of(tool) else { continue };
        match classes.iter_mut().find(|(known, _)| known.type_id == class.type_id) {
            Some((_, tools)) => tools.push(tool),
            None => classes.push((class, vec![tool])),
        }
    }
    classes.retain(|(_, tools)| !tools.iter().any(|tool| is_listed(manifest, tool)));
    classes.iter().map(|(class, tools)| unlisted_service(class, tools, dependencies)).collect()
}

fn unlisted_service(class: &ToolClass, tools: &[&Registration], dependencies: &Dependencies) -> BuildProblem {
    let is_shared = dependencies.services.iter().any(|service| class.accepts(service.type_id));
    let method = if is_shared { "service" } else { "service_mut" };
    let message =
        format!("the manifest lists none of the tools of the `{}` of `.{method}(..)`", short_type(class.type_name));
    let classes: BTreeSet<String> = tools.iter().filter_map(|tool| class_path(tool.handler)).collect();
    let flags: String = classes.iter().map(|class| format!(" --with {class}")).collect();
    let write = format!("write them into the manifest with `tool-gen write{flags}`");
    let remedy = match is_shared {
        true => format!("{write}, or offer them beside it with `.also(..)` in place of `.service(..)`"),
        false => write,
    };
    BuildProblem {
        tools: tools.iter().map(|tool| tool.name.to_owned()).collect(),
        ..BuildProblem::general(message, remedy)
    }
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

/// Returns the problem of an entry whose handler does not exist. If other tools of its crate are linked, it was removed or
/// renamed.
fn not_linked(name: &str, handler: &str, all: &[&'static Registration], manifest: &Manifest) -> BuildProblem {
    let krate = crate_of(handler);
    let message = format!("the manifest offers it, but its handler `{handler}` is not linked");
    let mut of_crate = all.iter().filter(|tool| crate_of(tool.handler) == krate).map(|tool| tool.name).peekable();
    if of_crate.peek().is_none() {
        let remedy = format!(
            "if the crate exists and is never named, the linker drops it: write `use {krate} as _;`; \
             if the handler is gone, {WRITE_AGAIN}"
        );
        return BuildProblem::of_tool(name, message, remedy);
    }
    let unlisted: Vec<&str> = of_crate.filter(|tool| manifest.get(tool).is_none()).collect();
    let remedy = match nearest(name, unlisted.iter().copied()).first() {
        Some(near) => format!("renamed to `{near}`? Then {WRITE_AGAIN}"),
        None => format!("it was removed or renamed: {WRITE_AGAIN}"),
    };
    BuildProblem::of_tool(name, message, remedy)
}

pub(super) fn duplicate(first: &Registration, second: &Registration) -> BuildProblem {
    BuildProblem::of_tool(
        first.name,
        format!(
            "two tools have this name: {} ({}) and {} ({})",
            first.handler, first.source, second.handler, second.source
        ),
        "rename one with `#[tool(name = \"..\")]` or `prefix`; `.lenient()` keeps the first",
    )
}
