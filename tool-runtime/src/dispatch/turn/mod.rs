//! Turns: the calls of one model response, run concurrently.

pub(super) mod turn_slot;

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::dispatch::call::messages::panicked;
use crate::dispatch::turn::turn_slot::{TurnSlot, TurnSlots};
use crate::dispatch::{Call, Dispatcher};
use crate::handler_failure::{BoxError, log_error};
use crate::panics::{self, CatchPanic, drop_quietly};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

/// The number of calls of a turn that run at a time by default.
const DEFAULT_CONCURRENCY: usize = 16;

type PrepareCall = Arc<dyn for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync>;

type OnResult = Arc<dyn Fn(usize, &ToolResult) + Send + Sync>;

/// The calls of one turn; see [`Dispatcher::call_all`]. Await it.
#[must_use = "a turn does nothing unless it is awaited"]
pub struct Turn {
    tools: Dispatcher,
    calls: Vec<ToolCall<'static>>,
    concurrency: usize,
    prepare: Option<PrepareCall>,
    on_result: Option<OnResult>,
}

impl Turn {
    pub(super) fn new(tools: &Dispatcher, calls: Vec<ToolCall<'static>>) -> Self {
        Self { tools: tools.clone(), calls, concurrency: DEFAULT_CONCURRENCY, prepare: None, on_result: None }
    }

    /// Sets how many calls of the turn run at a time, 16 by default. The limit of
    /// [`Builder::concurrency`](crate::Builder::concurrency) also applies. A call that waits for an approval does not
    /// count meanwhile, but its preview does.
    pub fn concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.concurrency = calls.get();
        self
    }

    /// Prepares each call, for example with [`Call::with`] or [`Call::timeout`]. The timeout starts when the call gets
    /// its turn slot. If the function panics, the call does not run.
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// Calls a function with the index and the result of each call as soon as the call ends, even if the turn is dropped
    /// later. The function runs in the task of the call and should return quickly.
    pub fn on_result(mut self, on_result: impl Fn(usize, &ToolResult) + Send + Sync + 'static) -> Self {
        self.on_result = Some(Arc::new(on_result));
        self
    }

    async fn run(self) -> Vec<ToolResult> {
        let is_sequential =
            |call: &ToolCall<'_>| self.tools.definition(call.name()).is_some_and(|tool| tool.sequential);
        // More calls could not run anyway, and would fill the queue of the dispatcher.
        let concurrency = self.tools.concurrency().map_or(self.concurrency, |all| self.concurrency.min(all.limit()));
        let slots = TurnSlots::new(concurrency, self.calls.iter().map(is_sequential));
        let stop = CancellationToken::new();
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| {
            let (tools, prepare, stop) = (self.tools.clone(), self.prepare.clone(), stop.clone());
            let call = TurnCall { tools, call, prepare, slot: slots.slot(index), stop };
            call.run_and_report(index, self.on_result.clone())
        });
        if Handle::try_current().is_err() {
            // Calls that need no runtime run, one after the other; the others return an error that says so.
            let mut results = Vec::new();
            for call in calls {
                results.push(call.await);
            }
            return results;
        }
        let mut results: Vec<Option<ToolResult>> = Vec::new();
        let mut running = JoinSet::new();
        for (index, call) in calls.enumerate() {
            results.push(None);
            running.spawn(async move { (index, call.await) }.in_current_span());
        }
        while let Some(ended) = running.join_next().await {
            if let Ok((index, result)) = ended {
                results[index] = Some(result);
            }
        }
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }
}

/// One call of a turn.
struct TurnCall {
    tools: Dispatcher,
    call: ToolCall<'static>,
    prepare: Option<PrepareCall>,
    slot: TurnSlot,
    /// Cancelled when a user aborts the turn.
    stop: CancellationToken,
}

impl TurnCall {
    async fn run_and_report(self, index: usize, on_result: Option<OnResult>) -> ToolResult {
        let name = self.call.name().to_owned();
        let result = CatchPanic(std::pin::pin!(self.run())).await;
        let result = result.unwrap_or_else(|panic| panicked(&name, &panic));
        // A panic of the listener must not lose the result.
        if let Some(on_result) = on_result
            && let Err(panic) = panics::catch(|| on_result(index, &result))
        {
            tracing::warn!("a listener for results panicked: {panic}");
        }
        result
    }

