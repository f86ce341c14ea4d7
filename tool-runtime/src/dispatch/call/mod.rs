//! One call: its options, the fast path, and the end that both paths share.

mod fast_path;
pub(super) mod finalize;
pub(super) mod messages;
pub(super) mod observe;
pub(super) mod preview;
pub(super) mod running_handler;
pub(super) mod time_budget;

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::messages::{arguments_too_long, cancelled};
use self::observe::CallObserver;
use self::preview::run_preview;
use self::running_handler::RunningHandler;
use crate::arguments::{ArgumentReader, RepairedArguments};
use crate::confirm::{Confirm, Question};
use crate::dispatch::turn::turn_slot::TurnSlot;
use crate::dispatch::{BoundTool, CallValue, Dispatcher, ToolSnapshot};
use crate::{Effect, ToolCall, ToolError, ToolResult};

/// The future of one call; see [`Dispatcher::call`].
///
/// A call never fails and never panics: every outcome is a [`ToolResult`]. Dropping it stops the handler and finishes the
/// injected values in the background.
///
/// Panics of handlers, providers, finish hooks and destructors become results, and so do timeouts. Only what ends the
/// whole process is beyond a result: a panic during another panic, a stack overflow, `abort`, `panic = "abort"`,
/// `process::exit`. Run tools that may do that in a process of their own, such as a child process that speaks MCP or a
/// worker on another machine, where the end of the process becomes a result as well.
#[must_use = "a call does nothing unless it is awaited"]
pub struct Call<'a> {
    pub(super) tools: &'a Dispatcher,
    pub(super) call: ToolCall<'a>,
    /// The values passed to [`Call::with`].
    pub(super) values: Vec<CallValue>,
    timeout: Option<Duration>,
    pub(super) cancel: Option<CancellationToken>,
    /// Boxed, because most calls have none and a call is moved several times.
    pub(super) options: Option<Box<CallOptions>>,
    #[cfg(feature = "metrics")]
    metrics: Option<crate::metrics::CallMetrics>,
    state: CallState,
}

/// Options and facts that few calls have.
#[derive(Default)]
pub(super) struct CallOptions {
    /// The question that a user has approved.
    pub(super) approved: Option<Box<Question>>,
    pub(super) dry_run: bool,
    /// Answers from the journal only.
    pub(super) replay: bool,
    /// Overrides the dispatcher's confirmer.
    pub(super) confirm: Option<Arc<dyn Confirm>>,
    /// An upper bound for the timeout.
    within: Option<Duration>,
    /// The conversation whose limits the call counts against, unless that is its own.
    pub(super) counts_for: Option<String>,
    pub(super) turn_slot: Option<TurnSlot>,
    /// The name by which the model called a tool that a selection has renamed.
    pub(super) called: Option<String>,
    /// The alias by which the tool was called.
    alias: Option<String>,
    /// The repairs made to the arguments.
    repaired: Option<Box<RepairedArguments>>,
    /// The observer of a call that takes the fast path.
    pub(super) observer: Option<CallObserver>,
}

/// The progress of a call.
pub(super) enum CallState {
    New,
    /// On the fast path, with a handler that waits.
    Running(Box<RunningHandler>),
    /// On the guarded path.
    Guarded(Pin<Box<dyn Future<Output = ToolResult> + Send>>),
    /// A long output is being stored.
    Spilling(Pin<Box<dyn Future<Output = ToolResult> + Send>>),
    Done,
}

impl<'a> Call<'a> {
    #[inline]
    pub(super) fn new(tools: &'a Dispatcher, call: ToolCall<'a>) -> Self {
        Self {
            tools,
            call,
            values: Vec::new(),
            timeout: None,
            cancel: None,
            options: None,
            #[cfg(feature = "metrics")]
            metrics: None,
            state: CallState::New,
        }
    }

