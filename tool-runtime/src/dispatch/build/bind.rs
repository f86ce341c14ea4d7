//! From registrations to tools that can be called: each bound to its instance and its injected values.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use tool_model::{KeyValue, Manifest, Registration, ToolDefinition, registrations};

use crate::arguments::Schemas;
use crate::dispatch::build::check_definition::check_promises;
use crate::dispatch::build::dependencies::ExclusiveService;
use crate::dispatch::build::match_manifest::{MatchedTool, choose, duplicate};
use crate::dispatch::build::problem::{merge, short_type};
use crate::dispatch::dispatcher::snapshot::Tools;
use crate::dispatch::{BuildProblem, Dependencies, ValueSource};
use crate::inject::{Injection, Mode};
use crate::runtime_tool::RuntimeFunction;
use crate::shim::{Class, Constructor, Invocation, Receiver, Shim, Step};
use crate::{Context, ToolCall};

/// A tool with everything a call needs.
pub(crate) struct BoundTool {
    /// The name by which it is called.
    pub(crate) name: Arc<str>,
    /// The name by which it was registered.
    pub(crate) own_name: Arc<str>,
    /// Whether the two differ.
    pub(crate) is_renamed: bool,
    pub(crate) function: ToolFunction,
    pub(crate) sensitive: bool,
    definition: OnceLock<Arc<ToolDefinition>>,
    schemas: OnceLock<Schemas>,
    pub(crate) instance: InstanceSource,
    pub(crate) injections: Vec<(Injection, ValueSource)>,
    /// Whether a call must make something first, so that it needs a scope.
    pub(crate) needs_scope: bool,
    /// Whether it asks for the dispatcher that runs it.
    pub(crate) wants_tools: bool,
    pub(crate) timeout: Option<Duration>,
    /// What says what a call would do: bound like a tool, with the same name and arguments.
    pub(crate) preview: Option<Arc<BoundTool>>,
}

/// What runs.
#[derive(Clone)]
pub(crate) enum ToolFunction {
    /// An annotated function.
    Linked { registration: &'static Registration, shim: &'static Shim },
    /// TurnCall that was given at run time.
    Runtime(Arc<RuntimeFunction>),
}

impl BoundTool {
    /// A tool that was made at run time. What its handler needs it takes from its scope.
    pub(crate) fn runtime(name: Arc<str>, definition: Arc<ToolDefinition>, function: Arc<RuntimeFunction>) -> Self {
        Self {
            own_name: name.clone(),
            name,
            is_renamed: false,
            sensitive: definition.sensitive,
            timeout: definition.timeout,
            definition: OnceLock::from(definition),
            schemas: OnceLock::new(),
            function: ToolFunction::Runtime(function),
            instance: InstanceSource::Scope,
            injections: Vec::new(),
            needs_scope: true,
            wants_tools: true,
            preview: None,
        }
    }

    /// The same tool, to be called by another name.
    pub(crate) fn renamed(&self, name: Arc<str>) -> Self {
        Self {
            is_renamed: name != self.own_name,
            name: name.clone(),
            own_name: self.own_name.clone(),
            function: self.function.clone(),
            sensitive: self.sensitive,
            definition: self.definition.clone(),
            schemas: OnceLock::new(),
            instance: self.instance.clone(),
            injections: self.injections.clone(),
            needs_scope: self.needs_scope,
            wants_tools: self.wants_tools,
            timeout: self.timeout,
            preview: self.preview.as_ref().map(|preview| Arc::new(preview.renamed(name))),
        }
    }

    /// The same tool in the words of a manifest's entry that agrees with it.
    pub(crate) fn reworded(&self, entry: &ToolDefinition) -> Self {
        let definition = ToolDefinition::clone(self.definition()).with_words_of(entry);
        Self { definition: OnceLock::from(Arc::new(definition)), ..self.renamed(self.name.clone()) }
    }

    /// Returns the [`Context`] of a call of this tool.
    pub(crate) fn context_of(&self, call: &ToolCall<'_>) -> Context {
        Context { called: self.is_renamed.then(|| self.name.clone()), ..call.context() }
    }

    /// Decodes the arguments of a call and runs the function as far as it goes.
    #[inline(always)]
    pub(crate) fn invoke(&self, invocation: Invocation<'_>) -> Step {
        match &self.function {
            ToolFunction::Linked { shim, .. } => (shim.invoke)(invocation),
            ToolFunction::Runtime(function) => function.invoke(invocation),
        }
    }

