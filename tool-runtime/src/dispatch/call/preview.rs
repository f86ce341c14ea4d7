//! What a call would do, without making it.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::arguments::Reader;
use crate::dispatch::call::messages::{cancelled, in_words, no_runtime};
use crate::dispatch::call::scoped;
use crate::dispatch::call::time_budget::TimeBudget;
use crate::dispatch::dispatcher::DispatcherState;
use crate::dispatch::turn::turn_slot::SuspendedSlot;
use crate::dispatch::{BoundTool, Call, CallValue};
use crate::handler_result::{HandlerFailure, HandlerResult};
use crate::inject::{CallFacts, ScopeInner, StopOutcome};
use crate::panics::{self, CatchPanic};
use crate::shim::{Invocation, InvocationPurpose, PreparedHandler, Step};
use crate::{CallOutcome, Effect, ErrorKind, Progress, ToolCall, ToolError};

impl Call<'_> {
    /// What the call would do, in its tool's own words, without making it; nothing if its tool has no
    /// [preview](Effect).
    ///
    /// The arguments are checked as those of the call are, it takes a place among the calls that run at a time, and it
    /// may take as long as the call. What is injected into the preview is made for it and rolled back; nobody hears of
    /// its progress.
    ///
    /// # Errors
    /// When there is no such tool, when its arguments are wrong, or when the preview itself fails.
    pub async fn preview(mut self) -> Result<Option<Effect>, ToolError> {
        let inner = &self.tools.inner;
        let tool = self.tools.with_offer(|offer| match offer.tools.get(self.call.name()) {
            Some(tool) => Ok(tool.clone()),
            None => Err(offer.unknown_tool(self.call.name())),
        })?;
        let Some(preview) = tool.preview.clone() else { return Ok(None) };
        if self.call.arguments().len() > inner.limits.argument_bytes {
            return Err(self.too_long());
        }
        self.suit(&tool);
        let limit = self.timeout_of(&preview);
        let arguments = (self.call.arguments(), inner.limits.repair);
        let previewed = of(inner, preview.clone(), &self.call, arguments, &self.with, limit, None);
        let effect = match &self.cancel {
            None => previewed.await,
            Some(token) => {
                token.run_until_cancelled(previewed).await.unwrap_or_else(|| Err(in_words(&preview, *cancelled())))
            }
        };
        effect.map(Some)
    }
}

/// What a call with these arguments would do, which may be mended or not.
///
/// A preview has a place among the calls that run at a time, and as long as its call has. It sees what came with the
/// call, but cannot take it away, nor does it report to whoever listens to the call. In a turn it has a seat, by which
/// the calls of the turn take care that there is a place: see [`TurnSlots`](crate::dispatch::turn::turn_slot::TurnSlots).
pub(crate) async fn of(
    inner: &DispatcherState,
    preview: Arc<BoundTool>,
    call: &ToolCall<'_>,
    (text, repair): (&str, bool),
    with: &[CallValue],
    limit: Option<Duration>,
    seat: Option<SuspendedSlot>,
) -> Result<Effect, ToolError> {
    let reader = Reader { text, schemas: preview.schemas(), allow_unknown: inner.limits.allow_unknown, repair };
    let waiting = decoded(&preview, reader)?;
    let mut budget = TimeBudget::new(limit);
    let permit = match &inner.rules.concurrency {
        None => None,
        Some(concurrency) => match budget.spend(concurrency.enter()).await {
            Ok(entered) => Some(entered.map_err(|busy| busy.error(&preview.name))?),
            Err(failure) => return Err(in_words(&preview, *failure)),
        },
    };
    let with = with.iter().filter(|given| given.type_id != TypeId::of::<Progress>()).cloned().collect();
    let facts = CallFacts::new(preview.context_of(call), budget.left).holding(permit);
    let scope = ScopeInner::new(inner.dependencies.clone(), with, facts);
    effect(preview, scope, waiting, budget, seat).await
}

/// A preview with its arguments, waiting for its inputs.
fn decoded(preview: &BoundTool, reader: Reader<'_>) -> Result<PreparedHandler, ToolError> {
    let mut repaired = None;
    let purpose = InvocationPurpose::Call { tool: &preview.name, reader, repaired: &mut repaired };
    let invocation = Invocation { purpose, ready: None };
    match panics::catch(|| preview.invoke(invocation)) {
        Ok(Step::Waiting(waiting)) => Ok(waiting),
        Ok(Step::Refused(error)) => Err(*error),
        Ok(step) => Ok(Box::new(move |_| Ok(step))),
        Err(panic) => Err(in_words(preview, *HandlerFailure::new(ErrorKind::Panicked, panic))),
    }
}