    async fn run(self) -> ToolResult {
        let Self { tools, call, prepare, slot, stop } = self;
        let name = call.name().to_owned();
        let (mut own_slot, mut deferred_slot) = (Some(slot), None);
        if tools.may_ask(&name) {
            // The call enters its slot once it is approved.
            deferred_slot = own_slot.take();
        } else if let Some(slot) = &own_slot
            && stop.run_until_cancelled(slot.enter()).await.is_none()
        {
            return aborted(&name);
        }
        if stop.is_cancelled() {
            return aborted(&name);
        }
        let call = tools.call(call).turn_slot(deferred_slot);
        let prepared = panics::catch(|| match prepare {
            Some(prepare) => prepare(call),
            None => call,
        });
        let mut call = match prepared {
            Ok(call) => call,
            Err(panic) => return unprepared(&name, &panic),
        };
        let own = stop.child_token();
        let result = match call.cancel.replace(own.clone()) {
            None => (&mut call).await,
            Some(token) => match token.run_until_cancelled(&mut call).await {
                Some(result) => result,
                None => {
                    own.cancel();
                    (&mut call).await
                }
            },
        };
        // The result stands even if a per-call value panics when it is dropped.
        drop_quietly(call);
        // Aborting one call stops all others of its turn.
        if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted) {
            stop.cancel();
        }
        result
    }
}

fn aborted(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: the user aborted the turn.");
    ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
}

fn unprepared(tool: &str, panic: &str) -> ToolResult {
    log_error(tool, "preparing a call panicked", &*BoxError::from(panic));
    let message = format!("`{tool}` was not run: preparing it panicked.");
    ToolResult::failure(ToolError::new(ErrorKind::Panicked, message))
}

/// Returns the result of a call whose task was lost, which happens only when the runtime shuts down.
fn lost() -> ToolResult {
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, "the call was lost when its runtime ended"))
}

impl IntoFuture for Turn {
    type Output = Vec<ToolResult>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::confirm::{self, Confirm, Decision, Question};
    use crate::journal::{EntryState, MemoryJournal};
    use crate::output::{Spill, SpillKey, SpillStore};
    use crate::{RuntimeTool, Selection};

    #[tokio::test]
    async fn calls_of_a_turn_do_not_fill_the_queue_of_the_dispatcher() {
        let slow = RuntimeTool::new("slow", "", |()| async {
            tokio::task::yield_now().await;
            "done"
        });
        let builder = Dispatcher::builder().manifest(crate::Manifest::default()).tool(slow);
        let tools = builder.concurrency(2, 0).build().unwrap();
        let call = || ToolCall::from_text("slow", "{}");
        for result in tools.call_all((0..20).map(|_| call())).await {
            assert_eq!(result.output, "done");
        }
        let (one, two, three) = tokio::join!(tools.call(call()), tools.call(call()), tools.call(call()));
        assert_eq!([one.success, two.success, three.success], [true, true, false], "calls outside of a turn do");
    }

    /// A store that panics.
    struct PanickingStore;