    /// Adds a value for parameters of its type. The type must be declared with
    /// [`Builder::per_call`](crate::Builder::per_call).
    pub fn with<T: Send + 'static>(mut self, value: T) -> Self {
        let value = CallValue::new(value);
        self.values.retain(|known| known.type_id != value.type_id);
        self.values.push(value);
        self
    }

    /// Returns the request, for code that prepares calls such as [`Turn::each`](crate::Turn::each).
    #[must_use]
    pub fn request(&self) -> &ToolCall<'a> {
        &self.call
    }

    /// Sets the timeout of this call, instead of the tool's and the dispatcher's.
    ///
    /// The timeout covers everything from here to the result, including queues and the journal. Only the time that a
    /// user takes to decide is not counted. After the timeout, a rollback, the record of the outcome and the storage of
    /// a long output may delay the result by some seconds; then they continue in the background.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Caps the timeout: the call may take less time than its [`timeout`](Self::timeout), its tool and the dispatcher
    /// allow, never more. Use it to pass on a time limit that a client has requested.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use serde_json::json;
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let forever = RuntimeTool::new("forever", "Never ends.", |()| std::future::pending::<()>());
    /// let tools = Dispatcher::builder().tool(forever).timeout(Duration::from_millis(2)).build()?;
    /// let call = |time| tools.call(ToolCall::new("forever", json!({}))).within(Duration::from_millis(time));
    ///
    /// assert_eq!(call(1).await.output, "`forever` did not finish within 1ms and was stopped.");
    /// assert_eq!(call(3_600_000).await.output, "`forever` did not finish within 2ms and was stopped.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn within(mut self, time: Duration) -> Self {
        self.options().within = Some(time);
        self
    }

    /// Counts the call against the [limits](crate::limits::Limiter) and [retries](crate::limits::Retries) of another
    /// conversation. A sub-agent uses this so that a limit of its parent's conversation also holds for the
    /// conversations that it starts.
    ///
    /// ```
    /// use tool_runtime::limits::{Limit, Limiter};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let send = RuntimeTool::new("mail.send", "Sends a mail.", |()| async { "sent" });
    /// let once = Limiter::new().tool_in_conversation("mail.send", Limit::total(1));
    /// let tools = Dispatcher::builder().tool(send).limit(once).build()?;
    /// let call = |conversation: &'static str| tools.call(ToolCall::from_text("mail.send", "{}").conversation(conversation));
    ///
    /// assert!(call("chat-7").await.success);
    /// assert!(!call("chat-7/helper").counts_for("chat-7").await.success);
    /// # Ok(())
    /// # }
    /// ```
    pub fn counts_for(mut self, conversation: impl Into<String>) -> Self {
        self.options().counts_for = Some(conversation.into());
        self
    }

    /// Stops the call when the token is cancelled.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Makes this call a dry run: the result says what the call would do. The handler does not run, and no user is asked.
    pub fn dry_run(mut self) -> Self {
        self.options().dry_run = true;
        self
    }

    /// Answers from the journal only: the handler does not run, and no user is asked. Use it for a call that another
    /// process may have run in part.
    ///
    /// A call that has completed returns its result of then, with `replayed` in the metadata. One that still runs is
    /// `Busy`. Every other call, and every call without a journal, is `OutcomeUnknown`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::journal::MemoryJournal;
    /// use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = RuntimeTool::new("pay", "Pays.", |()| async { "paid" });
    /// let tools = Dispatcher::builder().tool(pay).journal(MemoryJournal::new()).build()?;
    /// let call = |id: &'static str| tools.call(ToolCall::new("pay", json!({})).conversation("chat-7").id(id));
    ///
    /// call("call_1").await;
    /// assert_eq!(call("call_1").replay().await.output, "paid");
    /// assert_eq!(call("call_2").replay().await.error.map(|error| error.kind), Some(ErrorKind::OutcomeUnknown));
    /// # Ok(())
    /// # }
    /// ```
    pub fn replay(mut self) -> Self {
        self.options().replay = true;
        self
    }

    /// Overrides the dispatcher's confirmer for this call, for example with one that asks over the connection on which
    /// the call arrived.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::confirm::{self, Decision};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" }).sensitive();
    /// let tools = Dispatcher::builder().tool(purge).build()?;
    /// let visitor = confirm::from_fn(|_| async { Decision::refuse("not today") });
    ///
    /// let result = tools.call(ToolCall::new("purge", json!({}))).confirm(visitor).await;
    /// assert_eq!(result.output, "`purge` was refused: not today.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn confirm(mut self, confirm: impl Confirm) -> Self {
        self.options().confirm = Some(Arc::new(confirm));
        self
    }

    /// Runs the tool's [preview](Effect), which says what the call would do, without making the call. Returns `None` if
    /// the tool has no preview.
    ///
    /// The preview checks the arguments, takes a permit and has the timeout of a call. Values that are injected into the
    /// preview are rolled back afterwards, and its progress is not reported.
    ///
    /// # Errors
    /// If the tool does not exist, the arguments are invalid, or the preview itself fails.
    pub async fn preview(mut self) -> Result<Option<Effect>, ToolError> {
        let inner = &self.tools.inner;
        let tool = self.tools.with_snapshot(|snapshot| match snapshot.find(self.call.name()) {
            Some(tool) => {
                self.call.name = Cow::Owned(tool.name.to_string());
                Ok(tool.clone())
            }
            None => Err(snapshot.unknown_tool(self.call.name())),
        })?;
        let Some(preview) = tool.preview.clone() else { return Ok(None) };
        if self.call.arguments().len() > inner.limits.argument_bytes {
            return Err(arguments_too_long(&self.call, inner.limits.argument_bytes));
        }
        self.apply_selection(&tool);
        let limit = self.timeout_for(&preview);
        let reader = ArgumentReader {
            text: self.call.arguments(),
            schemas: preview.schemas(),
            allow_unknown: inner.limits.allow_unknown,
            repair: inner.limits.repair,
        };
        let previewed = run_preview(inner, &preview, &self.call, reader, &self.values, limit, None);
        let effect = match &self.cancel {
            None => previewed.await,
            Some(token) => {
                let cancelled = || Err(cancelled().into_tool_error(&preview.name, None));
                token.run_until_cancelled(previewed).await.unwrap_or_else(cancelled)
            }
        };
        effect.map(Some)
    }

    /// Marks the call as approved by a user.
    pub(super) fn approved(mut self, question: Box<Question>) -> Self {
        self.options().approved = Some(question);
        self
    }

    /// Gives the call a slot of its turn, which it takes once it is approved.
    pub(super) fn turn_slot(mut self, slot: Option<TurnSlot>) -> Self {
        if slot.is_some() {
            self.options().turn_slot = slot;
        }
        self
    }

    pub(super) fn options(&mut self) -> &mut CallOptions {
        self.options.get_or_insert_default()
    }

    /// Replaces the alias by which a tool was called by its name, which everything after uses.
    #[cold]
    #[inline(never)]
    fn replace_alias<'s>(&mut self, snapshot: &'s ToolSnapshot) -> Option<&'s Arc<BoundTool>> {
        let tool = snapshot.aliased(&self.call.name)?;
        let alias = std::mem::replace(&mut self.call.name, Cow::Owned(tool.name.to_string()));
        self.options().alias = Some(alias.into_owned());
        Some(tool)
    }

    /// Replaces the name that a selection gave the tool by the tool's own, which policies, limits and the journal use,
    /// and adds the dispatcher for tools that take it. Messages to the model keep the name that it called.
    #[cold]
    fn apply_selection(&mut self, tool: &BoundTool) {
        if tool.is_renamed {
            let called = std::mem::replace(&mut self.call.name, Cow::Owned(tool.own_name.to_string()));
            self.options().called = Some(called.into_owned());
        }
        if tool.wants_tools {
            self.values.push(CallValue::new(self.tools.clone()));
        }
    }

    /// Returns the timeout that applies to a call of this tool.
    #[inline]
    pub(super) fn timeout_for(&self, tool: &BoundTool) -> Option<Duration> {
        let timeout = self.timeout.or(tool.timeout).or(self.tools.inner.limits.timeout);
        match self.options.as_ref().and_then(|options| options.within) {
            None => timeout,
            Some(within) => Some(timeout.map_or(within, |timeout| timeout.min(within))),
        }
    }
}