    /// How long its handler may take to say what became of a call that is stopped, where that cannot be told from the
    /// handler's end.
    pub(crate) fn stop_grace(&self) -> Option<Duration> {
        match &self.function {
            ToolFunction::Linked { .. } => None,
            ToolFunction::Runtime(function) => function.stop_grace,
        }
    }

    /// What is known of its arguments, made when it is first needed.
    #[inline]
    pub(crate) fn schemas(&self) -> &Schemas {
        self.schemas.get_or_init(|| match &self.function {
            ToolFunction::Linked { registration, .. } => Schemas::new(registration, self.definition().clone()),
            ToolFunction::Runtime(function) => function.schemas(self.definition().clone()),
        })
    }

    /// What the model is told of it, made when it is first needed.
    pub(crate) fn definition(&self) -> &Arc<ToolDefinition> {
        self.definition.get_or_init(|| match &self.function {
            ToolFunction::Linked { registration, .. } => Arc::new(registration.definition()),
            ToolFunction::Runtime(_) => Arc::default(),
        })
    }

    fn is_of(&self, other: &Registration) -> bool {
        matches!(&self.function, ToolFunction::Linked { registration, .. } if registration.handler == other.handler)
    }

    pub(crate) fn description(&self) -> &str {
        match &self.function {
            ToolFunction::Linked { registration, .. } => registration.description,
            ToolFunction::Runtime(_) => &self.definition().description,
        }
    }

    /// The function, and where it was annotated or given.
    pub(crate) fn origin(&self) -> String {
        match &self.function {
            ToolFunction::Linked { registration, .. } => format!("{} ({})", registration.handler, registration.source),
            ToolFunction::Runtime(function) => format!("{} ({})", self.definition().handler, function.source),
        }
    }
}

/// Where the instance of a method comes from.
#[derive(Clone)]
pub(crate) enum InstanceSource {
    None,
    /// There is none; the function takes what it needs from its scope.
    Scope,
    Shared(Arc<dyn Any + Send + Sync>),
    /// One for all calls, locked for each.
    Exclusive(ExclusiveService),
    PerCall {
        constructor: Constructor,
        type_name: &'static str,
        injections: Vec<(Injection, ValueSource)>,
    },
}

/// What binding gives.
pub(crate) struct BindOutcome {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
    pub(crate) problems: Vec<BuildProblem>,
}

/// Binds the tools of the manifest, or without one all that are linked.
pub(crate) fn bind(manifest: Option<&Manifest>, dependencies: &Dependencies) -> BindOutcome {
    let all = registrations();
    let is_offered = |tool: &&&'static Registration| !tool.options.manual || has_service(tool, dependencies);
    let linked: Vec<&'static Registration> = all.iter().filter(is_offered).copied().collect();
    let constructors = constructors(&linked);
    let mut problems = Vec::new();
    let chosen = match manifest {
        Some(manifest) => choose(manifest, &linked, &all, &mut problems),
        None => linked.iter().map(|tool| MatchedTool { registration: tool, definition: OnceLock::new() }).collect(),
    };
    let mut tools = Tools::with_capacity_and_hasher(chosen.len(), FxBuildHasher);
    let mut named: HashMap<&str, &Registration, FxBuildHasher> = HashMap::default();
    for MatchedTool { registration, definition } in chosen {
        if let Some(known) = named.insert(registration.name, registration) {
            problems.push(duplicate(known, registration));
            tools.remove(registration.name);
            continue;
        }
        let before = problems.len();
        let tool = bind_tool(registration, definition, dependencies, &constructors, &mut problems);
        if problems.len() == before
            && let Some(tool) = tool
        {
            tools.insert(tool.name.clone(), Arc::new(tool));
        }
    }
    let offered = |tool: &&Registration| tools.get(tool.name).is_some_and(|known| known.is_of(tool));
    let not_offered = linked.into_iter().filter(|tool| !offered(tool)).collect();
    BindOutcome { tools, not_offered, problems: merge(problems) }
}

