//! Binding: from registrations to tools that can be called.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use tool_model::{KeyValue, Manifest, Registration, ToolDefinition, registrations};

use super::bound_tool::{BoundTool, InstanceSource, ToolFunction};
use super::check_definition::check_definition;
use super::match_manifest::{MatchedTool, duplicate, match_manifest};
use super::problem::{BuildProblem, merge, short_type, with_article};
use super::{Dependencies, ValueSource};
use crate::dispatch::build::dependencies::SourceError;
use crate::dispatch::dispatcher::snapshot::Tools;
use crate::inject::{Injection, InjectionMode};
use crate::shim::{InstanceConstructor, ReceiverKind, Shim, ToolClass};

/// The result of [`bind`].
pub(crate) struct BindOutcome {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
    pub(crate) problems: Vec<BuildProblem>,
}

/// Binds the tools of the manifest, or all linked tools if there is none.
pub(crate) fn bind(manifest: Option<&Manifest>, dependencies: &Dependencies) -> BindOutcome {
    let all = registrations();
    let is_offered = |tool: &&&'static Registration| !tool.options.manual || has_service(tool, dependencies);
    let linked: Vec<&'static Registration> = all.iter().filter(is_offered).copied().collect();
    let constructors = constructors(&linked);
    let mut problems = Vec::new();
    let chosen = match manifest {
        Some(manifest) => match_manifest(manifest, &linked, &all, dependencies, &mut problems),
        None => linked
            .iter()
            .map(|tool| MatchedTool { registration: tool, definition: OnceLock::new(), is_beside_manifest: false })
            .collect(),
    };
    let mut tools = Tools::with_capacity_and_hasher(chosen.len(), FxBuildHasher);
    let mut named: HashMap<&str, &Registration, FxBuildHasher> = HashMap::default();
    for MatchedTool { registration, definition, is_beside_manifest } in chosen {
        // A lenient dispatcher keeps the first.
        match named.entry(registration.name) {
            Entry::Occupied(first) => {
                problems.push(duplicate(first.get(), registration));
                continue;
            }
            Entry::Vacant(new) => drop(new.insert(registration)),
        }
        let before = problems.len();
        let tool = bind_tool(registration, definition, dependencies, &constructors, &mut problems);
        if problems.len() == before
            && let Some(mut tool) = tool
        {
            tool.is_beside_manifest = is_beside_manifest;
            tools.insert(tool.name.clone(), Arc::new(tool));
        }
    }
    let offered = |tool: &&Registration| tools.get(tool.name).is_some_and(|known| known.is_registered_as(tool));
    let not_offered: Vec<_> = linked.into_iter().filter(|tool| !offered(tool)).collect();
    for tool in &not_offered {
        tracing::debug!(tool = tool.name, handler = tool.handler, "tool not offered");
    }
    BindOutcome { tools, not_offered, problems: merge(problems) }
}

