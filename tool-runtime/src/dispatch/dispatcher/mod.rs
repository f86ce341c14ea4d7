//! The dispatcher itself.

mod approve;
pub(super) mod check;
mod dialect;
pub(super) mod explain;
pub(super) mod manifest_watch;
mod recall;
pub(super) mod snapshot;
pub(super) mod view;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tool_model::{Manifest, ToolDefinition};

use crate::dispatch::build::dependencies::ValueSource;
use crate::dispatch::build::problem::{skip, unreadable};
use crate::dispatch::dispatcher::snapshot::{CurrentSnapshot, Definitions, ToolSnapshot};
use crate::dispatch::dispatcher::view::SelectionView;
use crate::dispatch::{BuildError, Builder, Call, CallRules, Dependencies, Explanation, ProviderCheck, Turn};
use crate::events::Events;
use crate::limits::Concurrency;
use crate::manifest::IntoManifest;
use crate::registry::{AppliedChanges, BoundChanges, ToolTable};
use crate::{Registry, RegistryChanges, ToolCall, ToolResult};

/// Runs the calls of a model. Cheap to clone; clones share everything.
///
/// ```standalone_crate
/// use tool_runtime::{Dispatcher, ToolCall, tool_class};
///
/// struct GreetService {
///     greeting: String,
/// }
///
/// #[tool_class]
/// impl GreetService {
///     /// Greet someone.
///     pub fn hello(&self, name: &str) -> String {
///         format!("{}, {name}!", self.greeting)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().service(GreetService { greeting: "Hello".into() }).build()?;
/// let result = tools.call(ToolCall::from_text("greet.hello", r#"{"name": "Ada"}"#)).await;
/// assert_eq!(result.output, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) inner: Arc<DispatcherState>,
    /// What it was restricted to, if it was.
    pub(crate) view: Option<Arc<SelectionView>>,
}

/// What clones of a dispatcher share.
pub(crate) struct DispatcherState {
    /// Replaced as a whole: a call takes its tool from the one it finds, and keeps it.
    pub(crate) offer: CurrentSnapshot,
    /// All tools, from which the offer is made. HeldValue while a new offer is made, so that of two manifests the one whose
    /// [`reload`](Dispatcher::reload) came later stays. A file may have been read before that.
    table: Mutex<ToolTable>,
    /// Counts the offers, for those who want to know of a new one.
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) limits: CallLimits,
    pub(crate) rules: CallRules,
    lenient: bool,
}

/// CallLimits that hold for every call.
pub(crate) struct CallLimits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) argument_bytes: usize,
    pub(crate) allow_unknown: bool,
    pub(crate) repair: bool,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { timeout: None, argument_bytes: 16_000_000, allow_unknown: false, repair: true }
    }
}

