//! The calls of one turn, side by side.

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
use crate::panics::{self, CatchPanic, drop_quietly};
use crate::{ErrorKind, ToolCall, ToolError, ToolResult};

/// How many calls of a turn run at a time unless it is said.
const AT_A_TIME: usize = 16;

type Prepare = Arc<dyn for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync>;

type Hear = Arc<dyn Fn(usize, &ToolResult) + Send + Sync>;

/// The calls of one turn; see [`Dispatcher::call_all`]. Await it.
#[must_use = "a turn does nothing unless it is awaited"]
pub struct Turn {
    tools: Dispatcher,
    calls: Vec<ToolCall<'static>>,
    at_a_time: usize,
    prepare: Option<Prepare>,
    hear: Option<Hear>,
}

impl Turn {
    pub(crate) fn new(tools: &Dispatcher, calls: Vec<ToolCall<'static>>) -> Self {
        Self { tools: tools.clone(), calls, at_a_time: AT_A_TIME, prepare: None, hear: None }
    }

    /// How many calls run at a time, 16 unless it is said, and no more than the dispatcher
    /// [runs at all](crate::Builder::concurrency); the others wait. A call that is being approved does not count meanwhile,
    /// but its preview does.
    pub fn concurrency(mut self, at_a_time: NonZeroUsize) -> Self {
        self.at_a_time = at_a_time.get();
        self
    }

