//! Reports on the sources of handlers, instances and injected values.

use std::fmt;

use crate::dispatch::build::problem::short_type;
use crate::dispatch::dispatcher::snapshot::ToolSnapshot;
use crate::dispatch::{BoundTool, BuildProblem, Dependencies, InstanceSource, ToolFunction, ValueSource};
use crate::inject::{Injection, InjectionMode};

/// The sources of each tool's handler, instance and injected values. Print it with `{}`.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The tools, sorted by name.
    pub tools: Vec<ToolExplanation>,
    /// The tools that are linked but not in the manifest, or that a lenient dispatcher skipped, with their handlers.
    pub not_offered: Vec<(String, String)>,
    /// The warnings that [`Builder::build`](crate::Builder::build) logs, for the tools of now.
    pub warnings: Vec<BuildProblem>,
}

/// The sources of one tool's parts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolExplanation {
    /// The name of the tool.
    pub name: String,
    /// The path of the handler.
    pub handler: String,
    /// The file and line of its annotation.
    pub source: String,
    /// The source of the instance; `None` for functions.
    pub instance: Option<String>,
    /// Each injected parameter with its source.
    pub injected: Vec<(String, String)>,
    /// Each argument of type `any` with the reason.
    pub any: Vec<(String, String)>,
    /// `true` if [`Builder::also`](crate::Builder::also) offers the tool, and the manifest does not list it.
    pub is_beside_manifest: bool,
    /// `true` if the manifest replaces texts of the code.
    pub is_reworded: bool,
    /// The name in the registry, if a selection has renamed the tool.
    pub renamed: Option<String>,
}

impl Explanation {
    pub(crate) fn new(snapshot: &ToolSnapshot, dependencies: &Dependencies, warnings: Vec<BuildProblem>) -> Self {
        let mut tools: Vec<ToolExplanation> = snapshot.tools.values().map(|tool| explain(tool, dependencies)).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let not_offered =
            snapshot.not_offered.iter().map(|tool| (tool.name.to_owned(), tool.handler.to_owned())).collect();
        Self { tools, not_offered, warnings }
    }
}

fn explain(tool: &BoundTool, dependencies: &Dependencies) -> ToolExplanation {
    let describe = |(injection, source): &(Injection, ValueSource)| {
        let form = match injection.mode {
            InjectionMode::Clone => "cloned from",
            InjectionMode::Move => "moved out of",
            InjectionMode::Ref => "lent from",
            InjectionMode::Mut => "lent for writing from",
        };
        let parameter = format!("{}: {}", injection.parameter, short_type(injection.type_name));
        (parameter, format!("{form} {}", dependencies.describe(*source)))
    };
    let (instance, of_constructor) = match &tool.instance {
        InstanceSource::None | InstanceSource::Scope => (None, &[] as &[_]),
        InstanceSource::Shared(_) => (Some("one for all calls, from `.service(..)`".to_owned()), &[] as &[_]),
        InstanceSource::Exclusive(_) => {
            (Some("one for all calls, locked for each, from `.service_mut(..)`".to_owned()), &[] as &[_])
        }
        InstanceSource::PerCall { type_name, injections, .. } => {
            (Some(format!("one for each call, from `{}::new`", short_type(type_name))), injections.as_slice())
        }
    };
    let (source, is_reworded) = match &tool.function {
        ToolFunction::Linked { registration, .. } => {
            (registration.source.to_string(), **tool.definition() != registration.definition())
        }
        ToolFunction::Runtime(function) => (function.source.clone(), false),
    };
    ToolExplanation {
        name: tool.name.to_string(),
        handler: tool.definition().handler.clone(),
        source,
        instance,
        injected: of_constructor.iter().chain(&tool.injections).map(describe).collect(),
        any: untyped_arguments(tool),
        is_beside_manifest: tool.is_beside_manifest,
        is_reworded,
        renamed: tool.is_renamed.then(|| tool.own_name.to_string()),
    }
}

/// Returns each argument of type `any`, with the reason.
fn untyped_arguments(tool: &BoundTool) -> Vec<(String, String)> {
    let arguments = &tool.definition().arguments;
    let ToolFunction::Linked { registration, .. } = &tool.function else {
        let any = arguments.iter().filter(|(_, argument)| argument.is_any());
        return any.map(|(name, _)| (name.clone(), "its schema takes any value".to_owned())).collect();
    };
    let types = registration.call.types().arguments;
    let reasons = registration.arguments.iter().zip(types).filter_map(|(argument, ty)| {
        let described = arguments.get(argument.name)?;
        let reason = match ty.schema {
            None => format!("`{}` has no `JsonSchema`", short_type(ty.type_name)),
            Some(_) => format!("`{}` takes any value", short_type(ty.type_name)),
        };
        described.is_any().then(|| (argument.name.to_owned(), reason))
    });
    reasons.collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for tool in &self.tools {
            writeln!(f, "{tool}")?;
        }
        for (name, handler) in &self.not_offered {
            writeln!(f, "{name}\n  not offered: {handler} is linked, but not in the manifest or cannot be bound")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ToolExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  handler   {} ({})", self.name, self.handler, self.source)?;
        if let Some(instance) = &self.instance {
            write!(f, "\n  instance  {instance}")?;
        }
        for (parameter, source) in &self.injected {
            write!(f, "\n  injected  {parameter}, {source}")?;
        }
        for (argument, reason) in &self.any {
            write!(f, "\n  any       {argument}: {reason}")?;
        }
        if self.is_beside_manifest {
            f.write_str("\n  offered   beside the manifest, by `.also(..)`")?;
        }
        if let Some(name) = &self.renamed {
            write!(f, "\n  renamed   from {name}, by a selection")?;
        }
        if self.is_reworded {
            f.write_str("\n  texts     from the manifest, not from the code")?;
        }
        Ok(())
    }
}
