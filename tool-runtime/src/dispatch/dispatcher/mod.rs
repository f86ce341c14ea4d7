//! The dispatcher: everything that makes, approves and looks up calls. Its tools are in `tools.rs`.

pub(super) mod check;
mod dialect;
pub(super) mod dispatcher_state;
pub(super) mod explain;
pub(super) mod manifest_watch;
pub(super) mod snapshot;
mod tools;
mod validate;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use self::dispatcher_state::DispatcherState;
use self::snapshot::{SelectionView, ToolSnapshot};
use crate::confirm::Question;
use crate::dispatch::build::dependencies::ValueSource;
use crate::dispatch::call::finalize::shorten;
use crate::dispatch::{BoundTool, Builder, Call, Turn};
use crate::events::Events;
use crate::journal::{EntryState, Journal, JournalDecision, JournalError, StartedCall};
use crate::limits::Concurrency;
use crate::output::READ_RESULT;
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

/// Runs the tool calls of a model. Cheap to clone; clones share everything.
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
    /// The selection that this dispatcher is restricted to.
    pub(crate) view: Option<Arc<SelectionView>>,
}

impl Dispatcher {
    /// Creates a builder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Reads the current snapshot of the tools.
    #[inline]
    pub(crate) fn with_snapshot<T>(&self, read: impl FnOnce(&ToolSnapshot) -> T) -> T {
        match &self.view {
            None => self.inner.snapshot.with(read),
            Some(view) => view.with(&self.inner.snapshot, read),
        }
    }

    /// Creates a call. The returned future can be configured before it is awaited, for example with [`Call::with`].
    pub fn call<'a>(&'a self, call: ToolCall<'a>) -> Call<'a> {
        Call::new(self, call)
    }

    /// Runs the calls of one turn concurrently. The results are in the order of the calls.
    ///
    /// A `sequential` tool waits for the calls before it, and the calls after it wait. A call that waits for an approval
    /// holds up no other call, and runs once it is approved. Its preview counts as a running call. If a user aborts, the
    /// rest of the turn is stopped. Dropping the turn stops all calls.
    ///
    /// Each call has its own task. Without a runtime, the calls run one after the other.
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

