//! All tools of a dispatcher, those that are not offered included, and how an offer is made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tool_model::{Manifest, Registration, ToolDefinition, difference};

use super::changes::{Change, NameConflict, RegistryChanges};
use crate::diagnostics::BuildProblem;
use crate::dispatch::{BoundTool, Dependencies, ToolFunction, ToolSnapshot, Tools, bind, no_such_tool};

/// What there is. Held under a lock while it changes; what calls and readers see is the [`ToolSnapshot`] made of it.
#[derive(Clone, Default)]
pub(crate) struct ToolTable {
    tools: Tools,
    /// Linked tools that are not among them.
    not_offered: Vec<&'static Registration>,
    /// Tools made at run time that are offered in the manifest's words, as they were registered.
    in_own_words: BTreeMap<Arc<str>, Arc<BoundTool>>,
    /// The names of tools that stand in the place of linked ones on purpose.
    replacing: BTreeSet<Arc<str>>,
    disabled: BTreeSet<String>,
    version: u64,
}

/// RegistryChanges whose tools are bound: nothing of the application's own has to run for them any more.
pub(crate) struct BoundChanges {
    changes: Vec<Change<Arc<BoundTool>>>,
    problems: Vec<BuildProblem>,
}

/// What changes have done.
#[derive(Default)]
pub(crate) struct AppliedChanges {
    pub(crate) removed: Vec<Arc<ToolDefinition>>,
    /// How many tools were not added, because others had their names.
    pub(crate) kept: usize,
}

impl BoundChanges {
    pub(crate) fn new(changes: RegistryChanges) -> Self {
        let mut problems = Vec::new();
        let mut bound = Vec::with_capacity(changes.all.len());
        for change in changes.all {
            match change {
                Change::Add(tool, taken) => {
                    let (name, source) = (tool.name().to_owned(), tool.source());
                    match tool.bind() {
                        Ok(tool) => bound.push(Change::Add(Arc::new(tool), taken)),
                        Err(message) => problems.push(BuildProblem::of_tool(&name, message, format!("see {source}"))),
                    }
                }
                Change::Remove(name) => bound.push(Change::Remove(name)),
                Change::Clear => bound.push(Change::Clear),
                Change::Enable(name) => bound.push(Change::Enable(name)),
                Change::Disable(name) => bound.push(Change::Disable(name)),
            }
        }
        Self { changes: bound, problems }
    }
}

impl ToolTable {
    /// What is offered of it.
    pub(crate) fn snapshot(&self) -> ToolSnapshot {
        let mut tools = self.tools.clone();
        let disabled = self.disabled.iter().filter(|name| tools.remove(name.as_str()).is_some()).cloned().collect();
        ToolSnapshot::new(tools, self.not_offered.clone(), self.version).with_disabled(disabled)
    }

    /// Whether none of the tools was made at run time.
    pub(crate) fn all_linked(&self) -> bool {
        self.tools.values().all(|tool| is_linked(tool))
    }

    /// The table after those of these changes that can be made, and all that is wrong with the others.
    pub(crate) fn changed(&self, changes: &BoundChanges) -> (Self, AppliedChanges, Vec<BuildProblem>) {
        let mut next = Self { version: self.version + 1, ..self.clone() };
        let mut done = AppliedChanges::default();
        let mut problems = changes.problems.clone();
        for change in &changes.changes {
            match change {
                Change::Add(tool, taken) => next.add(tool, *taken, &mut done, &mut problems),
                Change::Remove(name) => done.removed.extend(next.remove(name)),
                Change::Clear => {
                    next.tools.clear();
                    next.in_own_words.clear();
                    next.replacing.clear();
                    next.disabled.clear();
                }
                Change::Disable(name) => match no_such_tool(name, &next.tools) {
                    None => drop(next.disabled.insert(name.clone())),
                    Some(problem) => problems.push(problem),
                },
                Change::Enable(name) => match no_such_tool(name, &next.tools) {
                    None => drop(next.disabled.remove(name)),
                    Some(problem) => problems.push(problem),
                },
            }
        }
        (next, done, problems)
    }

    fn add(
        &mut self,
        tool: &Arc<BoundTool>,
        taken: NameConflict,
        done: &mut AppliedChanges,
        problems: &mut Vec<BuildProblem>,
    ) {
        let known = self.tools.get(&tool.name).cloned();
        match (known, taken) {
            (Some(known), NameConflict::Refuse) => problems.push(duplicate(&known, tool)),
            (Some(known), NameConflict::Keep) => {
                tracing::warn!("skipped: {}", duplicate(&known, tool));
                done.kept += 1;
            }
            (known, _) => {
                if known.is_some_and(|known| is_linked(&known)) {
                    self.replacing.insert(tool.name.clone());
                }
                self.in_own_words.remove(&tool.name);
                self.tools.insert(tool.name.clone(), tool.clone());
            }
        }
    }

    fn remove(&mut self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.replacing.remove(name);
        self.disabled.remove(name);
        self.in_own_words.remove(name);
        self.tools.remove(name).map(|tool| tool.definition().clone())
    }

    /// The table with the linked tools of a manifest, or without one with all that are linked, and all that is wrong with
    /// them. What was made at run time stays, in the manifest's words if it has some, and otherwise in its own.
    pub(crate) fn loaded(
        &self,
        mut manifest: Option<Manifest>,
        dependencies: &Dependencies,
    ) -> (Self, Vec<BuildProblem>) {
        let taken = manifest.as_mut().map(|manifest| self.take_words(manifest));
        let (words, mut problems) = taken.unwrap_or_default();
        let bound = bind(manifest.as_ref(), dependencies);
        problems.extend(bound.problems);
        let mut tools = bound.tools;
        let mut in_own_words = BTreeMap::new();
        for (name, tool) in self.tools.iter().filter(|(_, tool)| !is_linked(tool)) {
            let own = self.in_own_words.get(name).unwrap_or(tool);
            let tool = match words.get(&**name) {
                Some(entry) => {
                    in_own_words.insert(name.clone(), own.clone());
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
        let next = Self {
            tools,
            in_own_words,
            not_offered: bound.not_offered,
            replacing: self.replacing.clone(),
            disabled: self.disabled.clone(),
            version: self.version + 1,
        };
        (next, problems)
    }

    /// Takes those entries out of a manifest that are of tools made at run time, for which nothing is linked: what they
    /// say in words is what those tools are offered with.
    fn take_words(&self, manifest: &mut Manifest) -> (BTreeMap<String, ToolDefinition>, Vec<BuildProblem>) {
        let mut words = BTreeMap::new();
        let mut problems = Vec::new();
        for (name, tool) in self.tools.iter().filter(|(_, tool)| !is_linked(tool)) {
            let is_its = |entry: &ToolDefinition| entry.handler == tool.definition().handler;
            if !manifest.get(name).is_some_and(is_its) {
                continue;
            }
            let Some(entry) = manifest.remove(name) else { continue };
            match difference(&entry, tool.definition()).as_slice() {
                [] => drop(words.insert(name.to_string(), entry)),
                stale => {
                    let message = format!("the manifest is stale: {}", stale.join("; "));
                    problems.push(BuildProblem::of_tool(name, message, "write the manifest again"));
                }
            }
        }
        (words, problems)
    }
}

fn is_linked(tool: &BoundTool) -> bool {
    matches!(tool.function, ToolFunction::Linked { .. })
}

fn duplicate(known: &BoundTool, other: &BoundTool) -> BuildProblem {
    let message = format!("two tools have this name: {} and {}", known.origin(), other.origin());
    BuildProblem::of_tool(&known.name, message, "give one another name, or `replace` the first")
}