    impl SpillStore for PanickingStore {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            panic!("the store is broken")
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            panic!("the store is broken")
        }
    }

    /// A value that panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }

    /// Inside and outside of a turn, on the fast path and on the guarded path.
    #[tokio::test]
    async fn a_panic_in_application_code_does_not_lose_the_result() {
        let builder = || {
            let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
            let short = RuntimeTool::new("short", "", |()| async { "done" });
            let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(long).tool(short);
            tools.spill(Spill::over(1_000).store(PanickingStore))
        };
        for tools in [builder().build().unwrap(), builder().journal(MemoryJournal::new()).build().unwrap()] {
            let call = |name: &'static str, id: &'static str| ToolCall::from_text(name, "{}").conversation("c").id(id);
            let mut results = Vec::new();
            for (name, id) in [("long", "1"), ("short", "2"), ("unknown", "3")] {
                results.push(tools.call(call(name, id)).with(Bomb).await);
            }
            let turn = [call("long", "4"), call("short", "5"), call("unknown", "6")];
            results.extend(tools.call_all(turn).each(|call| call.with(Bomb)).await);
            for result in results.chunks(3) {
                assert!(result[0].success && result[0].output.contains("They could not be kept"), "{:?}", result[0]);
                assert_eq!(result[1].output, "done");
                assert_eq!(result[2].error.as_ref().unwrap().kind, ErrorKind::UnknownTool);
            }
            tools.call(call("short", "7")).with(Bomb).with(Bomb).await;
            assert_eq!(tools.whole_output(Some("c"), &results[0]), None);
            if let Some(EntryState::Finished(recalled)) = tools.recall("c", "1").await.unwrap() {
                assert!(recalled.result.output.contains("They could not be kept"), "{recalled:?}");
            }
        }
    }

    /// A confirmer that approves every call.
    struct ApprovingConfirmer(Bomb);

    impl Confirm for ApprovingConfirmer {
        fn confirm<'a>(&'a self, _: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
            Box::pin(async { Decision::Run })
        }
    }

    #[tokio::test]
    async fn a_panic_outside_of_the_handler_names_the_tool_by_its_called_name() {
        let tool = RuntimeTool::new("own", "", |()| async { "done" }).sensitive();
        let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(tool).build().unwrap();
        let tools = tools.select(Selection::new().rename("own", "other")).unwrap();
        let result = tools.call(ToolCall::from_text("other", "{}")).confirm(ApprovingConfirmer(Bomb)).await;
        assert_eq!(result.error.as_ref().map(|error| error.kind), Some(ErrorKind::OutcomeUnknown), "{result:?}");
        assert!(result.output.starts_with("`other` may have taken effect"), "{result:?}");
    }

    /// A call that may need approval enters its slot late. A reload may change that before the call starts.
    #[tokio::test]
    async fn a_call_that_needs_no_approval_any_more_still_enters_its_slot() {
        let running = Arc::new(AtomicUsize::new(0));
        let alone = || {
            let running = running.clone();
            let run = move |()| {
                let running = running.clone();
                async move {
                    let beside = running.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    beside.to_string()
                }
            };
            RuntimeTool::new("alone", "", run).sequential()
        };
        let agree = confirm::from_fn(|_| async { Decision::Run });
        let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(alone().sensitive());
        let tools = tools.confirm(agree).build().unwrap();
        let (registry, changed) = (tools.registry(), Mutex::new(Some(alone())));
        let turn = tools.call_all(["1", "2", "3"].map(|id| ToolCall::from_text("alone", "{}").id(id)));
        let turn = turn.each(move |call| {
            // The first call runs by now.
            if call.request().call_id() == Some("2") {
                registry.replace(changed.lock().unwrap().take().unwrap()).unwrap();
            }
            call
        });
        let beside: Vec<String> = turn.await.into_iter().map(|result| result.output).collect();
        assert_eq!(beside, ["0", "0", "0"]);
    }

    /// Even the results of a turn that is dropped later.
    #[tokio::test]
    async fn reports_results_as_they_arrive() {
        let quick = RuntimeTool::new("quick", "", |()| async { "done" });
        let endless = RuntimeTool::new("endless", "", |()| std::future::pending::<String>());
        let tools =
            Dispatcher::builder().manifest(crate::Manifest::default()).tool(quick).tool(endless).build().unwrap();
        let calls = ["endless", "quick", "unknown"].map(|name| ToolCall::from_text(name, "{}").id(name));
        let (heard, notified) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (listener, tell) = (heard.clone(), notified.clone());
        let turn = tools.call_all(calls).each(|call| {
            assert_eq!(call.request().call_id(), Some(call.request().name()));
            call
        });
        let turn = turn.on_result(move |index, result| {
            listener.lock().unwrap().push((index, result.success));
            tell.notify_one();
            assert!(index != 2, "a panic of the listener");
        });
        let mut turn = turn.into_future();
        while heard.lock().unwrap().len() < 2 {
            tokio::select! {
                _ = &mut turn => panic!("one call never ends"),
                () = notified.notified() => {}
            }
        }
        drop(turn);
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_unstable();
        assert_eq!(heard, [(1, true), (2, false)]);
    }
}
