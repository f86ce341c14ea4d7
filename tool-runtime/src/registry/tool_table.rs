//! The table of all tools of a dispatcher, from which its snapshots are built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tool_model::{Manifest, Registration, ToolDefinition, difference};

use super::alias_clash::{AliasOwners, alias_clashes};
use super::changes::{NameConflict, RegistryChange, RegistryChanges};
use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, Dependencies, ToolFunction, ToolSnapshot, Tools, bind, no_such_tool};

/// All tools of a dispatcher, including disabled ones. Changed under a lock; calls and readers see the [`ToolSnapshot`]
/// built from it.
#[derive(Clone, Default)]
pub(crate) struct ToolTable {
    tools: Tools,
    /// Linked tools that are not in `tools`.
    not_offered: Vec<&'static Registration>,
    /// The original form of each runtime tool whose texts come from the manifest.
    originals: BTreeMap<Arc<str>, Arc<BoundTool>>,
    /// The names of tools that were registered with `replace`. They take precedence over linked tools and aliases.
    replacing: BTreeSet<Arc<str>>,
    disabled: BTreeSet<String>,
    version: u64,
}

/// Changes whose tools are bound. Applying them runs no application code, so it is safe under the lock.
pub(crate) struct BoundChanges {
    changes: Vec<RegistryChange<Arc<BoundTool>>>,
    problems: Vec<BuildProblem>,
}

/// The effect of a batch of changes.
#[derive(Default)]
pub(crate) struct AppliedChanges {
    pub(crate) removed: Vec<Arc<ToolDefinition>>,
    /// The number of tools that were not added because their names were taken.
    pub(crate) kept: usize,
}

impl BoundChanges {
    pub(crate) fn new(changes: RegistryChanges) -> Self {
        let mut problems = Vec::new();
        let mut bound = Vec::with_capacity(changes.all.len());
        for change in changes.all {
            match change {
                RegistryChange::Add(tool, conflict) => {
                    let (name, source) = (tool.name().to_owned(), tool.source());
                    match tool.bind() {
                        Ok(tool) => bound.push(RegistryChange::Add(Arc::new(tool), conflict)),
                        Err(message) => problems.push(BuildProblem::of_tool(&name, message, format!("see {source}"))),
                    }
                }
                RegistryChange::Remove(name) => bound.push(RegistryChange::Remove(name)),
                RegistryChange::Clear => bound.push(RegistryChange::Clear),
                RegistryChange::Enable(name) => bound.push(RegistryChange::Enable(name)),
                RegistryChange::Disable(name) => bound.push(RegistryChange::Disable(name)),
            }
        }
        Self { changes: bound, problems }
    }
}

impl ToolTable {
    /// Builds the snapshot of the offered tools.
    pub(crate) fn snapshot(&self) -> ToolSnapshot {
        let mut tools = self.tools.clone();
        let disabled = self.disabled.iter().filter(|name| tools.remove(name.as_str()).is_some()).cloned().collect();
        ToolSnapshot::new(tools, self.not_offered.clone(), self.version).with_disabled(disabled)
    }

    /// Returns `true` if there are no tools at all, disabled ones included.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns `true` if there are no runtime tools.
    pub(crate) fn all_linked(&self) -> bool {
        self.tools.values().all(|tool| is_linked(tool))
    }

