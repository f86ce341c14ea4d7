//! What an application gives its dispatcher.

use std::any::{TypeId, type_name};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use tool_model::Manifest;

use crate::confirm::Confirm;
use crate::dispatch::build::dependencies::ExclusiveService;
use crate::dispatch::build::dependencies::{Dependencies, SharedDependency};
use crate::dispatch::build::problem::{skip, unreadable};
use crate::dispatch::retries::RetryCounter;
use crate::dispatch::{BuildError, BuildProblem, CallLimits, CallRules, Dispatcher, Retries};
use crate::inject::{FinishHook, IntoFinishResult, Scope, ValueProvider};
use crate::journal::Journal;
use crate::limits::{Concurrency, Limiter};
use crate::manifest::IntoManifest;
use crate::output::Spill;
use crate::registry::{BoundChanges, ToolTable};
use crate::{CallOutcome, Policy, RegistryChanges, RuntimeTool};

/// Collects what the tools need; see [`Dispatcher::builder`].
#[derive(Default)]
#[must_use = "a builder does nothing until `build()`"]
pub struct Builder {
    manifest: Option<Manifest>,
    dependencies: Dependencies,
    finish: Vec<(String, FinishHook)>,
    limits: CallLimits,
    rules: CallRules,
    lenient: bool,
    problems: Vec<BuildProblem>,
    tools: RegistryChanges,
}

impl Builder {
    /// Offers a tool that was made at run time. More can come while the dispatcher runs, with
    /// [`Registry::register`](crate::Registry::register).
    pub fn tool(mut self, tool: RuntimeTool) -> Self {
        self.tools = self.tools.register(tool);
        self
    }

    /// Offers the tools of a manifest, bound by their handlers. Without one, everything that is linked is offered.
    ///
    /// It is one that the program contains, [`manifest!()`](crate::manifest!), or one that is read when it starts,
    /// [`Manifest::load`]. What tools there are and what a model reads about them is for the manifest to say: a
    /// description that was edited there is the one that is offered. What a tool *is*, its arguments with their types
    /// and whether it is sensitive, is for the code to say: an entry that says otherwise is stale, and
    /// [`build`](Self::build) reports it.
    pub fn manifest(mut self, manifest: impl IntoManifest) -> Self {
        self.manifest = Some(manifest.into_manifest().unwrap_or_else(|error| {
            self.problems.push(unreadable(&error));
            Manifest::default()
        }));
        self
    }

