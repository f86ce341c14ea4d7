//! Bound tools: a handler with its instance and the sources of its injected values.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tool_model::{KeyValue, Registration, ToolDefinition};

use super::dependencies::{ExclusiveService, ValueSource};
use super::shown_arguments::ShownArguments;
use crate::arguments::ArgumentSchemas;
use crate::inject::Injection;
use crate::runtime_tool::RuntimeFunction;
use crate::shim::{HandlerStep, InstanceConstructor, Invocation, Shim};
use crate::{Context, ToolCall};

/// A tool bound to everything that its calls need.
pub(crate) struct BoundTool {
    /// The name by which the model calls the tool.
    pub(crate) name: Arc<str>,
    /// The name in the registry.
    pub(crate) own_name: Arc<str>,
    /// Set if the two names differ.
    pub(crate) is_renamed: bool,
    /// Set if it is offered by `.also(..)`, and a manifest is used that does not list it.
    pub(crate) is_beside_manifest: bool,
    pub(crate) function: ToolFunction,
    pub(crate) sensitive: bool,
    pub(super) definition: OnceLock<Arc<ToolDefinition>>,
    /// The schemas for the arguments of a model.
    pub(super) schemas: OnceLock<ArgumentSchemas>,
    /// The names of the arguments, if a selection has changed them.
    pub(super) shown: Option<Arc<ShownArguments>>,
    pub(crate) instance: InstanceSource,
    pub(crate) injections: Vec<(Injection, ValueSource)>,
    /// Set if a call has to make values first, and so needs a scope.
    pub(crate) needs_scope: bool,
    /// Set if an argument's type has no `JsonSchema`, so that its schema is traced.
    pub(super) has_traced_arguments: bool,
    /// Set if the handler takes the dispatcher that runs it.
    pub(crate) wants_tools: bool,
    pub(crate) timeout: Option<Duration>,
    /// The preview, bound like a tool with the same name and arguments.
    pub(crate) preview: Option<Arc<BoundTool>>,
}

/// The function behind a tool.
#[derive(Clone)]
pub(crate) enum ToolFunction {
    /// An annotated function.
    Linked { registration: &'static Registration, shim: &'static Shim },
    /// The function of a runtime tool.
    Runtime(Arc<RuntimeFunction>),
}

impl BoundTool {
    /// Creates a runtime tool. Its handler takes values from its scope.
    pub(crate) fn runtime(name: Arc<str>, definition: Arc<ToolDefinition>, function: Arc<RuntimeFunction>) -> Self {
        Self {
            own_name: name.clone(),
            name,
            is_renamed: false,
            is_beside_manifest: false,
            sensitive: definition.sensitive,
            timeout: definition.timeout,
            definition: OnceLock::from(definition),
            schemas: OnceLock::new(),
            shown: None,
            function: ToolFunction::Runtime(function),
            instance: InstanceSource::Scope,
            injections: Vec::new(),
            needs_scope: true,
            has_traced_arguments: false,
            wants_tools: true,
            preview: None,
        }
    }

    /// Returns the tool under another name.
    pub(crate) fn renamed(&self, name: Arc<str>) -> Self {
        Self {
            is_renamed: name != self.own_name,
            name: name.clone(),
            own_name: self.own_name.clone(),
            is_beside_manifest: self.is_beside_manifest,
            function: self.function.clone(),
            sensitive: self.sensitive,
            definition: self.definition.clone(),
            schemas: OnceLock::new(),
            shown: self.shown.clone(),
            instance: self.instance.clone(),
            injections: self.injections.clone(),
            needs_scope: self.needs_scope,
            has_traced_arguments: self.has_traced_arguments,
            wants_tools: self.wants_tools,
            timeout: self.timeout,
            preview: self.preview.as_ref().map(|preview| Arc::new(preview.renamed(name))),
        }
    }

    /// Returns the tool with other names for these arguments, which are those that a model sees so far.
    pub(crate) fn with_argument_names(self, names: &BTreeMap<String, String>) -> Self {
        let shown = Arc::new(ShownArguments::new(&self, names));
        let preview = self
            .preview
            .as_ref()
            .map(|preview| Arc::new(Self { shown: Some(shown.clone()), ..preview.renamed(preview.name.clone()) }));
        Self { shown: Some(shown), preview, schemas: OnceLock::new(), ..self }
    }

    /// Returns the tool with the texts of a manifest entry that agrees with it.
    pub(crate) fn reworded(&self, entry: &ToolDefinition) -> Self {
        let definition = ToolDefinition::clone(self.definition()).with_words_of(entry);
        Self { definition: OnceLock::from(Arc::new(definition)), ..self.renamed(self.name.clone()) }
    }

