//! Warnings about a dispatcher that can be built: probable mistakes that may be intended.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::Arc;

use tool_model::trace::{UnknownPart, cached};
use tool_model::{TypeSchema, nearest, registrations};

use super::bind::class_of;
use super::problem::{BuildProblem, short_type, with_article};
use super::{Dependencies, ValueSource};
use crate::Policy;
use crate::dispatch::{BoundTool, CallRules, InstanceSource, ToolFunction, ToolSnapshot};
use crate::inject::Injection;

/// Returns the warnings about the tools of a snapshot, sorted by kind.
pub(crate) fn warnings(snapshot: &ToolSnapshot, dependencies: &Dependencies, rules: &CallRules) -> Vec<BuildProblem> {
    let mut tools: Vec<&BoundTool> = snapshot.tools.values().map(|tool| &**tool).collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let mut warnings = DependencyUse::new(&tools, dependencies).unused();
    warnings.extend(approvals_without_confirmer(&tools, rules));
    warnings.extend(tools_without_description(&tools));
    warnings.extend(arguments_of_unknown_form(&tools));
    warnings.extend(limits_of_unknown_tools(&tools, rules));
    warnings
}

/// A call that needs approval is refused if there is nobody to ask.
fn approvals_without_confirmer(tools: &[&BoundTool], rules: &CallRules) -> Option<BuildProblem> {
    if rules.confirm.is_some() || rules.dry_run {
        return None;
    }
    let asks = |tool: &&&BoundTool| match rules.policy {
        Policy::ConfirmSensitive => tool.sensitive,
        Policy::ConfirmAll => true,
        // A function of the application may never ask.
        Policy::Yolo | Policy::Custom(_) => false,
    };
    let names: Vec<String> = tools.iter().filter(asks).map(|tool| tool.name.to_string()).collect();
    (!names.is_empty()).then(|| BuildProblem {
        tools: names,
        message: "calls need approval, and no confirmer is set: they are refused unless a call brings one".to_owned(),
        remedy:
            "add `.confirm(Terminal::default())` or another confirmer; `.confirm(confirm::per_call())` if all calls \
                 bring one, as those over HTTP and MCP do"
                .to_owned(),
    })
}

/// The description is most of what a model knows when it chooses a tool.
fn tools_without_description(tools: &[&BoundTool]) -> Option<BuildProblem> {
    let is_undescribed = |tool: &&&BoundTool| match &tool.function {
        // Most definitions are never computed. The manifest can only describe a tool that has one.
        ToolFunction::Linked { registration, .. } if !registration.description.trim().is_empty() => false,
        _ => tool.definition().description.trim().is_empty(),
    };
    let names: Vec<String> = tools.iter().filter(is_undescribed).map(|tool| tool.name.to_string()).collect();
    (!names.is_empty()).then(|| BuildProblem {
        tools: names,
        message: "no description tells the model what it does".to_owned(),
        remedy: "add a doc comment, or `description = \"..\"`".to_owned(),
    })
}

/// Returns a warning for each part of an argument's type that has no schema: the model has to guess what it accepts. A part
/// that several arguments share is reported once.
fn arguments_of_unknown_form(tools: &[&BoundTool]) -> Vec<BuildProblem> {
    let mut seen = HashSet::new();
    let mut unknown = Vec::new();
    for tool in tools.iter().filter(|tool| tool.has_traced_arguments) {
        let ToolFunction::Linked { registration, .. } = &tool.function else { continue };
        if registration.options.explicit.is_some() {
            continue;
        }
        let types = registration.call.types().arguments;
        for (argument, ty) in registration.arguments.iter().zip(types).filter(|(argument, _)| !argument.details.any) {
            let Some(TypeSchema::Traced(trace)) = ty.schema else { continue };
            for part in cached(trace).unknown_parts() {
                if seen.insert((ty.type_name, part.path.clone())) {
                    let part = UnknownPart { type_name: short_type(&part.type_name), ..part };
                    unknown.push(BuildProblem::of_tool(&tool.name, part.message(argument.name), UnknownPart::REMEDY));
                }
            }
        }
    }
    unknown
}

/// A limit of a tool that does not exist has no effect, unless the tool is registered later.
fn limits_of_unknown_tools(tools: &[&BoundTool], rules: &CallRules) -> Vec<BuildProblem> {
    let limited = rules.limiter.iter().flat_map(|limiter| limiter.tool_names().map(|name| ("Limiter", name)));
    let retried = rules.retries.iter().flat_map(|counter| counter.retries().tool_names().map(|name| ("Retries", name)));
    let is_known = |name: &str| tools.iter().any(|tool| *tool.name == *name);
    let mut unknown: Vec<_> = limited.chain(retried).filter(|(_, name)| !is_known(name)).collect();
    unknown.sort_unstable();
    let warning = |(kind, name): (&str, &str)| {
        let near =
            nearest(name, tools.iter().map(|tool| &*tool.name)).first().map(|near| format!("did you mean `{near}`?"));
        let remedy = near.unwrap_or_else(|| "remove it, or register the tool".to_owned());
        BuildProblem::general(format!("a `{kind}` names the tool `{name}`, which does not exist"), remedy)
    };
    unknown.into_iter().map(warning).collect()
}