/// Runs a preview in a scope and rolls it back, in a task of its own: if the caller drops it, it is stopped and rolled
/// back all the same.
async fn effect(
    preview: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    waiting: PreparedHandler,
    mut budget: TimeBudget,
    seat: Option<SuspendedSlot>,
) -> Result<Effect, ToolError> {
    let failed = |failure: Box<HandlerFailure>| in_words(&preview, *failure);
    let runtime = Handle::try_current().map_err(|_| failed(no_runtime()))?;
    let run = scoped::run(preview.clone(), scope.clone(), runtime.clone(), waiting, None);
    let stop = CancellationToken::new();
    let _stopped_if_dropped = stop.clone().drop_guard();
    let task = async move {
        // Until the place is free again: another call of the turn may run then.
        let _seat = seat;
        let answer = stop.run_until_cancelled(CatchPanic(Box::pin(budget.spend(run)))).await;
        let answer: HandlerResult = match answer {
            Some(Ok(in_time)) => in_time.unwrap_or_else(Err),
            Some(Err(panic)) => Err(HandlerFailure::new(ErrorKind::Panicked, panic)),
            None => Err(cancelled()),
        };
        let is_stopped =
            matches!(&answer, Err(failure) if matches!(failure.kind, ErrorKind::TimedOut | ErrorKind::Cancelled));
        let is_held = is_stopped && scope.revoke() == StopOutcome::StillRuns;
        let finished = tokio::spawn(scope.finish(CallOutcome::Cancelled).in_current_span());
        // A thread that blocks cannot be stopped; nobody waits for it.
        if !is_held {
            finished.await.unwrap_or_else(|error| Err(error.to_string()))?;
        }
        Ok::<HandlerResult, String>(answer)
    };
    let answer = match runtime.spawn(task.in_current_span()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Err(HandlerFailure::new(ErrorKind::Finish, error)),
        Err(error) => Err(HandlerFailure::new(ErrorKind::Failed, format!("the preview's task ended: {error}"))),
    };
    let output = answer.map_err(failed)?;
    serde_json::from_str(&output.text)
        .map_err(|error| failed(HandlerFailure::new(ErrorKind::Failed, error.to_string())))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};

    use tokio::time::{advance, sleep};

    use super::*;
    use crate::confirm::{self, Confirm, Decision, Question};
    use crate::{Builder, Dispatcher, tool, tool_class};

    #[derive(Clone, Default)]
    struct Host {
        /// How much is going on now, and how much was at most.
        going_on: Arc<(AtomicUsize, AtomicUsize)>,
    }

    impl Host {
        async fn work(&self) {
            let (now, most) = &*self.going_on;
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }

        fn most(&self) -> usize {
            self.going_on.1.load(Ordering::SeqCst)
        }
    }

    #[tool_class(crate = crate, manual, prefix = "host")]
    impl Host {
        /// Restart.
        #[tool(sensitive, preview = "would_restart")]
        async fn restart(&self) -> &'static str {
            self.work().await;
            "restarted"
        }

        /// Restart alone.
        #[tool(sensitive, sequential, preview = "would_restart")]
        async fn restart_alone(&self) -> &'static str {
            self.work().await;
            "restarted alone"
        }

        async fn would_restart(&self) -> Effect {
            self.work().await;
            Effect::Command("reboot".to_owned())
        }

        /// Look.
        #[tool]
        async fn look(&self) -> &'static str {
            self.work().await;
            "fine"
        }

        /// Never say what it would do.
        #[tool(sensitive, preview = "would_wait")]
        async fn wait(&self) {}

        async fn would_wait(&self) -> Effect {
            std::future::pending().await
        }
    }

    /// The previews that were shown.
    type Shown = Arc<Mutex<Vec<String>>>;

    fn agreeing(shown: &Shown) -> impl Confirm + use<> {
        let shown = shown.clone();
        confirm::from_fn(move |question: Question| {
            shown.lock().unwrap().push(question.preview.unwrap_or_default().to_string());
            async { Decision::Run }
        })
    }

    fn builder(host: &Host) -> Builder {
        Dispatcher::builder().service(host.clone())
    }

    fn call(name: &str) -> ToolCall<'static> {
        ToolCall::from_text(format!("host.{name}"), "{}")
    }

    const TURN: [&str; 5] = ["restart", "look", "restart_alone", "restart", "look"];

    #[tokio::test(start_paused = true)]
    async fn the_previews_of_a_turn_wait_for_their_place() {
        for at_once in [1, 2] {
            let (host, shown) = (Host::default(), Shown::default());
            let tools = builder(&host).confirm(agreeing(&shown)).concurrency(at_once, 0).build().unwrap();
            let results = tools.call_all(TURN.map(call)).await;
            assert!(results.iter().all(|result| result.success), "{results:?}");
            assert_eq!(*shown.lock().unwrap(), [r#"{"command":"reboot"}"#; 3]);
            assert_eq!(host.most(), at_once);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_dry_runs_of_a_turn_wait_for_their_place() {
        for at_once in [1, 2] {
            let host = Host::default();
            let tools = builder(&host).dry_run(true).concurrency(at_once, 0).build().unwrap();
            let results = tools.call_all(TURN.map(call)).await;
            assert!(results.iter().all(|result| result.success), "{results:?}");
            assert_eq!(results.iter().filter(|result| result.output.contains("reboot")).count(), 3, "{results:?}");
            assert_eq!(host.most(), at_once);
        }
    }

    /// A person would decide on a call that could not run, without knowing what it would do.
    #[tokio::test(start_paused = true)]
    async fn outside_of_a_turn_a_call_whose_preview_finds_no_place_is_refused() {
        let (host, shown) = (Host::default(), Shown::default());
        let tools = builder(&host).confirm(agreeing(&shown)).concurrency(1, 0).build().unwrap();
        let (look, restart, tried) =
            tokio::join!(tools.call(call("look")), tools.call(call("restart")), tools.call(call("restart")).dry_run());
        assert!(look.success);
        for refused in [restart, tried] {
            let error = refused.error.unwrap();
            assert_eq!(error.kind, ErrorKind::Busy);
            assert!(error.retry_after().is_some());
        }
        assert!(shown.lock().unwrap().is_empty(), "nobody was asked");
        assert!(tools.call(call("restart")).await.success);
    }

    #[tokio::test(start_paused = true)]
    async fn a_preview_that_is_dropped_is_stopped() {
        let host = Host::default();
        let tools = builder(&host).confirm(agreeing(&Shown::default())).concurrency(1, 0).build().unwrap();
        let second = Duration::from_secs(1);
        assert!(tokio::time::timeout(second, tools.call(call("wait")).preview()).await.is_err());
        sleep(second).await;
        assert!(tools.call(call("look")).await.success, "its place is free");
        assert!(tokio::time::timeout(second, tools.call(call("wait"))).await.is_err());
        sleep(second).await;
        assert!(tools.call(call("look")).await.success, "its place is free");
    }

    /// Its preview is stopped and rolled back before the next one starts.
    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_cancelled_during_its_preview_crowds_out_no_other() {
        let host = Host::default();
        let tools = builder(&host).confirm(agreeing(&Shown::default())).concurrency(1, 0).build().unwrap();
        let stop = CancellationToken::new();
        let cancel = stop.clone();
        let turn = tools.call_all(["wait", "look", "restart"].map(call)).each(move |call| {
            let is_cancelled = call.request().name() == "host.wait";
            if is_cancelled { call.cancel(cancel.clone()) } else { call }
        });
        let stopping = async {
            sleep(Duration::from_secs(1)).await;
            stop.cancel();
        };
        let (results, ()) = tokio::join!(turn.into_future(), stopping);
        assert_eq!(results[0].error.as_ref().map(|error| error.kind), Some(ErrorKind::Cancelled));
        assert_eq!([&*results[1].output, &*results[2].output], ["fine", "restarted"]);
        assert_eq!(host.most(), 1);
    }

    /// Belongs to one call.
    struct Ticket(String);

    /// Uses tickets, and looks at them until it is told to stop.
    struct Gate {
        started: Mutex<mpsc::Sender<()>>,
        stop: Mutex<mpsc::Receiver<()>>,
    }

    #[tool_class(crate = crate, manual, prefix = "gate")]
    impl Gate {
        /// Use a ticket.
        #[tool(sensitive, blocking, preview = "would_enter")]
        fn enter(&self, #[inject] ticket: &mut Ticket) -> String {
            ticket.0.push_str(" is used");
            ticket.0.clone()
        }

        fn would_enter(&self, #[inject] ticket: &Ticket) -> Effect {
            self.started.lock().unwrap().send(()).unwrap();
            self.stop.lock().unwrap().recv().unwrap();
            Effect::Text(ticket.0.clone())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_waits_for_what_a_late_preview_still_reads() {
        let (started, has_started) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let gate = Gate { started: Mutex::new(started), stop: Mutex::new(stopped) };
        let confirm = confirm::from_fn(move |question: Question| {
            assert!(question.preview.unwrap().to_string().contains("did not finish within 10s"));
            let stop = stop.clone();
            tokio::spawn(async move {
                // The handler waits by then.
                sleep(Duration::from_millis(100)).await;
                stop.send(()).unwrap();
            });
            async { Decision::Run }
        });
        let builder = Dispatcher::builder().service(gate).per_call::<Ticket>().confirm(confirm);
        let tools = builder.timeout(Duration::from_secs(10)).build().unwrap();
        let entering = tokio::spawn(async move {
            tools.call(ToolCall::from_text("gate.enter", "{}")).with(Ticket("ticket 7".to_owned())).await
        });
        while has_started.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        // While a thread blocks, time goes on only by hand.
        advance(Duration::from_secs(11)).await;
        while !entering.is_finished() {
            advance(Duration::from_millis(1)).await;
        }
        assert_eq!(entering.await.unwrap().output, "ticket 7 is used");
    }
}