    /// Tells each call more, such as [`Call::with`] a value or a [`Call::timeout`], which begins when it is the call's
    /// turn. If this panics, the call does not run.
    pub fn each(mut self, prepare: impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + 'static) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// Hears each result as soon as it is there, with the place of its call: before the turn is over, and also if it is
    /// dropped then. It is told in the task of the call, and should not take long.
    pub fn heard(mut self, hear: impl Fn(usize, &ToolResult) + Send + Sync + 'static) -> Self {
        self.hear = Some(Arc::new(hear));
        self
    }

    async fn run(self) -> Vec<ToolResult> {
        let alone = |call: &ToolCall<'_>| self.tools.definition(call.name()).is_some_and(|tool| tool.sequential);
        // More could not run anyway, and would take the places to wait from each other.
        let at_a_time = self.tools.concurrency().map_or(self.at_a_time, |all| self.at_a_time.min(all.at_once()));
        let seats = TurnSlots::new(at_a_time, self.calls.iter().map(alone));
        let stop = CancellationToken::new();
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| {
            let (tools, prepare, stop) = (self.tools.clone(), self.prepare.clone(), stop.clone());
            let one = TurnCall { tools, call, prepare, seat: seats.seat(index), stop };
            one.heard(index, self.hear.clone())
        });
        if Handle::try_current().is_err() {
            // What needs no runtime runs, and the rest says that there is none.
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

/// TurnCall call of a turn.
struct TurnCall {
    tools: Dispatcher,
    call: ToolCall<'static>,
    prepare: Option<Prepare>,
    seat: TurnSlot,
    /// Cancelled when somebody stops the turn.
    stop: CancellationToken,
}

impl TurnCall {
    async fn heard(self, index: usize, hear: Option<Hear>) -> ToolResult {
        let name = self.call.name().to_owned();
        let result = CatchPanic(std::pin::pin!(self.run())).await;
        let result = result.unwrap_or_else(|panic| panicked(&name, &panic));
        // Whoever listens cannot take a result away.
        if let Some(hear) = hear
            && let Err(panic) = panics::catch(|| hear(index, &result))
        {
            tracing::warn!("whoever hears of results panicked: {panic}");
        }
        result
    }

    async fn run(self) -> ToolResult {
        let Self { tools, call, prepare, seat, stop } = self;
        let name = call.name().to_owned();
        let (mut kept, mut handed_on) = (Some(seat), None);
        if tools.may_ask(&name) {
            // It takes its place once somebody has agreed.
            handed_on = kept.take();
        } else if let Some(seat) = &kept
            && stop.run_until_cancelled(seat.enter()).await.is_none()
        {
            return aborted(&name);
        }
        if stop.is_cancelled() {
            return aborted(&name);
        }
        let call = tools.call(call).seat(handed_on);
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
        // The result stands, whatever the values that came with the call do when they are dropped.
        drop_quietly(call);
        // Whoever aborts one call stops all others of its turn.
        if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Aborted) {
            stop.cancel();
        }
        result
    }
}

fn aborted(tool: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: somebody has stopped everything.");
    ToolResult::failure(ToolError::new(ErrorKind::Aborted, message))
}

fn unprepared(tool: &str, panic: &str) -> ToolResult {
    let message = format!("`{tool}` was not run: preparing it panicked: {panic}");
    ToolResult::failure(ToolError::new(ErrorKind::Panicked, message))
}

/// A call whose task was taken away, which only the end of the runtime does: a panic is a result.
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

    /// However few may run and wait at a time.
    #[tokio::test]
    async fn the_calls_of_a_turn_do_not_crowd_each_other_out() {
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
        assert_eq!([one.success, two.success, three.success], [true, true, false], "by themselves they do");
    }

    /// Panics when it is used or dropped.
    struct Broken;

    impl SpillStore for Broken {
        fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
            panic!("the store is broken")
        }

        fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
            panic!("the store is broken")
        }
    }

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }

    /// In a turn and alone, on the short way and on the careful one.
    #[tokio::test]
    async fn a_panic_of_the_applications_takes_no_result_away() {
        let builder = || {
            let long = RuntimeTool::new("long", "", |()| async { "x".repeat(5_000) });
            let short = RuntimeTool::new("short", "", |()| async { "done" });
            let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(long).tool(short);
            tools.spill(Spill::over(1_000).store(Broken))
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

    /// Agrees.
    struct Agreeing(Bomb);

    impl Confirm for Agreeing {
        fn confirm<'a>(&'a self, _: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
            Box::pin(async { Decision::Run })
        }
    }

    #[tokio::test]
    async fn a_panic_outside_of_the_handler_names_the_tool_as_it_was_called() {
        let tool = RuntimeTool::new("own", "", |()| async { "done" }).sensitive();
        let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(tool).build().unwrap();
        let tools = tools.select(Selection::new().rename("own", "other")).unwrap();
        let result = tools.call(ToolCall::from_text("other", "{}")).confirm(Agreeing(Bomb)).await;
        assert_eq!(result.error.as_ref().map(|error| error.kind), Some(ErrorKind::OutcomeUnknown), "{result:?}");
        assert!(result.output.starts_with("`other` may have taken effect"), "{result:?}");
    }

    /// A turn gives a place of its own to a call that may have to be approved. That may change before the call starts.
    #[tokio::test]
    async fn a_call_that_needs_no_approval_any_more_takes_its_place_all_the_same() {
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
            // The first one runs by now.
            if call.request().call_id() == Some("2") {
                registry.replace(changed.lock().unwrap().take().unwrap()).unwrap();
            }
            call
        });
        let beside: Vec<String> = turn.await.into_iter().map(|result| result.output).collect();
        assert_eq!(beside, ["0", "0", "0"]);
    }

    /// What a dropped turn has done is known all the same.
    #[tokio::test]
    async fn results_are_heard_as_they_come() {
        let quick = RuntimeTool::new("quick", "", |()| async { "done" });
        let endless = RuntimeTool::new("endless", "", |()| std::future::pending::<String>());
        let tools =
            Dispatcher::builder().manifest(crate::Manifest::default()).tool(quick).tool(endless).build().unwrap();
        let calls = ["endless", "quick", "unknown"].map(|name| ToolCall::from_text(name, "{}").id(name));
        let (heard, told) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (listener, tell) = (heard.clone(), told.clone());
        let turn = tools.call_all(calls).each(|call| {
            assert_eq!(call.request().call_id(), Some(call.request().name()));
            call
        });
        let turn = turn.heard(move |index, result| {
            listener.lock().unwrap().push((index, result.success));
            tell.notify_one();
            assert!(index != 2, "a panic of whoever listens is theirs");
        });
        let mut turn = turn.into_future();
        while heard.lock().unwrap().len() < 2 {
            tokio::select! {
                _ = &mut turn => panic!("one of them never ends"),
                () = told.notified() => {}
            }
        }
        drop(turn);
        let mut heard = heard.lock().unwrap().clone();
        heard.sort_unstable();
        assert_eq!(heard, [(1, true), (2, false)]);
    }
}
