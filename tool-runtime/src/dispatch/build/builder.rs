//! The builder of a dispatcher.

use std::any::{TypeId, type_name};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tool_model::Manifest;

use crate::confirm::Confirm;
use crate::dispatch::build::dependencies::{Dependencies, ExclusiveService, SharedDependency};
use crate::dispatch::build::problem::{no_tools, skip, unreadable};
use crate::dispatch::retries::RetryCounter;
use crate::dispatch::{BuildError, BuildProblem, CallLimits, CallRules, Dispatcher, DispatcherState, Retries};
use crate::handler_failure::ErrorDescriber;
use crate::inject::{FinishHook, IntoFinishResult, LentPart, Scope, ValueProvider};
use crate::journal::Journal;
use crate::limits::{Concurrency, Limiter};
use crate::manifest::IntoManifest;
use crate::output::Spill;
use crate::registry::{BoundChanges, ToolTable};
use crate::{CallOutcome, FailedCall, Policy, RegistryChanges, RuntimeTool};

/// Configures a dispatcher; see [`Dispatcher::builder`].
#[derive(Default)]
#[must_use = "a builder does nothing until `build()`"]
pub struct Builder {
    manifest: Option<Manifest>,
    dependencies: Dependencies,
    finish: Vec<(String, FinishHook)>,
    lent: Vec<(String, LentPart)>,
    limits: CallLimits,
    rules: CallRules,
    lenient: bool,
    allow_empty: bool,
    problems: Vec<BuildProblem>,
    tools: RegistryChanges,
}

impl Builder {
    /// Adds a runtime tool. More can be added while the dispatcher runs, with
    /// [`Registry::register`](crate::Registry::register).
    pub fn tool(mut self, tool: RuntimeTool) -> Self {
        self.tools = self.tools.register(tool);
        self
    }

    /// Uses the tools of a manifest, matched by their handlers. Without one, all linked tools are used.
    ///
    /// A linked tool that the manifest does not list is not offered. Two kinds of tools are offered beside it, because the
    /// program adds them by name: those of a service passed to [`also`](Self::also), and [runtime tools](Self::tool).
    ///
    /// The manifest is embedded in the program, [`manifest!()`](crate::manifest!), or read at start-up,
    /// [`Manifest::load`]. It decides which tools there are and which texts the model reads: an edited description is the
    /// one that the model gets. The code decides everything else, such as the arguments with their types and whether a
    /// tool is sensitive. An entry that disagrees with the code is stale, and [`build`](Self::build) reports it.
    pub fn manifest(mut self, manifest: impl IntoManifest) -> Self {
        self.manifest = Some(manifest.into_manifest().unwrap_or_else(|error| {
            self.problems.push(unreadable(&error));
            Manifest::default()
        }));
        self
    }