    /// Runs a pending call that a user has approved: see [`Decision::Pending`](crate::confirm::Decision::Pending).
    /// Per-call values have to be passed again with [`Call::with`]. If the tool has changed since, the call is refused.
    ///
    /// The tool is found by the name in the question, so a call that was made through a [selection](Self::select) must be
    /// approved through a selection that uses the same name.
    pub fn approve(&self, question: Question) -> Call<'_> {
        let arguments = question.arguments.clone();
        self.approve_with(question, arguments)
    }

    /// Runs a pending call like [`approve`](Self::approve), with arguments that the user has edited. Use
    /// [`Question::edited`] to parse edited text. The arguments are checked as those of a model are, but not repaired.
    pub fn approve_with(&self, question: Question, arguments: Value) -> Call<'_> {
        let call = asked_call(&question, arguments);
        if let Some(stage) = &question.stage {
            stage.claim();
        }
        self.call(call).approved(Box::new(question))
    }

    /// Refuses a pending call. Records the decision and returns the result for the model, with the reason if there is
    /// one. [`Question::refused`] returns the result only.
    pub async fn refuse(&self, question: &Question, reason: Option<&str>) -> ToolResult {
        self.note(question, JournalDecision::Refused).await;
        question.refused(reason)
    }

    /// Refuses a pending call and tells the caller to stop. Records the decision and returns the result for the model.
    /// Other pending calls are left to the application.
    pub async fn abort(&self, question: &Question) -> ToolResult {
        self.note(question, JournalDecision::Aborted).await;
        let message = format!("`{}` was refused, and the user aborted the turn: stop here.", question.tool);
        ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
    }

    /// Records a decision after which the call does not run.
    async fn note(&self, question: &Question, decision: JournalDecision) {
        let Some(journal) = &self.inner.rules.journal else { return };
        let mut call = asked_call(question, question.arguments.clone());
        // The journal uses the tool's own name, not that of a selection.
        call.name = Cow::Owned(question.registered.clone());
        let started = StartedCall::new(&call, &question.definition, &question.arguments);
        let started = started.without_defaults(&question.defaults);
        if let Err(error) = journal.note(&started, &decision).await {
            // The call does not run in either case.
            tracing::error!(tool = question.tool, decision = decision.as_str(), %error, "a decision could not be recorded");
        }
    }

    /// Looks up the outcome of an earlier call in the journal. Use it after a crash, for calls of a conversation that
    /// have no result. Nothing runs.
    ///
    /// [`EntryState::Noted`] means that the call has not started and can be made again, provided that it was made with
    /// the journal of [this identity](Journal::identity): another journal knows nothing of it. `None` means that
    /// the outcome is unknown: there is no journal, or the journal may have dropped the entry. The result of a finished
    /// call is the one that its caller got.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::journal::{MemoryJournal, EntryState};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" });
    /// let tools = Dispatcher::builder().tool(purge).journal(MemoryJournal::new()).build()?;
    /// tools.call(ToolCall::new("purge", json!({})).conversation("chat-7").id("call_1")).await;
    ///
    /// let Some(EntryState::Finished(purged)) = tools.recall("chat-7", "call_1").await? else { panic!("it has run") };
    /// assert_eq!(purged.result.output, "gone");
    /// assert_eq!(tools.recall("chat-7", "call_2").await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn recall(&self, conversation: &str, id: &str) -> Result<Option<EntryState>, JournalError> {
        let rules = &self.inner.rules;
        let Some(journal) = &rules.journal else { return Ok(None) };
        let mut state = journal.state_of(conversation, id).await?;
        // The journal has the whole output.
        if let (Some(EntryState::Finished(finished)), Some(spill)) = (&mut state, &rules.spill)
            && spill.is_long(&finished.result.output)
        {
            let whole = std::mem::replace(&mut finished.result, ToolResult::success(String::new()));
            let (conversation, id) = (Some(conversation.to_owned()), Some(id.to_owned()));
            finished.result = shorten(whole, spill.clone(), self.result_reader(), conversation, id).await;
        }
        Ok(state)
    }

    /// Returns the journal that records the calls, if there is one.
    ///
    /// An application that stores calls itself stores the journal's [identity](Journal::identity) and
    /// [opening](Journal::opening) beside them, to learn after a restart whether [`recall`](Self::recall) can know them.
    #[must_use]
    pub fn journal(&self) -> Option<&dyn Journal> {
        self.inner.rules.journal.as_deref()
    }

    /// Returns the whole output of a result that was [shortened](Builder::spill), for programs and users. The
    /// conversation must be that of the call. Returns `None` if the output was not shortened or is no longer stored.
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
        self.spilled(conversation, result.metadata.get("spilled")?["handle"].as_str()?)
    }

    /// Returns a stored text by its handle: an output that was [shortened](Builder::spill), or a text that a handler has
    /// [spilled](crate::inject::Notes::spill). The conversation must be that of the call. Returns `None` if the text is no
    /// longer stored.
    #[must_use]
    pub fn spilled(&self, conversation: Option<&str>, handle: &str) -> Option<Arc<str>> {
        self.inner.rules.spill.as_ref()?.whole(conversation, handle)
    }

    /// Returns the name of the tool that reads long results, if this dispatcher has it.
    pub(super) fn result_reader(&self) -> Option<Arc<str>> {
        self.with_snapshot(|snapshot| {
            let reader = snapshot.tools.values().find(|tool| &*tool.own_name == READ_RESULT);
            reader.map(|tool| tool.name.clone())
        })
    }

    /// Returns the event stream of all calls, for user interfaces and logs.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.inner.rules.events
    }

    /// Returns the numbers of running and waiting calls, if [`Builder::concurrency`] limits them.
    #[must_use]
    pub fn concurrency(&self) -> Option<&Concurrency> {
        self.inner.rules.concurrency.as_ref()
    }

    /// Returns `true` if a call of the tool may need an approval. Callers that have to prepare a confirmer for
    /// [`Call::confirm`] can skip that otherwise.
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

    /// Returns `true` if the tool may read values passed to [`Call::with`]. Callers can skip building those values
    /// otherwise.
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
    /// assert!(tools.reads_call_values("who") && !tools.reads_call_values("double") && !tools.reads_call_values("count"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn reads_call_values(&self, name: &str) -> bool {
        // Values and services are the same for all calls. Every other source may depend on the call.
        let is_per_call = |source: &ValueSource| !matches!(source, ValueSource::Value(_) | ValueSource::Service(_));
        let reads = |tool: &BoundTool| {
            let injected = tool.injections.iter().any(|(_, source)| is_per_call(source));
            tool.needs_scope || injected || tool.preview.is_some()
        };
        self.with_snapshot(|snapshot| snapshot.find(name).is_some_and(|tool| reads(tool)))
    }
}