fn shim_of(tool: &'static Registration) -> Option<&'static Shim> {
    let call: &'static dyn Any = tool.call;
    call.downcast_ref()
}

pub(super) fn class_of(tool: &'static Registration) -> Option<ToolClass> {
    shim_of(tool)?.needs.class.map(|class| class())
}

fn has_service(tool: &'static Registration, dependencies: &Dependencies) -> bool {
    class_of(tool).is_some_and(|class| {
        let shared = dependencies.services.iter().any(|service| class.accepts(service.type_id));
        shared || dependencies.exclusive_services.iter().any(|service| service.type_id == class.type_id)
    })
}

/// Returns the constructors of all classes. `new` may be in one `impl` block and serve the tools of another.
fn constructors(linked: &[&'static Registration]) -> HashMap<TypeId, InstanceConstructor> {
    let classes = linked.iter().filter_map(|tool| class_of(tool));
    classes.filter_map(|class| class.constructor.map(|constructor| (class.type_id, constructor))).collect()
}

fn bind_tool(
    registration: &'static Registration,
    definition: OnceLock<Arc<ToolDefinition>>,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, InstanceConstructor>,
    problems: &mut Vec<BuildProblem>,
) -> Option<BoundTool> {
    let Some(shim) = shim_of(registration) else {
        let message = format!("{} was registered by another version of this crate", registration.handler);
        problems.push(BuildProblem::of_tool(registration.name, message, "let all crates use the same `tool-runtime`"));
        return None;
    };
    let checked = check_definition(registration, shim, &definition, problems);
    let before = problems.len();
    let mut tool = bind_function(registration, shim, definition, dependencies, constructors, "", problems)?;
    tool.schemas = checked.schemas.map_or_else(OnceLock::new, OnceLock::from);
    tool.has_traced_arguments = checked.has_traced_arguments;
    // A problem of the tool would also be one of its preview, and is reported once.
    let preview: Option<&'static dyn Any> = registration.options.preview.map(|preview| preview as _);
    if let (Some(shim), true) = (preview.and_then(<dyn Any>::downcast_ref), problems.len() == before) {
        let definition = tool.definition.clone();
        let context = "its preview: ";
        let preview = bind_function(registration, shim, definition, dependencies, constructors, context, problems)?;
        check_preview_only_reads(registration, &preview.injections, problems);
        tool.wants_tools |= preview.wants_tools;
        tool.preview = Some(Arc::new(preview));
    }
    Some(tool)
}

/// Binds the function of a tool or of its preview.
fn bind_function(
    registration: &'static Registration,
    shim: &'static Shim,
    definition: OnceLock<Arc<ToolDefinition>>,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, InstanceConstructor>,
    context: &str,
    problems: &mut Vec<BuildProblem>,
) -> Option<BoundTool> {
    let instance = bind_instance(registration, shim, dependencies, constructors, problems);
    let injections = bind_injections(registration, &(shim.needs.injections)(), context, dependencies, problems);
    let instance = instance?;
    check_moved(registration, &instance, &injections, problems);
    let needs_scope = matches!(instance, InstanceSource::PerCall { .. } | InstanceSource::Exclusive(_))
        || injections.iter().any(|(_, source)| matches!(source, ValueSource::Provider(_) | ValueSource::Fact(_)));
    let wants_tools = injections.iter().any(|(_, source)| matches!(source, ValueSource::Tools));
    let name: Arc<str> = registration.name.into();
    Some(BoundTool {
        own_name: name.clone(),
        name,
        is_renamed: false,
        is_beside_manifest: false,
        function: ToolFunction::Linked { registration, shim },
        // Read from the registration, because most definitions are never computed.
        sensitive: registration.options.value("sensitive") == Some(KeyValue::Bool(true)),
        timeout: match registration.options.value("timeout") {
            Some(KeyValue::Millis(time)) => Some(Duration::from_millis(time)),
            _ => None,
        },
        definition,
        schemas: OnceLock::new(),
        shown: None,
        instance,
        injections,
        needs_scope,
        has_traced_arguments: false,
        wants_tools,
        preview: None,
    })
}

fn bind_instance(
    registration: &'static Registration,
    shim: &Shim,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, InstanceConstructor>,
    problems: &mut Vec<BuildProblem>,
) -> Option<InstanceSource> {
    let (Some(class), true) = (shim.needs.class, shim.needs.receiver != ReceiverKind::None) else {
        return Some(InstanceSource::None);
    };
    let class = class();
    let name = short_type(class.type_name);
    let tool = registration.name;
    let shared = dependencies.services.iter().filter(|service| class.accepts(service.type_id)).count();
    let exclusive = dependencies.exclusive_services.iter().filter(|service| service.type_id == class.type_id).count();
    if shared + exclusive > 1 {
        let message = format!("there are several services of type `{name}`");
        problems.push(BuildProblem::of_tool(
            tool,
            message,
            "pass one, as a value, an `Arc` or with `.service_mut(..)`",
        ));
        return None;
    }
    if let Some(service) = dependencies.services.iter().find(|service| class.accepts(service.type_id)) {
        match shim.needs.receiver {
            ReceiverKind::Mut => {
                let message = format!("it takes `&mut self`, but all calls share the `{name}` of `.service(..)`");
                let remedy = "pass it with `.service_mut(..)` instead, which locks it for each call, or take `&self`";
                problems.push(BuildProblem::of_tool(tool, message, remedy));
                return None;
            }
            ReceiverKind::Owned if !class.is_clone => {
                let message = format!(
                    "it takes `self`, but all calls share the `{name}` of `.service(..)`, which is not `Clone`"
                );
                let remedy = format!("derive `Clone` for `{name}`, or take `&self`");
                problems.push(BuildProblem::of_tool(tool, message, remedy));
                return None;
            }
            _ => return Some(InstanceSource::Shared(service.value.clone())),
        }
    }
    if let Some(service) = dependencies.exclusive_services.iter().find(|service| service.type_id == class.type_id) {
        if matches!(shim.needs.receiver, ReceiverKind::Owned | ReceiverKind::Arc) {
            let message = format!("it takes `self`, but the `{name}` of `.service_mut(..)` is only lent to a call");
            problems.push(BuildProblem::of_tool(tool, message, "take `&self` or `&mut self`"));
            return None;
        }
        return Some(InstanceSource::Exclusive(service.clone()));
    }
    let Some(constructor) = constructors.get(&class.type_id).copied() else {
        let message = format!("there is no `{name}` to call it on");
        let remedy = missing_instance_remedy(&name, shim.needs.receiver, class.type_name);
        problems.push(BuildProblem::of_tool(tool, message, remedy));
        return None;
    };
    let context = format!("`{name}::new`: ");
    let before = problems.len();
    let injections = bind_injections(registration, &(constructor.injections)(), &context, dependencies, problems);
    for problem in &mut problems[before..] {
        problem.remedy.push_str(&format!("; or pass one `{name}` for all calls with `.service(..)`"));
    }
    Some(InstanceSource::PerCall { constructor, type_name: class.type_name, injections })
}

fn missing_instance_remedy(name: &str, receiver: ReceiverKind, type_name: &str) -> String {
    if type_name.starts_with("dyn ") {
        return format!("add `.service(Arc::new(..) as Arc<{name}>)`");
    }
    let method = if receiver == ReceiverKind::Mut { "service_mut" } else { "service" };
    format!(
        "add `.{method}(..)` with {}; for a new `{name}` in each call, let `{name}::new` take injected \
         parameters, or write `#[tool_class(per_call)]`",
        with_article(name)
    )
}

/// Finds the source of each injected parameter of a function.
fn bind_injections(
    registration: &Registration,
    injections: &[Injection],
    context: &str,
    dependencies: &Dependencies,
    problems: &mut Vec<BuildProblem>,
) -> Vec<(Injection, ValueSource)> {
    let mut bound = Vec::with_capacity(injections.len());
    for injection in injections {
        match find_source(injection, dependencies) {
            Ok(source) => bound.push((*injection, source)),
            Err((message, remedy)) => {
                let message = format!(
                    "{context}the parameter `{}` of type `{}`: {message}",
                    injection.parameter,
                    short_type(injection.type_name)
                );
                problems.push(BuildProblem::of_tool(registration.name, message, remedy));
            }
        }
    }
    check_modes(registration, context, &bound, dependencies, problems);
    bound
}

/// Finds the source of a parameter, by name first, then by type.
fn find_source(injection: &Injection, dependencies: &Dependencies) -> Result<ValueSource, (String, String)> {
    let Injection { parameter, type_id, arc_type_id, type_name, mode } = *injection;
    let (lends, is_exclusive) = (mode == InjectionMode::Ref, mode == InjectionMode::Mut);
    let wanted = short_type(type_name);
    if let Some((source, its_type, its_name)) = dependencies.by_name(parameter) {
        if its_type == type_id || is_exclusive && dependencies.lends(source, type_id) {
            return Ok(source);
        }
        // Types with the same short name are distinguished by their paths.
        let is_same = short_type(its_name) == wanted;
        let (its_name, wanted) =
            if is_same { (its_name.to_owned(), type_name.to_owned()) } else { (short_type(its_name), wanted) };
        let message = format!("{} is {}", dependencies.describe(source), with_article(&its_name));
        let mut remedy = format!("provide {} as {parameter:?}, or rename the parameter", with_article(&wanted));
        if is_exclusive && matches!(source, ValueSource::Provider(_)) {
            remedy.push_str(&format!(
                "; if it contains the `{wanted}`, `.lend({parameter:?}, |value: &mut {its_name}| ..)`"
            ));
        }
        return Err((message, remedy));
    }
    let by_type = dependencies.by_type(type_id, lends.then_some(arc_type_id), type_name);
    by_type.or_else(|error| if is_exclusive { dependencies.lender(type_id, error) } else { Err(error) }).map_err(|error| {
        let remedy = match error {
            SourceError::NotProvided { .. } => {
                let add = format!(
                    "add `.provide({parameter:?}, |scope| async move {{ .. }})`, `.value({parameter:?}, ..)`, \
                     or `.per_call::<{wanted}>()` with `.with(..)` at each call"
                );
                let lend = match dependencies.providers.first() {
                    Some(provider) if is_exclusive => format!(
                        "; if a provided value contains it, as in a transaction, `.lend({:?}, |value: &mut {}| ..)`",
                        provider.name,
                        short_type(provider.type_name)
                    ),
                    _ => String::new(),
                };
                match dependencies.near_miss(parameter, arc_type_id) {
                    Some(near) => format!("{near} Otherwise {add}{lend}"),
                    None => add + &lend,
                }
            }
            SourceError::Ambiguous { .. } => {
                format!("call the parameter like the one that is meant, or provide one as {parameter:?}")
            }
        };
        (error.to_string(), remedy)
    })
}

/// Rejects a preview that takes or changes a per-call value, which belongs to the handler.
fn check_preview_only_reads(
    registration: &Registration,
    of_preview: &[(Injection, ValueSource)],
    problems: &mut Vec<BuildProblem>,
) {
    for (injection, source) in of_preview {
        if matches!(source, ValueSource::PerCall(_))
            && matches!(injection.mode, InjectionMode::Mut | InjectionMode::Move)
        {
            let (parameter, wanted) = (injection.parameter, short_type(injection.type_name));
            let message = format!("its preview: `{parameter}` came with the call, for the tool itself");
            let remedy = format!("take `&{wanted}` in the preview, or derive `Clone` for `{wanted}`");
            problems.push(BuildProblem::of_tool(registration.name, message, remedy));
        }
    }
}

/// Rejects a method parameter whose value `new` has moved out.
fn check_moved(
    registration: &Registration,
    instance: &InstanceSource,
    injections: &[(Injection, ValueSource)],
    problems: &mut Vec<BuildProblem>,
) {
    let InstanceSource::PerCall { injections: of_constructor, .. } = instance else { return };
    for (moved, source) in of_constructor.iter().filter(|(injection, _)| injection.mode == InjectionMode::Move) {
        for (wanted, _) in injections.iter().filter(|(_, other)| other == source) {
            let message =
                format!("the parameter `{}` wants what `new` has taken as `{}`", wanted.parameter, moved.parameter);
            let remedy = format!("let `new` take `&{0}`, or derive `Clone` for `{0}`", short_type(moved.type_name));
            problems.push(BuildProblem::of_tool(registration.name, message, remedy));
        }
    }
}

/// Rejects parameters whose mode the source of their value does not support.
fn check_modes(
    registration: &Registration,
    context: &str,
    bound: &[(Injection, ValueSource)],
    dependencies: &Dependencies,
    problems: &mut Vec<BuildProblem>,
) {
    let mut report = |message: String, remedy: String| {
        problems.push(BuildProblem::of_tool(registration.name, format!("{context}{message}"), remedy));
    };
    for (index, (injection, source)) in bound.iter().enumerate() {
        let parameter = injection.parameter;
        let wanted = short_type(injection.type_name);
        let shared = matches!(source, ValueSource::Value(_) | ValueSource::Service(_) | ValueSource::Progress);
        match injection.mode {
            InjectionMode::Mut if shared => report(
                format!(
                    "`{parameter}: &mut {wanted}` cannot be borrowed mutably: all calls share {}",
                    dependencies.describe(*source)
                ),
                format!("take `&{wanted}`, or make one for each call with `.provide({parameter:?}, ..)`"),
            ),
            InjectionMode::Move if shared => report(
                format!(
                    "`{parameter}: {wanted}` cannot be moved out: all calls share {}",
                    dependencies.describe(*source)
                ),
                format!(
                    "take `&{wanted}`, derive `Clone` for it, or make one for each call with `.provide({parameter:?}, ..)`"
                ),
            ),
            InjectionMode::Move if is_finished(*source, dependencies) => report(
                format!("`{parameter}: {wanted}` is moved into the handler, but `.finish(..)` wants it back"),
                format!("take `&mut {wanted}`, or derive `Clone` for it"),
            ),
            _ => {}
        }
        let conflicting = bound[..index]
            .iter()
            .find(|(other, other_source)| other_source == source && conflict(other.mode, injection.mode));
        if let Some((other, _)) = conflicting {
            report(
                format!(
                    "the parameters `{}` and `{parameter}` want the same value, {}, and one of them for itself",
                    other.parameter,
                    dependencies.describe(*source)
                ),
                "take it once, or provide two".to_owned(),
            );
        }
    }
}

fn is_finished(source: ValueSource, dependencies: &Dependencies) -> bool {
    matches!(source, ValueSource::Provider(index) if dependencies.providers[index].finish.is_some())
}

/// Returns `true` if two parameters cannot share a value: one that is moved out or lent for writing is exclusive. Clones
/// are made before the value is lent.
fn conflict(one: InjectionMode, other: InjectionMode) -> bool {
    let exclusive = |mode| matches!(mode, InjectionMode::Mut | InjectionMode::Move);
    let copied = |mode| mode == InjectionMode::Clone;
    (exclusive(one) || exclusive(other))
        && !(copied(one) && other == InjectionMode::Mut)
        && !(copied(other) && one == InjectionMode::Mut)
}
