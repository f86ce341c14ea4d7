//! Where everything comes from.

use std::fmt;

use crate::dispatch::build::problem::short_type;
use crate::dispatch::dispatcher::snapshot::ToolSnapshot;
use crate::dispatch::{BoundTool, Dependencies, InstanceSource, ToolFunction, ValueSource};
use crate::inject::{Injection, Mode};

/// Where each tool's handler, instance and injected values come from. Shown with `{}`.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The tools on offer, sorted by name.
    pub tools: Vec<ToolExplanation>,
    /// Tools that are linked but not in the manifest, or that a lenient dispatcher skipped, each with its handler.
    pub not_offered: Vec<(String, String)>,
}

/// Where one tool's parts come from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolExplanation {
    /// The tool.
    pub name: String,
    /// The function that runs.
    pub handler: String,
    /// The file and line of its annotation.
    pub source: String,
    /// Where the instance comes from; nothing for functions.
    pub instance: Option<String>,
    /// Each injected parameter with its source.
    pub injected: Vec<(String, String)>,
    /// Each argument of type `any` with the reason.
    pub any: Vec<(String, String)>,
    /// Whether the model reads words of the manifest that are not those of the code.
    pub is_reworded: bool,
    /// The name by which it was registered, if a selection has given it another.
    pub renamed: Option<String>,
}

impl Explanation {
    pub(crate) fn of(offer: &ToolSnapshot, dependencies: &Dependencies) -> Self {
        let mut tools: Vec<ToolExplanation> = offer.tools.values().map(|tool| explain(tool, dependencies)).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let not_offered =
            offer.not_offered.iter().map(|tool| (tool.name.to_owned(), tool.handler.to_owned())).collect();
        Self { tools, not_offered }
    }
}

fn explain(tool: &BoundTool, dependencies: &Dependencies) -> ToolExplanation {
    let describe = |(injection, source): &(Injection, ValueSource)| {
        let form = match injection.mode {
            Mode::Clone => "cloned from",
            Mode::Move => "moved out of",
            Mode::Ref => "lent from",
            Mode::Mut => "lent for writing from",
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
        any: unknown(tool),
        is_reworded,
        renamed: tool.is_renamed.then(|| tool.own_name.to_string()),
    }
}

/// Each argument of type `any`, with the reason.
fn unknown(tool: &BoundTool) -> Vec<(String, String)> {
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
            writeln!(f, "{name}\n  not offered: {handler} is linked, but not in the manifest or not fit to be called")?;
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
        if let Some(name) = &self.renamed {
            write!(f, "\n  renamed   from {name}, by a selection")?;
        }
        if self.is_reworded {
            f.write_str("\n  words     the manifest's, which are not those of the code")?;
        }
        Ok(())
    }
}