    /// Returns the tools that are not in an earlier table, sorted by name, if they are going to be logged.
    pub(crate) fn added_since(&self, earlier: &Self) -> Vec<Arc<BoundTool>> {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return Vec::new();
        }
        let is_known =
            |tool: &Arc<BoundTool>| earlier.tools.get(&tool.name).is_some_and(|known| Arc::ptr_eq(known, tool));
        let mut added: Vec<_> = self.tools.values().filter(|tool| !is_known(tool)).cloned().collect();
        added.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        added
    }

    /// Returns the table after all valid changes, and the problems of the others.
    pub(crate) fn changed(&self, changes: &BoundChanges) -> (Self, AppliedChanges, Vec<BuildProblem>) {
        let mut next = Self { version: self.version + 1, ..self.clone() };
        let mut done = AppliedChanges::default();
        let mut problems = changes.problems.clone();
        let mut aliases = AliasOwners::new(&next.tools);
        for change in &changes.changes {
            match change {
                RegistryChange::Add(tool, conflict) => match next.add(tool, *conflict, &mut aliases) {
                    Ok(true) => {}
                    Ok(false) => done.kept += 1,
                    Err(problem) => problems.push(*problem),
                },
                RegistryChange::Remove(name) => {
                    let removed = next.remove(name);
                    removed.iter().for_each(|tool| aliases.remove(tool));
                    done.removed.extend(removed.map(|tool| tool.definition().clone()));
                }
                RegistryChange::Clear => {
                    aliases = AliasOwners::new(&Tools::default());
                    next.tools.clear();
                    next.originals.clear();
                    next.replacing.clear();
                    next.disabled.clear();
                }
                RegistryChange::Disable(name) => match no_such_tool(name, &next.tools) {
                    None => drop(next.disabled.insert(name.clone())),
                    Some(problem) => problems.push(problem),
                },
                RegistryChange::Enable(name) => match no_such_tool(name, &next.tools) {
                    None => drop(next.disabled.remove(name)),
                    Some(problem) => problems.push(problem),
                },
            }
        }
        (next, done, problems)
    }

    /// Adds a tool. Returns `false` if the tool that has its name is kept.
    fn add(
        &mut self,
        tool: &Arc<BoundTool>,
        conflict: NameConflict,
        aliases: &mut AliasOwners,
    ) -> Result<bool, Box<BuildProblem>> {
        let known = self.tools.get(&tool.name).cloned();
        let clash = aliases.clash_of(tool, &self.tools);
        let shares_alias = clash.is_some();
        match (known.as_ref().map(|known| duplicate(known, tool)).or(clash), conflict) {
            (Some(problem), NameConflict::Refuse) => return Err(Box::new(problem)),
            (Some(problem), NameConflict::Keep) => {
                tracing::warn!("skipped: {problem}");
                return Ok(false);
            }
            (_, NameConflict::Replace) => {
                // A new version of a runtime tool has no more precedence over linked tools than the tool had.
                if shares_alias || known.as_ref().is_none_or(|known| is_linked(known)) {
                    self.replacing.insert(tool.name.clone());
                }
            }
            (None, _) => {}
        }
        known.iter().for_each(|known| aliases.remove(known));
        aliases.add(tool);
        self.originals.remove(&tool.name);
        self.tools.insert(tool.name.clone(), tool.clone());
        Ok(true)
    }

    fn remove(&mut self, name: &str) -> Option<Arc<BoundTool>> {
        self.replacing.remove(name);
        self.disabled.remove(name);
        self.originals.remove(name);
        self.tools.remove(name)
    }

    /// Returns the table with the linked tools of a manifest, or all linked tools without one, and the problems found.
    ///
    /// Runtime tools stay. Their texts come from the manifest if it has an entry for them.
    pub(crate) fn loaded(
        &self,
        mut manifest: Option<Manifest>,
        dependencies: &Dependencies,
    ) -> (Self, Vec<BuildProblem>) {
        let overrides = manifest.as_mut().map(|manifest| self.take_overrides(manifest));
        let (overrides, mut problems) = overrides.unwrap_or_default();
        let bound = bind(manifest.as_ref(), dependencies);
        problems.extend(bound.problems);
        let mut tools = bound.tools;
        let mut originals = BTreeMap::new();
        for (name, tool) in self.tools.iter().filter(|(_, tool)| !is_linked(tool)) {
            let own = self.originals.get(name).unwrap_or(tool);
            let tool = match overrides.get(&**name) {
                Some(entry) => {
                    originals.insert(name.clone(), own.clone());
                    Arc::new(own.reworded(entry))
                }
                None => own.clone(),
            };
            if let Some(linked) = tools.insert(name.clone(), tool.clone())
                && !self.replacing.contains(name)
            {
                problems.push(duplicate(&linked, &tool));
            }
        }
        let clashes = alias_clashes(&tools).into_iter();
        let refused = clashes.filter(|clash| !clash.tools.iter().any(|name| self.replacing.contains(name)));
        problems.extend(refused.map(|clash| clash.problem));
        let next = Self {
            tools,
            originals,
            not_offered: bound.not_offered,
            replacing: self.replacing.clone(),
            disabled: self.disabled.clone(),
            version: self.version + 1,
        };
        (next, problems)
    }

    /// Removes the entries of runtime tools from a manifest and returns them. Nothing is linked for such an entry; it
    /// only overrides the tool's texts.
    fn take_overrides(&self, manifest: &mut Manifest) -> (BTreeMap<String, ToolDefinition>, Vec<BuildProblem>) {
        let mut overrides = BTreeMap::new();
        let mut problems = Vec::new();
        for (name, tool) in self.tools.iter().filter(|(_, tool)| !is_linked(tool)) {
            let is_of_tool = |entry: &ToolDefinition| entry.handler == tool.definition().handler;
            if !manifest.get(name).is_some_and(is_of_tool) {
                continue;
            }
            let Some(entry) = manifest.remove(name) else { continue };
            match difference(&entry, tool.definition()).as_slice() {
                [] => drop(overrides.insert(name.to_string(), entry)),
                stale => {
                    let message = format!("the manifest is stale: {}", stale.join("; "));
                    problems.push(BuildProblem::of_tool(name, message, "write the manifest again"));
                }
            }
        }
        (overrides, problems)
    }
}

fn is_linked(tool: &BoundTool) -> bool {
    matches!(tool.function, ToolFunction::Linked { .. })
}

fn duplicate(known: &BoundTool, other: &BoundTool) -> BuildProblem {
    let message = format!("two tools have this name: {} and {}", known.origin(), other.origin());
    BuildProblem::of_tool(&known.name, message, "rename one of them, or use `replace`")
}