    /// Sets the instance that all calls of a tool class share: a value, an `Arc` of one that the application keeps a
    /// share of, or an `Arc<dyn Trait>` for a trait that is a tool class.
    ///
    /// The service can also be injected, as `&S` or as `Arc<S>`.
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
        self.dependencies.values.push(ready(None, Arc::new(service.clone())));
        self.dependencies.services.push(ready(None, service));
        self
    }

    /// Sets the instance of a tool class whose methods take `&mut self`. An async lock gives it to one call at a time.
    ///
    /// A handler that calls another tool of the same service waits for itself: let it call the method instead.
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

    /// Makes a value for each call that needs it, once in a call. Parameters find it by their name, then by its type.
    ///
    /// A provider can ask its [`Scope`] for other values of the same call.
    pub fn provide<F, Fut, T, E>(mut self, name: impl Into<String>, provider: F) -> Self
    where
        F: Fn(Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Display,
    {
        let name = name.into();
        self.check_name(&name);
        self.dependencies.providers.push(ValueProvider::new(name, provider));
        self
    }

    /// Finishes a provided value when its call ends, with the call's outcome: the place to commit or to roll back.
    ///
    /// An error makes a call that succeeded a failure.
    pub fn finish<F, Fut, T>(mut self, name: impl Into<String>, finish: F) -> Self
    where
        F: Fn(T, CallOutcome) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoFinishResult> + Send + 'static,
        T: Send + 'static,
    {
        self.finish.push((name.into(), FinishHook::new(finish)));
        self
    }

    /// A value that all calls share.
    pub fn value<T: Send + Sync + 'static>(mut self, name: impl Into<String>, value: T) -> Self {
        let name = name.into();
        self.check_name(&name);
        self.dependencies.values.push(ready(Some(name), Arc::new(value)));
        self
    }

    /// Announces a type whose value comes with each call, through [`Call::with`](crate::Call::with).
    pub fn per_call<T: Send + 'static>(mut self) -> Self {
        let entry = (TypeId::of::<T>(), type_name::<T>());
        if !self.dependencies.per_call.contains(&entry) {
            self.dependencies.per_call.push(entry);
        }
        self
    }

    /// How long a call may take, unless its tool or the call itself says otherwise. Without it, as long as it takes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// The longest text of arguments that is read, in bytes. 16 MB unless set.
    pub fn max_argument_bytes(mut self, bytes: usize) -> Self {
        self.limits.argument_bytes = bytes;
        self
    }

    /// Ignores arguments that a tool does not have, instead of refusing the call.
    pub fn allow_unknown_arguments(mut self) -> Self {
        self.limits.allow_unknown = true;
        self
    }

    /// Whether arguments that are nearly right are mended, unless a tool says otherwise (`#[tool(repair = false)]`). On
    /// unless switched off.
    ///
    /// Mended is what the schema leaves no doubt about: `"5"`, `5.0` or `5e2` for an integer, `"[1, 2]"` for a list,
    /// `null` for what can be left out, `HIGH` for `high`, arguments in quotes or in a code fence, a comma too many. A text
    /// stays what it is. What was mended is read again in full, and each [`Repair`](crate::arguments::Repair) stands in the
    /// result's metadata under `repairs`; if anything is still wrong, the call is refused for what came.
    pub fn repair(mut self, repair: bool) -> Self {
        self.limits.repair = repair;
        self
    }

    /// When somebody is asked before a tool runs. [`Policy::ConfirmSensitive`] unless set.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.rules.policy = policy;
        self
    }

    /// Who is asked. Without it, a call that needs consent is refused.
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.rules.confirm = Some(Arc::new(confirm));
        self
    }

    /// Records every call. TurnCall that completed before is answered as it was then, one whose outcome nobody knows is
    /// reported as such, and neither runs again.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.rules.journal = Some(Arc::new(journal));
        self
    }

    /// Only says what calls would do: nothing runs, and nobody is asked.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.rules.dry_run = dry_run;
        self
    }

    /// How often tools may be called, in all and in one conversation. What is beyond that is refused, with the time to
    /// wait.
    pub fn limit(mut self, limiter: Limiter) -> Self {
        self.rules.limiter = Some(limiter);
        self
    }

    /// How many calls run at a time, and how many more may wait; beyond that a call is refused at once, with the time to
    /// wait. TurnCall that waits for other calls leaves its [`CallPermit`](crate::inject::CallPermit) to them.
    pub fn concurrency(mut self, running: usize, waiting: usize) -> Self {
        self.rules.concurrency = Some(Concurrency::new(running, waiting));
        self
    }

    /// How often a tool may answer [`HandlerError::retry`](crate::HandlerError::retry) in a conversation before that
    /// becomes a failure for good: a number for all, or [`Retries`]. A success begins anew. Without it, as often as it
    /// likes.
    pub fn retries(mut self, retries: impl Into<Retries>) -> Self {
        self.rules.tries = Some(RetryCounter::new(retries.into()));
        self
    }

    /// Shortens long results: the model gets their beginning and their end, and the tool `read_result` for the rest.
    pub fn spill(mut self, spill: Spill) -> Self {
        self = self.service(spill.reader());
        self.rules.spill = Some(spill);
        self
    }

    /// Puts the arguments of calls into their tracing spans, without those that are secret.
    pub fn trace_arguments(mut self) -> Self {
        self.rules.trace_arguments = true;
        self
    }

    /// Skips and logs tools that cannot be bound, instead of refusing to build.
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Binds every tool to what it needs.
    ///
    /// # Errors
    /// Names every tool and parameter that is left without a provider or has one of the wrong type, and every entry
    /// of the manifest that does not fit the program, all at once.
    pub fn build(mut self) -> Result<Dispatcher, BuildError> {
        self.attach_finish_hooks();
        let dependencies = Arc::new(self.dependencies);
        let (table, _, mut of_tools) = ToolTable::default().changed(&BoundChanges::new(self.tools));
        let (table, more) = table.loaded(self.manifest, &dependencies);
        of_tools.extend(more);
        let mut problems = self.problems;
        problems.extend(if self.lenient { skip(of_tools) } else { of_tools });
        if !problems.is_empty() {
            return Err(BuildError { headline: "the dispatcher cannot be built", problems });
        }
        Ok(Dispatcher::new(table, dependencies, self.limits, self.rules.settle(), self.lenient))
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
}

fn ready<T: Send + Sync + 'static>(name: Option<String>, value: Arc<T>) -> SharedDependency {
    SharedDependency { name, type_id: TypeId::of::<T>(), type_name: type_name::<T>(), value }
}