fn shim_of(tool: &'static Registration) -> Option<&'static Shim> {
    let call: &'static dyn Any = tool.call;
    call.downcast_ref()
}

fn class_of(tool: &'static Registration) -> Option<Class> {
    shim_of(tool)?.needs.class.map(|class| class())
}

fn has_service(tool: &'static Registration, dependencies: &Dependencies) -> bool {
    class_of(tool).is_some_and(|class| {
        let shared = dependencies.services.iter().any(|service| class.accepts(service.type_id));
        shared || dependencies.exclusive_services.iter().any(|service| service.type_id == class.type_id)
    })
}

/// The constructors of all classes. `new` may stand in one `impl` block and serve the tools of another.
fn constructors(linked: &[&'static Registration]) -> HashMap<TypeId, Constructor> {
    let classes = linked.iter().filter_map(|tool| class_of(tool));
    classes.filter_map(|class| class.constructor.map(|constructor| (class.type_id, constructor))).collect()
}

fn bind_tool(
    registration: &'static Registration,
    definition: OnceLock<Arc<ToolDefinition>>,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, Constructor>,
    problems: &mut Vec<BuildProblem>,
) -> Option<BoundTool> {
    let Some(shim) = shim_of(registration) else {
        let message = format!("{} was registered by another version of this crate", registration.handler);
        problems.push(BuildProblem::of_tool(registration.name, message, "let all crates use the same `tool-runtime`"));
        return None;
    };
    let tried = check_promises(registration, shim, &definition, problems);
    let before = problems.len();
    let mut tool = bind_function(registration, shim, definition, dependencies, constructors, "", problems)?;
    tool.schemas = tried.map_or_else(OnceLock::new, OnceLock::from);
    // What is wrong with the tool would be wrong with its preview too, and is said once.
    let preview: Option<&'static dyn Any> = registration.options.preview.map(|preview| preview as _);
    if let (Some(shim), true) = (preview.and_then(<dyn Any>::downcast_ref), problems.len() == before) {
        let definition = tool.definition.clone();
        let context = "its preview: ";
        let preview = bind_function(registration, shim, definition, dependencies, constructors, context, problems)?;
        check_only_looks(registration, &preview.injections, problems);
        tool.wants_tools |= preview.wants_tools;
        tool.preview = Some(Arc::new(preview));
    }
    Some(tool)
}

/// Binds the function of a tool, or that of its preview.
fn bind_function(
    registration: &'static Registration,
    shim: &'static Shim,
    definition: OnceLock<Arc<ToolDefinition>>,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, Constructor>,
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
        function: ToolFunction::Linked { registration, shim },
        // From the registration: most definitions are never made.
        sensitive: registration.options.value("sensitive") == Some(KeyValue::Bool(true)),
        timeout: match registration.options.value("timeout") {
            Some(KeyValue::Millis(time)) => Some(Duration::from_millis(time)),
            _ => None,
        },
        definition,
        schemas: OnceLock::new(),
        instance,
        injections,
        needs_scope,
        wants_tools,
        preview: None,
    })
}