impl Dispatcher {
    /// Starts a dispatcher.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(
        table: ToolTable,
        dependencies: Arc<Dependencies>,
        limits: CallLimits,
        rules: CallRules,
        lenient: bool,
    ) -> Self {
        let offer = match table.all_linked() {
            true => CurrentSnapshot::new(table.offer()),
            false => CurrentSnapshot::replaceable(table.offer()),
        };
        let table = Mutex::new(table);
        let changes = watch::Sender::new(0);
        Self {
            inner: Arc::new(DispatcherState { offer, table, changes, dependencies, limits, rules, lenient }),
            view: None,
        }
    }

    /// Looks at what is offered at this moment.
    #[inline]
    pub(crate) fn with_offer<T>(&self, look: impl FnOnce(&ToolSnapshot) -> T) -> T {
        match &self.view {
            None => self.inner.offer.with(look),
            Some(view) => view.with(&self.inner.offer, look),
        }
    }

    /// The tools themselves, to be changed while the dispatcher runs. It is that of all tools, also where this
    /// dispatcher is restricted to some.
    #[must_use]
    pub fn registry(&self) -> Registry {
        Registry::new(self.inner.clone())
    }

    /// A call. What is given back is a future; it can first be told more, such as [`Call::with`].
    pub fn call<'a>(&'a self, call: ToolCall<'a>) -> Call<'a> {
        Call::new(self, call)
    }

    /// What happens to calls, for whoever wants to watch: an interface, a log.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.inner.rules.events
    }

    /// How many calls run and how many wait, if [`Builder::concurrency`] bounds them.
    #[must_use]
    pub fn concurrency(&self) -> Option<&Concurrency> {
        self.inner.rules.concurrency.as_ref()
    }

    /// The whole output of a result that was [shortened](Builder::spill) for the model, as long as it is kept, for programs
    /// and people; the conversation is that of its call. Nothing if it is not kept, or was never shortened.
    ///
    /// ```
    /// use tool_runtime::output::Spill;
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let log = RuntimeTool::new("log", "All that happened.", |()| async { "nothing\n".repeat(1_000) });
    /// let tools = Dispatcher::builder().tool(log).spill(Spill::over(1_000)).build()?;
    /// let result = tools.call(ToolCall::from_text("log", "{}").conversation("chat-7")).await;
    /// assert!(result.output.len() <= 1_000);
    /// assert_eq!(tools.whole_output(Some("chat-7"), &result).unwrap().len(), 8_000);
    /// assert_eq!(tools.whole_output(Some("chat-8"), &result), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn whole_output(&self, conversation: Option<&str>, result: &ToolResult) -> Option<Arc<str>> {
        let handle = result.metadata.get("spilled")?["handle"].as_str()?;
        self.inner.rules.spill.as_ref()?.whole(conversation, handle)
    }

    /// The calls of one turn, side by side, with their results in the order of the calls.
    ///
    /// A tool that is `sequential` waits for those before it, and those behind it wait. A call that is being approved
    /// holds up no other: it stands aside until it is answered, and runs like any other then. Its preview takes a place
    /// among the calls that run at a time. An abort stops the rest of the turn. Dropped, all calls are stopped.
    ///
    /// Each call has a task of its own. Without a runtime they run one after the other.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, ToolCall, tool};
    ///
    /// /// Double a number.
    /// #[tool]
    /// async fn double(number: u32) -> u32 {
    ///     number * 2
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let calls = [r#"{"number": 1}"#, r#"{"number": 2}"#].map(|arguments| ToolCall::from_text("double", arguments));
    /// let results = tools.call_all(calls).await;
    /// assert_eq!(results.iter().map(|result| result.output.as_str()).collect::<Vec<_>>(), ["2", "4"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_all<'c>(&self, calls: impl IntoIterator<Item = ToolCall<'c>>) -> Turn {
        Turn::new(self, calls.into_iter().map(ToolCall::into_owned).collect())
    }

    /// Whether somebody may be asked about a call of a tool, for whoever has to prepare for that; see
    /// [`Call::confirm`](crate::Call::confirm).
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, RuntimeTool};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let list = RuntimeTool::new("list", "Lists everything.", |()| async { "nothing" });
    /// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" }).sensitive();
    /// let tools = Dispatcher::builder().tool(list).tool(purge).build()?;
    /// assert!(tools.may_ask("purge") && !tools.may_ask("list"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn may_ask(&self, name: &str) -> bool {
        self.definition(name).is_some_and(|tool| self.inner.rules.policy.asks_about(&tool))
    }

    /// Whether a call of a tool can come to see what is given with it, by [`Call::with`](crate::Call::with). Whoever would
    /// have to make that first need not for the others.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// Double a number.
    /// #[tool]
    /// fn double(number: u32) -> u32 {
    ///     number * 2
    /// }
    ///
    /// /// Count the users.
    /// #[tool]
    /// fn count(#[inject] users: &Vec<String>) -> usize {
    ///     users.len()
    /// }
    ///
    /// /// Say who calls.
    /// #[tool]
    /// fn who(#[inject] name: &String) -> String {
    ///     name.clone()
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().per_call::<String>().service(Vec::<String>::new()).build()?;
    /// assert!(tools.sees_given("who") && !tools.sees_given("double") && !tools.sees_given("count"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn sees_given(&self, name: &str) -> bool {
        // A value or a service is the same for all calls; everything else may have to do with this one.
        let of_the_call = |source: &ValueSource| !matches!(source, ValueSource::Value(_) | ValueSource::Service(_));
        let sees = |tool: &crate::dispatch::BoundTool| {
            let injected = tool.injections.iter().any(|(_, source)| of_the_call(source));
            tool.needs_scope || injected || tool.preview.is_some()
        };
        self.with_offer(|offer| offer.tools.get(name).is_some_and(|tool| sees(tool)))
    }

    /// The tools on offer, as a manifest.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.with_offer(ToolSnapshot::manifest)
    }

    /// The tools on offer with their definitions, sorted by name.
    ///
    /// They are of one moment, and stay as they are when the tools change. As long as nothing changes, to have them
    /// again costs a clone of an `Arc`, and it is the same one.
    #[must_use]
    pub fn definitions(&self) -> Definitions {
        self.with_offer(|offer| offer.definitions().clone())
    }

    /// The definition of a tool on offer.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.with_offer(|offer| offer.definition(name))
    }

    /// Offers the tools of another manifest from now on, in all clones. Services and providers stay, and so do tools that
    /// were made at run time.
    ///
    /// Calls that have begun end as they began; each call finds the tools of the old manifest or those of the new one,
    /// never some of both. [`watch`](Self::watch) does this whenever a file changes.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, Manifest, ToolCall, tool};
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let edited = Manifest::linked().to_json().replace("Say hello.", "Greet politely.");
    ///
    /// tools.reload(Manifest::from_json(&edited)?)?;
    /// assert_eq!(tools.definition("hello").unwrap().description, "Greet politely.");
    ///
    /// let stale = edited.replace("hello\": {", "good_day\": {");
    /// let error = tools.reload(Manifest::from_json(&stale)?).unwrap_err();
    /// assert!(error.to_string().contains("is now called `hello`"));
    /// assert!(tools.call(ToolCall::from_text("hello", "{}")).await.success, "the old one goes on");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Builder::build`]: everything that does not fit, all at once. What was offered before is still offered. A
    /// [lenient](Builder::lenient) dispatcher skips the tools that do not fit and logs them.
    pub fn reload(&self, manifest: impl IntoManifest) -> Result<(), BuildError> {
        self.inner.reload(manifest)
    }

    /// Resolves every provider once and rolls back: for start-up and for tests.
    ///
    /// Closures hide from [`Builder::build`] what they ask their scope for, so that a name that does not exist, or
    /// a circle of providers, shows only here or in a call.
    pub fn check(&self) -> ProviderCheck<'_> {
        ProviderCheck::new(self)
    }

    /// Where each tool's handler, instance and injected values come from.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.with_offer(|offer| Explanation::of(offer, &self.inner.dependencies))
    }
}