/// The sources that tools take values from, and the types and names that they want.
struct DependencyUse<'a> {
    dependencies: &'a Dependencies,
    sources: Vec<ValueSource>,
    /// The services that are instances of tool classes, by index.
    instances: Vec<usize>,
    exclusive: Vec<TypeId>,
    parameters: Vec<&'static str>,
    types: Vec<&'static str>,
    /// `true` if a provider or a runtime tool may read any value through its scope.
    has_scope_readers: bool,
}

impl<'a> DependencyUse<'a> {
    fn new(tools: &[&BoundTool], dependencies: &'a Dependencies) -> Self {
        let mut used = Self {
            dependencies,
            sources: Vec::new(),
            instances: Vec::new(),
            exclusive: Vec::new(),
            parameters: Vec::new(),
            types: Vec::new(),
            has_scope_readers: false,
        };
        tools.iter().for_each(|tool| used.add_tool(tool));
        // A class whose service is missing wants it, even if its tools are not offered for that reason.
        used.types.extend(registrations().into_iter().filter_map(class_of).map(|class| class.type_name));
        used.has_scope_readers |= used.sources.iter().any(|source| matches!(source, ValueSource::Provider(_)));
        used
    }

    fn add_tool(&mut self, tool: &BoundTool) {
        self.has_scope_readers |= matches!(tool.function, ToolFunction::Runtime(_));
        match &tool.instance {
            InstanceSource::Shared(instance) => {
                let services = self.dependencies.services.iter();
                self.instances.extend(
                    services
                        .enumerate()
                        .filter_map(|(index, service)| Arc::ptr_eq(&service.value, instance).then_some(index)),
                );
            }
            InstanceSource::Exclusive(service) => self.exclusive.push(service.type_id),
            InstanceSource::PerCall { injections, .. } => self.add_injections(injections),
            InstanceSource::None | InstanceSource::Scope => {}
        }
        self.add_injections(&tool.injections);
        if let Some(preview) = &tool.preview {
            self.add_tool(preview);
        }
    }

    fn add_injections(&mut self, injections: &[(Injection, ValueSource)]) {
        for (injection, source) in injections {
            self.sources.push(*source);
            self.parameters.push(injection.parameter);
            self.types.push(injection.type_name);
        }
    }

    /// Returns a warning for each value, provider and service that nothing uses.
    ///
    /// Providers and runtime tools can read any value through their scope, so values are not judged if there are such
    /// readers. A service is meant for a tool class, and is.
    fn unused(&self) -> Vec<BuildProblem> {
        let mut unused = Vec::new();
        let unnamed = self.dependencies.values.iter().enumerate().filter(|(_, value)| value.name.is_none());
        for ((index, service), (arc, _)) in self.dependencies.services.iter().enumerate().zip(unnamed) {
            let is_injected = [ValueSource::Service(index), ValueSource::Value(arc)]
                .iter()
                .any(|source| self.sources.contains(source));
            if !is_injected && !self.instances.contains(&index) {
                unused.push(self.unused_service("service", service.type_name));
            }
        }
        let exclusive = &self.dependencies.exclusive_services;
        for service in exclusive.iter().filter(|service| !self.exclusive.contains(&service.type_id)) {
            unused.push(self.unused_service("service_mut", service.type_name));
        }
        if self.has_scope_readers {
            return unused;
        }
        for (index, provider) in self.dependencies.providers.iter().enumerate() {
            if !self.sources.contains(&ValueSource::Provider(index)) {
                unused.push(self.unused_value("provide", &provider.name, provider.type_name));
            }
        }
        for (index, value) in self.dependencies.values.iter().enumerate() {
            if let Some(name) = &value.name
                && !self.sources.contains(&ValueSource::Value(index))
            {
                unused.push(self.unused_value("value", name, value.type_name));
            }
        }
        for (type_id, type_name) in &self.dependencies.per_call {
            if !self.sources.contains(&ValueSource::PerCall(*type_id)) {
                let message = format!("no tool uses `.per_call::<{}>()`", short_type(type_name));
                unused.push(BuildProblem::general(message, self.remedy(None, type_name, "remove it")));
            }
        }
        unused
    }

    fn unused_service(&self, method: &str, type_name: &str) -> BuildProblem {
        let message = format!("no tool uses the `{}` of `.{method}(..)`", short_type(type_name));
        let remedy = "remove it, or pass it with `.value(..)` if only providers read it";
        BuildProblem::general(message, self.remedy(None, type_name, remedy))
    }

    fn unused_value(&self, method: &str, name: &str, type_name: &str) -> BuildProblem {
        let message = format!("no tool uses `.{method}({name:?}, ..)`, {}", with_article(&short_type(type_name)));
        BuildProblem::general(message, self.remedy(Some(name), type_name, "remove it"))
    }

    /// Suggests the parameter or type that is probably meant.
    fn remedy(&self, name: Option<&str>, type_name: &str, otherwise: &str) -> String {
        let short = short_type(type_name);
        if let Some(other) = self.types.iter().find(|other| **other != type_name && short_type(other) == short) {
            return format!("`{type_name}` is another type than the wanted `{other}`");
        }
        let parameter = name.and_then(|name| nearest(name, self.parameters.iter().copied()).first().copied());
        if let Some(parameter) = parameter {
            return format!("did you mean the parameter `{parameter}`?");
        }
        let types: Vec<String> = self.types.iter().map(|name| short_type(name)).filter(|name| *name != short).collect();
        match nearest(&short, types.iter().map(String::as_str)).first() {
            Some(near) => format!("did you mean the type `{near}`? Otherwise {otherwise}"),
            None => otherwise.to_owned(),
        }
    }
}