fn bind_instance(
    registration: &'static Registration,
    shim: &Shim,
    dependencies: &Dependencies,
    constructors: &HashMap<TypeId, Constructor>,
    problems: &mut Vec<BuildProblem>,
) -> Option<InstanceSource> {
    let (Some(class), true) = (shim.needs.class, shim.needs.receiver != Receiver::None) else {
        return Some(InstanceSource::None);
    };
    let class = class();
    let name = short_type(class.type_name);
    let tool = registration.name;
    if let Some(service) = dependencies.services.iter().find(|service| class.accepts(service.type_id)) {
        let remedy =
            format!("pass it with `.service_mut(..)` instead, which locks the `{name}` for each call, or take `&self`");
        match shim.needs.receiver {
            Receiver::Mut => {
                let message = format!("it takes `&mut self`, but all calls share the `{name}` of `.service(..)`");
                problems.push(BuildProblem::of_tool(tool, message, remedy));
                return None;
            }
            Receiver::Owned if !class.is_clone => {
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
        if matches!(shim.needs.receiver, Receiver::Owned | Receiver::Arc) {
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

fn missing_instance_remedy(name: &str, receiver: Receiver, type_name: &str) -> String {
    if type_name.starts_with("dyn ") {
        return format!("add `.service(Arc::new(..) as Arc<{name}>)`");
    }
    let method = if receiver == Receiver::Mut { "service_mut" } else { "service" };
    format!(
        "add `.{method}(..)` with a `{name}`; for a new `{name}` in each call, let `{name}::new` take injected \
         parameters, or write `#[tool_class(per_call)]`"
    )
}

/// Finds a source for each injected parameter of one function.
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

/// By name first, then by type.
fn find_source(injection: &Injection, dependencies: &Dependencies) -> Result<ValueSource, (String, String)> {
    let Injection { parameter, type_id, arc_type_id, type_name, mode } = *injection;
    let lends = mode == Mode::Ref;
    let wanted = short_type(type_name);
    if let Some((source, its_type, its_name)) = dependencies.by_name(parameter) {
        if its_type == type_id {
            return Ok(source);
        }
        let message = format!("{} is a `{}`", dependencies.describe(source), short_type(its_name));
        return Err((message, format!("provide a `{wanted}` as {parameter:?}, or rename the parameter")));
    }
    dependencies.by_type(type_id, lends.then_some(arc_type_id), type_name).map_err(|message| {
        let remedy = if message.starts_with("nothing") {
            format!(
                "add `.provide({parameter:?}, |scope| async move {{ .. }})`, `.value({parameter:?}, ..)`, \
                 or `.per_call::<{wanted}>()` with `.with(..)` at each call"
            )
        } else {
            format!("call the parameter like the one that is meant, or provide one as {parameter:?}")
        };
        (message, remedy)
    })
}

/// What came with a call is the handler's: a preview looks at it, but neither takes nor changes it.
fn check_only_looks(
    registration: &Registration,
    of_preview: &[(Injection, ValueSource)],
    problems: &mut Vec<BuildProblem>,
) {
    for (injection, source) in of_preview {
        if matches!(source, ValueSource::PerCall(_)) && matches!(injection.mode, Mode::Mut | Mode::Move) {
            let (parameter, wanted) = (injection.parameter, short_type(injection.type_name));
            let message = format!("its preview: `{parameter}` came with the call, for the tool itself");
            let remedy = format!("take `&{wanted}` in the preview, or derive `Clone` for `{wanted}`");
            problems.push(BuildProblem::of_tool(registration.name, message, remedy));
        }
    }
}

/// What `new` has taken for itself, the method cannot have.
fn check_moved(
    registration: &Registration,
    instance: &InstanceSource,
    injections: &[(Injection, ValueSource)],
    problems: &mut Vec<BuildProblem>,
) {
    let InstanceSource::PerCall { injections: of_constructor, .. } = instance else { return };
    for (moved, source) in of_constructor.iter().filter(|(injection, _)| injection.mode == Mode::Move) {
        for (wanted, _) in injections.iter().filter(|(_, other)| other == source) {
            let message =
                format!("the parameter `{}` wants what `new` has taken as `{}`", wanted.parameter, moved.parameter);
            let remedy = format!("let `new` take `&{0}`, or derive `Clone` for `{0}`", short_type(moved.type_name));
            problems.push(BuildProblem::of_tool(registration.name, message, remedy));
        }
    }
}

/// Whether each value can be handed over as its parameters want it.
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
            Mode::Mut if shared => report(
                format!(
                    "`{parameter}: &mut {wanted}` cannot be had: all calls share {}",
                    dependencies.describe(*source)
                ),
                format!("take `&{wanted}`, or make one for each call with `.provide({parameter:?}, ..)`"),
            ),
            Mode::Move if shared => report(
                format!(
                    "`{parameter}: {wanted}` cannot be moved out: all calls share {}",
                    dependencies.describe(*source)
                ),
                format!(
                    "take `&{wanted}`, derive `Clone` for it, or make one for each call with `.provide({parameter:?}, ..)`"
                ),
            ),
            Mode::Move if is_finished(*source, dependencies) => report(
                format!("`{parameter}: {wanted}` is moved into the handler, but `.finish(..)` wants it back"),
                format!("take `&mut {wanted}`, or derive `Clone` for it"),
            ),
            _ => {}
        }
        let clash = bound[..index]
            .iter()
            .find(|(other, other_source)| other_source == source && clashes(other.mode, injection.mode));
        if let Some((other, _)) = clash {
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

/// A value lent for writing, or moved out, is nobody else's. Clones are taken before it is lent.
fn clashes(one: Mode, other: Mode) -> bool {
    let exclusive = |mode| matches!(mode, Mode::Mut | Mode::Move);
    let copied = |mode| mode == Mode::Clone;
    (exclusive(one) || exclusive(other)) && !(copied(one) && other == Mode::Mut) && !(copied(other) && one == Mode::Mut)
}