impl DispatcherState {
    fn table(&self) -> MutexGuard<'_, ToolTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self, changes: RegistryChanges) -> Result<AppliedChanges, BuildError> {
        let changes = BoundChanges::new(changes);
        // What goes is the application's own, and is dropped when the lock is not held any more.
        let (result, _gone) = {
            let mut table = self.table();
            match table.changed(&changes) {
                (next, done, problems) if problems.is_empty() => (Ok(done), Some(self.put(&mut table, next))),
                (_, _, problems) => (Err(BuildError { headline: "the tools stay as they are", problems }), None),
            }
        };
        if result.is_ok() {
            self.tell();
        }
        result
    }

    pub(crate) fn reload(&self, manifest: impl IntoManifest) -> Result<(), BuildError> {
        let failed = |problems| BuildError { headline: "the manifest is not loaded", problems };
        let _gone = {
            let mut table = self.table();
            let manifest = manifest.into_manifest().map_err(|error| failed(vec![unreadable(&error)]))?;
            let (next, problems) = table.loaded(Some(manifest), &self.dependencies);
            let problems = if self.lenient { skip(problems) } else { problems };
            if !problems.is_empty() {
                return Err(failed(problems));
            }
            self.put(&mut table, next)
        };
        self.tell();
        Ok(())
    }

    /// Wakes those who wait for a change, when the lock is not held any more.
    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Offers what is on another table from now on; gives back what was there before.
    fn put(&self, table: &mut ToolTable, next: ToolTable) -> (Arc<ToolSnapshot>, ToolTable) {
        (self.offer.replace(next.offer()), std::mem::replace(table, next))
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("tools", &self.with_offer(|offer| offer.tools.len())).finish_non_exhaustive()
    }
}