    /// Adds the instance that all calls of a tool class share: a value, an `Arc` of one that the application keeps a
    /// share of, or an `Arc<dyn Trait>` for a trait that is a tool class.
    ///
    /// The service can also be injected, as `&S` or as `Arc<S>`. If its class is `manual`, a [manifest](Self::manifest)
    /// must list some of its tools; [`also`](Self::also) offers them without entries.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, ToolCall, tool_class};
    ///
    /// #[derive(Default)]
    /// struct Orders(AtomicU32);
    ///
    /// #[tool_class(manual)]
    /// impl Orders {
    ///     /// Place an order.
    ///     pub fn place(&self) -> u32 {
    ///         self.0.fetch_add(1, Ordering::SeqCst) + 1
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let orders = Arc::new(Orders::default());
    /// let tools = Dispatcher::builder().service(orders.clone()).build()?;
    /// tools.call(ToolCall::new("orders.place", json!({}))).await;
    /// assert_eq!(orders.place(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn service<S: Send + Sync + 'static>(mut self, service: S) -> Self {
        self.check_service::<S>();
        let service = Arc::new(service);
        self.dependencies.values.push(shared_dependency(None, Arc::new(service.clone())));
        self.dependencies.services.push(shared_dependency(None, service));
        self
    }

    /// Adds a service as [`service`](Self::service) does, and also offers those of its tools that the manifest does not
    /// list. [`Dispatcher::explain`] shows which these are.
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, Manifest, tool_class};
    ///
    /// struct Clock;
    ///
    /// #[tool_class(manual)]
    /// impl Clock {
    ///     /// The time zone.
    ///     pub fn zone(&self) -> &'static str {
    ///         "UTC"
    ///     }
    /// }
    ///
    /// let builder = || Dispatcher::builder().manifest(Manifest::default());
    /// let error = builder().service(Clock).build().unwrap_err();
    /// assert!(error.to_string().contains("the manifest lists none of the tools of the `Clock`"));
    ///
    /// let tools = builder().also(Clock).build()?;
    /// assert!(tools.explain().tools[0].is_beside_manifest);
    /// # Ok::<(), tool_runtime::BuildError>(())
    /// ```
    pub fn also<S: Send + Sync + 'static>(mut self, service: S) -> Self {
        self.dependencies.beside_manifest.push(TypeId::of::<S>());
        self.service(service)
    }

    /// Adds the instance of a tool class whose methods take `&mut self`. An async lock gives it to one call at a time.
    ///
    /// A call that waits for the lock holds no permit. A handler that calls another tool of the same service waits for
    /// itself: let it call the method instead.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, ToolCall, tool_class};
    ///
    /// #[derive(Default)]
    /// struct TaskList(Vec<String>);
    ///
    /// #[tool_class(manual)]
    /// impl TaskList {
    ///     /// Add a task.
    ///     pub fn add(&mut self, title: String) -> usize {
    ///         self.0.push(title);
    ///         self.0.len()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().service_mut(TaskList::default()).build()?;
    /// tools.call(ToolCall::new("task_list.add", json!({"title": "Buy milk"}))).await;
    /// let result = tools.call(ToolCall::new("task_list.add", json!({"title": "Call Ada"}))).await;
    /// assert_eq!(result.output, "2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn service_mut<S: Send + 'static>(mut self, service: S) -> Self {
        self.check_service::<S>();
        self.dependencies.exclusive_services.push(ExclusiveService::new(service));
        self
    }

    /// Reports a second instance of the same type.
    fn check_service<S: 'static>(&mut self) {
        let exclusive = self.dependencies.exclusive_services.iter().map(|service| service.type_id);
        let mut known = self.dependencies.services.iter().map(|service| service.type_id).chain(exclusive);
        if known.any(|known| known == TypeId::of::<S>()) {
            let message = format!("there are two services of type `{}`", type_name::<S>());
            self.problems.push(BuildProblem::general(message, "pass one instance"));
        }
    }

    /// Adds a provider, which makes a value for each call that needs it, at most once per call. A parameter finds its
    /// provider by name, then by type.
    ///
    /// A provider can ask its [`Scope`] for other values of the same call.
    pub fn provide<F, Fut, T, E>(mut self, name: impl Into<String>, provider: F) -> Self
    where
        F: Fn(Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let name = name.into();
        self.check_name(&name);
        self.dependencies.providers.push(ValueProvider::new(name, provider));
        self
    }

    /// Adds a finish hook, which gets a provided value and the outcome of its call: commit or roll back here.
    ///
    /// An error turns a call that succeeded into a failure.
    pub fn finish<F, Fut, T>(mut self, name: impl Into<String>, finish: F) -> Self
    where
        F: Fn(T, CallOutcome) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoFinishResult> + Send + 'static,
        T: Send + 'static,
    {
        self.finish.push((name.into(), FinishHook::new(finish)));
        self
    }

    /// Lets handlers borrow a part of a provided value: a parameter of type `&mut P` gets it, by type or by the provider's
    /// name. The whole value stays with the call, for its finish hook.
    ///
    /// Use it for services that take the connection inside of a transaction:
    ///
    /// ```
    /// # use tool_runtime::{BuildError, Dispatcher};
    /// # struct Connection;
    /// # struct Transaction { connection: Connection }
    /// # fn main() -> Result<(), BuildError> {
    /// let tools = Dispatcher::builder()
    ///     .provide("session", |_| async { Ok::<_, String>(Transaction { connection: Connection }) })
    ///     .lend("session", |session: &mut Transaction| &mut session.connection)
    /// #   .allow_empty()
    ///     .build()?;
    /// # drop(tools);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lend<T, P>(
        mut self,
        name: impl Into<String>,
        part: impl Fn(&mut T) -> &mut P + Send + Sync + 'static,
    ) -> Self
    where
        T: Send + 'static,
        P: Send + 'static,
    {
        self.lent.push((name.into(), LentPart::new(part)));
        self
    }

    /// Adds a value that all calls share.
    pub fn value<T: Send + Sync + 'static>(mut self, name: impl Into<String>, value: T) -> Self {
        let name = name.into();
        self.check_name(&name);
        self.dependencies.values.push(shared_dependency(Some(name), Arc::new(value)));
        self
    }

    /// Declares a type whose value is passed with each call, by [`Call::with`](crate::Call::with).
    pub fn per_call<T: Send + 'static>(mut self) -> Self {
        let entry = (TypeId::of::<T>(), type_name::<T>());
        if !self.dependencies.per_call.contains(&entry) {
            self.dependencies.per_call.push(entry);
        }
        self
    }

    /// Sets the timeout of calls, unless the tool or the call sets its own. There is none by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// Sets the maximum length of the arguments in bytes, 16 MB by default.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// Ignores unknown arguments instead of refusing the call.
    pub fn allow_unknown_arguments(mut self) -> Self {
        self.limits.allow_unknown = true;
        self
    }

    /// Enables or disables the repair of arguments, unless a tool sets its own (`#[tool(repair = false)]`). Enabled by
    /// default.
    ///
    /// Only unambiguous mistakes are repaired: `"5"`, `5.0` or `5e2` for an integer, `"[1, 2]"` for an array, `null` for
    /// an optional argument, `HIGH` for `high`, a repeated item of a set, arguments in quotes or in a code fence, a trailing
    /// comma. Strings are never changed. Repaired arguments are validated again in full, and each [`Repair`](crate::arguments::Repair) stands in the
    /// result's metadata under `repairs`; if anything is still wrong, the call is refused for what came.
    pub fn repair(mut self, repair: bool) -> Self {
        self.limits.repair = repair;
        self
    }

    /// Sets the policy, which decides whether a call needs approval. [`Policy::ConfirmSensitive`] by default.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.rules.policy = policy;
        self
    }

    /// Sets the confirmer, which asks a user. Without one, calls that need approval are refused.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.rules.confirm = Some(Arc::new(confirm));
        self
    }

    /// Records every call in a journal. A call that has completed before returns its result of then, and one whose outcome
    /// is unknown returns an error. Neither runs again.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.rules.journal = Some(Arc::new(journal));
        self
    }

    /// Makes all calls dry runs: results say what the calls would do, no handler runs, and no user is asked.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.rules.dry_run = dry_run;
        self
    }

    /// Sets the rate limits of tools, in total and per conversation. A call beyond a limit is refused, and the error says
    /// how long to wait.
    pub fn limit(mut self, limiter: Limiter) -> Self {
        self.rules.limiter = Some(limiter);
        self
    }

    /// Limits how many calls run at a time, and how many more may wait. Beyond that a call is refused at once, and the
    /// error says how long to wait. A handler that waits for other calls releases its
    /// [`CallPermit`](crate::inject::CallPermit).
    pub fn concurrency(mut self, running: usize, waiting: usize) -> Self {
        self.rules.concurrency = Some(Concurrency::new(running, waiting));
        self
    }

    /// Limits how often a tool may return [`HandlerError::retry`](crate::HandlerError::retry) in one conversation: a number
    /// for all tools, or [`Retries`]. The next retry becomes a fatal error. A success resets the count. There is no limit
    /// by default.
    pub fn retries(mut self, retries: impl Into<Retries>) -> Self {
        self.rules.retries = Some(RetryCounter::new(retries.into()));
        self
    }

    /// Shortens long outputs: the model gets the start and the end, and the tool `read_result` for the rest.
    pub fn spill(mut self, spill: Spill) -> Self {
        self = self.also(spill.reader());
        self.rules.spill = Some(spill);
        self
    }

    /// Changes the message that the model reads when a handler, provider, constructor or finish hook fails.
    ///
    /// By default a handler's error is displayed without its causes, and everything else says that the tool is unavailable.
    /// The whole chain of causes is logged. The function sees neither
    /// [`HandlerError::retry`](crate::HandlerError::retry) nor [`HandlerError::fatal`](crate::HandlerError::fatal), whose
    /// messages are meant for the model.
    ///
    /// ```
    /// use std::io;
    ///
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let read = RuntimeTool::new("read", "Read the file.", |()| async { std::fs::read_to_string("/no/such/file") });
    /// let tools = Dispatcher::builder()
    ///     .tool(read)
    ///     .describe_errors(|failed| match failed.error.downcast_ref::<io::Error>() {
    ///         Some(error) if error.kind() == io::ErrorKind::NotFound => "the file does not exist".to_owned(),
    ///         _ => failed.message.to_owned(),
    ///     })
    ///     .build()?;
    /// assert_eq!(tools.call(ToolCall::from_text("read", "{}")).await.output, "the file does not exist");
    /// # Ok(())
    /// # }
    /// ```
    pub fn describe_errors(mut self, describe: impl Fn(&FailedCall<'_>) -> String + Send + Sync + 'static) -> Self {
        self.rules.describe_errors = Some(ErrorDescriber::new(describe));
        self
    }

    /// Records the arguments of calls in their tracing spans. Secrets are redacted.
    pub fn trace_arguments(mut self) -> Self {
        self.rules.trace_arguments = true;
        self
    }

    /// Logs and skips tools that cannot be bound, instead of failing the build. Of two linked tools with one name, the
    /// one whose handler path sorts first is offered.
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Allows a dispatcher without tools, for applications that register all of theirs later, such as those of MCP
    /// servers. Otherwise the build fails: in most cases the crate of the tools is not linked.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, RuntimeTool};
    ///
    /// assert!(Dispatcher::builder().build().is_err());
    /// let tools = Dispatcher::builder().allow_empty().build()?;
    /// tools.registry().register(RuntimeTool::new("list", "Lists everything.", |()| async { "nothing" }))?;
    /// # Ok::<(), tool_runtime::BuildError>(())
    /// ```
    pub fn allow_empty(mut self) -> Self {
        self.allow_empty = true;
        self
    }

    /// Builds the dispatcher: binds every tool to its instance and its injected values.
    ///
    /// Probable mistakes are logged as warnings: values, providers and services that no tool uses, tools whose calls need
    /// approval without a confirmer, and tools without a description. They are also part of
    /// [`Dispatcher::explain`].
    ///
    /// # Errors
    /// Reports all problems at once: parameters without a provider or with one of another type, manifest entries that
    /// do not match the program, and a dispatcher without tools unless [`allow_empty`](Self::allow_empty) is set.
    pub fn build(mut self) -> Result<Dispatcher, BuildError> {
        self.attach_finish_hooks();
        self.attach_lent_parts();
        let dependencies = Arc::new(self.dependencies);
        let (table, _, mut of_tools) = ToolTable::default().changed(&BoundChanges::new(self.tools));
        let has_manifest = self.manifest.is_some();
        let (table, more) = table.loaded(self.manifest, &dependencies);
        of_tools.extend(more);
        if table.is_empty() && of_tools.is_empty() && self.problems.is_empty() && !self.allow_empty {
            of_tools.push(no_tools(has_manifest));
        }
        let mut problems = self.problems;
        problems.extend(if self.lenient { skip(of_tools) } else { of_tools });
        if !problems.is_empty() {
            return Err(BuildError { headline: "the dispatcher cannot be built", problems });
        }
        let inner = DispatcherState::new(table, dependencies, self.limits, self.rules.settle())
            .lenient(self.lenient)
            .allow_empty(self.allow_empty);
        let dispatcher = Dispatcher { inner: Arc::new(inner), view: None };
        for warning in dispatcher.warnings() {
            tracing::warn!("{warning}");
        }
        tracing::debug!(tools = dispatcher.definitions().len(), has_manifest, "dispatcher built");
        Ok(dispatcher)
    }

    fn check_name(&mut self, name: &str) {
        if self.dependencies.by_name(name).is_some() {
            let message = format!("{name:?} is provided twice");
            self.problems.push(BuildProblem::general(message, "give each value a name of its own"));
        }
    }

    fn attach_finish_hooks(&mut self) {
        for (name, hook) in std::mem::take(&mut self.finish) {
            let Some(provider) = self.dependencies.providers.iter_mut().find(|provider| provider.name == name) else {
                let message = format!("`.finish({name:?}, ..)` has no provider of that name");
                self.problems.push(BuildProblem::general(message, format!("add `.provide({name:?}, ..)`")));
                continue;
            };
            if provider.type_id != hook.type_id {
                let message = format!(
                    "`.finish({name:?}, ..)` takes a `{}`, but its provider makes a `{}`",
                    hook.type_name, provider.type_name
                );
                self.problems.push(BuildProblem::general(message, "let both have the same type"));
                continue;
            }
            if provider.finish.replace(hook).is_some() {
                let message = format!("`.finish({name:?}, ..)` is given twice");
                self.problems.push(BuildProblem::general(message, "finish a value once"));
            }
        }
    }

    fn attach_lent_parts(&mut self) {
        for (name, part) in std::mem::take(&mut self.lent) {
            let Some(provider) = self.dependencies.providers.iter_mut().find(|provider| provider.name == name) else {
                let message = format!("`.lend({name:?}, ..)` has no provider of that name");
                self.problems.push(BuildProblem::general(message, format!("add `.provide({name:?}, ..)`")));
                continue;
            };
            let (owner, its_type) = part.owner;
            if provider.type_id != owner {
                let message = format!(
                    "`.lend({name:?}, ..)` borrows from a `{its_type}`, but its provider makes a `{}`",
                    provider.type_name
                );
                self.problems.push(BuildProblem::general(message, "let both have the same type"));
            } else if provider.lent.replace(Arc::new(part)).is_some() {
                let message = format!("`.lend({name:?}, ..)` is given twice");
                self.problems.push(BuildProblem::general(message, "lend one part of a value"));
            }
        }
    }
}

fn shared_dependency<T: Send + Sync + 'static>(name: Option<String>, value: Arc<T>) -> SharedDependency {
    SharedDependency { name, type_id: TypeId::of::<T>(), type_name: type_name::<T>(), value }
}