    /// Returns the [`Context`] of a call of this tool.
    pub(crate) fn context_of(&self, call: &ToolCall<'_>) -> Context {
        Context { called: self.is_renamed.then(|| self.name.clone()), ..call.context() }
    }

    /// Decodes the arguments of a call and runs the function until it first waits.
    #[inline(always)]
    pub(crate) fn invoke(&self, invocation: Invocation<'_>) -> HandlerStep {
        match &self.function {
            ToolFunction::Linked { shim, .. } => (shim.invoke)(invocation),
            ToolFunction::Runtime(function) => function.invoke(invocation),
        }
    }

    /// Returns how long a stopped handler may take to report its outcome, if its work happens elsewhere and so does not
    /// end with the handler.
    pub(crate) fn stop_grace(&self) -> Option<Duration> {
        match &self.function {
            ToolFunction::Linked { .. } => None,
            ToolFunction::Runtime(function) => function.stop_grace,
        }
    }

    /// Returns the schemas of the arguments as a model sends them, computed on first use.
    #[inline]
    pub(crate) fn schemas(&self) -> &ArgumentSchemas {
        self.schemas.get_or_init(|| match &self.shown {
            None => self.compute_schemas(),
            Some(shown) => self.compute_schemas().renamed(&shown.names, shown.definition.clone()),
        })
    }

    /// Returns the schemas of the arguments under their own names, which policies and the journal use.
    pub(crate) fn own_schemas(&self) -> &ArgumentSchemas {
        match &self.shown {
            None => self.schemas(),
            Some(shown) => shown.own_schemas.get_or_init(|| self.compute_schemas()),
        }
    }

    fn compute_schemas(&self) -> ArgumentSchemas {
        match &self.function {
            ToolFunction::Linked { registration, .. } => ArgumentSchemas::new(registration, self.definition().clone()),
            ToolFunction::Runtime(function) => function.schemas(self.definition().clone()),
        }
    }

    /// Returns the names of the arguments, if a selection has changed them.
    pub(crate) fn shown_arguments(&self) -> Option<&ShownArguments> {
        self.shown.as_deref()
    }

    /// Returns the definition for models.
    pub(crate) fn shown_definition(&self) -> &Arc<ToolDefinition> {
        self.shown.as_ref().map_or_else(|| self.definition(), |shown| &shown.definition)
    }

    /// Returns the definition with the arguments' own names, computed on first use.
    pub(crate) fn definition(&self) -> &Arc<ToolDefinition> {
        self.definition.get_or_init(|| match &self.function {
            ToolFunction::Linked { registration, .. } => Arc::new(registration.definition()),
            ToolFunction::Runtime(_) => Arc::default(),
        })
    }

    /// Returns the other names under which it can be called.
    pub(crate) fn aliases(&self) -> Vec<Arc<str>> {
        match &self.function {
            // Read from the registration, because most definitions are never computed.
            ToolFunction::Linked { registration, .. } => match registration.options.value("alias") {
                Some(KeyValue::Words(aliases)) => aliases.iter().map(|&alias| alias.into()).collect(),
                _ => Vec::new(),
            },
            ToolFunction::Runtime(_) => self.definition().aliases.iter().map(|alias| alias.as_str().into()).collect(),
        }
    }

    pub(super) fn is_registered_as(&self, other: &Registration) -> bool {
        matches!(&self.function, ToolFunction::Linked { registration, .. } if registration.handler == other.handler)
    }

    pub(crate) fn description(&self) -> &str {
        match &self.function {
            ToolFunction::Linked { registration, .. } => registration.description,
            ToolFunction::Runtime(_) => &self.definition().description,
        }
    }

    /// Returns the handler, and where it was annotated or registered.
    pub(crate) fn origin(&self) -> String {
        match &self.function {
            ToolFunction::Linked { registration, .. } => format!("{} ({})", registration.handler, registration.source),
            ToolFunction::Runtime(function) => format!("{} ({})", self.definition().handler, function.source),
        }
    }
}

/// The source of a method's instance.
#[derive(Clone)]
pub(crate) enum InstanceSource {
    None,
    /// None: a runtime tool takes values from its scope.
    Scope,
    Shared(Arc<dyn Any + Send + Sync>),
    /// One instance for all calls, locked for each.
    Exclusive(ExclusiveService),
    PerCall {
        constructor: InstanceConstructor,
        type_name: &'static str,
        injections: Vec<(Injection, ValueSource)>,
    },
}