/// Returns the call that the question is about, with these arguments.
fn asked_call(question: &Question, arguments: Value) -> ToolCall<'static> {
    let owned = |text: &Option<String>| text.clone().map(Cow::Owned);
    let mut call = ToolCall::new(question.tool.clone(), arguments);
    call.id = owned(&question.call_id);
    call.conversation = owned(&question.conversation);
    call.channel = owned(&question.channel).zip(owned(&question.chat));
    call
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.with_snapshot(|snapshot| snapshot.tools.len());
        f.debug_struct("Dispatcher").field("tools", &tools).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::MemoryJournal;
    use crate::output::{MemorySpillStore, Spill};
    use crate::{RuntimeTool, ToolCall};

    fn long(name: &str) -> RuntimeTool {
        RuntimeTool::new(name, "", |(): ()| async { "line\n".repeat(1_000) })
    }

    #[tokio::test]
    async fn recalls_a_long_result_as_it_was_returned() {
        let tools = Dispatcher::builder().tool(long("long")).journal(MemoryJournal::new()).spill(Spill::over(1_000));
        let tools = tools.build().unwrap();
        let returned = tools.call(ToolCall::new("long", json!({})).conversation("c").id("1")).await;
        assert!(returned.metadata.get("spilled").is_some());
        let Ok(Some(EntryState::Finished(recalled))) = tools.recall("c", "1").await else { panic!("it has run") };
        assert_eq!(recalled.result.output, returned.output);
        let another = tools.call(ToolCall::new("long", json!({})).conversation("c").id("2")).await;
        assert_ne!(another.output, returned.output, "the control: a handle is for one call");
    }

    /// Copies of one result would evict the others.
    #[tokio::test]
    async fn stores_a_long_result_once_however_often_it_is_returned() {
        let spill = Spill::over(1_000).store(MemorySpillStore::new(12_000));
        let tools = Dispatcher::builder().tool(long("long")).journal(MemoryJournal::new()).spill(spill);
        let tools = tools.build().unwrap();
        let call = |id: &'static str| tools.call(ToolCall::new("long", json!({})).conversation("c").id(id));
        let other = call("1").await;
        let first = call("2").await;
        for _ in 0..3 {
            let replayed = call("2").await;
            assert_eq!(replayed.metadata.get("replayed"), Some(&json!(true)));
            assert_eq!(replayed.output, first.output);
            tools.recall("c", "2").await.unwrap();
        }
        assert!(tools.whole_output(Some("c"), &other).is_some());
        call("3").await;
        assert!(tools.whole_output(Some("c"), &first).is_none(), "the control: another result evicts it");
    }

    #[tokio::test]
    async fn recalls_nothing_without_a_journal() {
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        assert!(tools.recall("c", "1").await.unwrap().is_none());
        assert!(tools.journal().is_none());
    }
}
