//! Running a tool's preview: what a call would do, without making it.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::messages::{cancelled, no_runtime};
use super::running_handler::run_in_scope;
use super::time_budget::TimeBudget;
use crate::arguments::ArgumentReader;
use crate::dispatch::DispatcherState;
use crate::dispatch::turn::turn_slot::SuspendedSlot;
use crate::dispatch::{BoundTool, CallValue};
use crate::handler_failure::{BoxError, ErrorDescriber, HandlerFailure};
use crate::handler_result::HandlerResult;
use crate::inject::{CallFacts, ScopeInner, StopOutcome};
use crate::panics::{self, CatchPanic};
use crate::shim::{HandlerStep, Invocation, InvocationPurpose, PreparedHandler};
use crate::{CallOutcome, Effect, ErrorKind, Progress, ToolCall, ToolError};

/// Runs the preview of a call with the arguments of a reader.
///
/// A preview takes a permit and has the timeout of its call. It sees the per-call values, but cannot take them, and its
/// progress is not reported. In a turn it holds a suspended slot, so that no more calls and previews run at a time than
/// there are permits: see [`TurnSlots`](crate::dispatch::turn::turn_slot::TurnSlots).
pub(crate) async fn run_preview(
    inner: &DispatcherState,
    preview: &Arc<BoundTool>,
    call: &ToolCall<'_>,
    reader: ArgumentReader<'_>,
    values: &[CallValue],
    limit: Option<Duration>,
    slot: Option<SuspendedSlot>,
) -> Result<Effect, ToolError> {
    let handler = decode(preview, reader)?;
    let mut budget = TimeBudget::new(limit);
    let permit = match &inner.rules.concurrency {
        None => None,
        Some(concurrency) => match budget.spend(concurrency.enter()).await {
            Ok(entered) => Some(entered.map_err(|busy| busy.error(&preview.name))?),
            Err(failure) => return Err(failure.into_tool_error(&preview.name, None)),
        },
    };
    let values = values.iter().filter(|value| value.type_id != TypeId::of::<Progress>()).cloned().collect();
    let facts = CallFacts::new(preview.context_of(call), budget.left).holding(permit);
    let scope = ScopeInner::new(inner.dependencies.clone(), values, facts);
    run_and_roll_back(preview.clone(), scope, handler, budget, slot, inner.rules.describe_errors.as_ref()).await
}

/// Decodes the arguments. The returned handler waits for its inputs.
fn decode(preview: &BoundTool, reader: ArgumentReader<'_>) -> Result<PreparedHandler, ToolError> {
    let mut repaired = None;
    let purpose = InvocationPurpose::Call { tool: &preview.name, reader, repaired: &mut repaired };
    let invocation = Invocation { purpose, ready: None };
    match panics::catch(|| preview.invoke(invocation)) {
        Ok(HandlerStep::Waiting(handler)) => Ok(handler),
        Ok(HandlerStep::Refused(error)) => Err(*error),
        Ok(step) => Ok(Box::new(move |_| Ok(step))),
        Err(panic) => Err(HandlerFailure::panicked(panic).into_tool_error(&preview.name, None)),
    }
}

/// Runs a preview in a scope and rolls the scope back, in a task of its own, so that both happen even if the caller
/// drops this future.
async fn run_and_roll_back(
    preview: Arc<BoundTool>,
    scope: Arc<ScopeInner>,
    handler: PreparedHandler,
    mut budget: TimeBudget,
    slot: Option<SuspendedSlot>,
    describe: Option<&ErrorDescriber>,
) -> Result<Effect, ToolError> {
    let failed = |failure: Box<HandlerFailure>| failure.into_tool_error(&preview.name, describe);
    let runtime = Handle::try_current().map_err(|_| failed(no_runtime()))?;
    let run = run_in_scope(preview.clone(), scope.clone(), runtime.clone(), handler, None);
    let stop = CancellationToken::new();
    let _stopped_if_dropped = stop.clone().drop_guard();
    let task = async move {
        // Held until the permit is released: then another call of the turn may run.
        let _slot = slot;
        let result = stop.run_until_cancelled(CatchPanic(Box::pin(budget.spend(run)))).await;
        let result: HandlerResult = match result {
            Some(Ok(in_time)) => in_time.unwrap_or_else(Err),
            Some(Err(panic)) => Err(HandlerFailure::panicked(panic)),
            None => Err(cancelled()),
        };
        let is_stopped =
            matches!(&result, Err(failure) if matches!(failure.kind, ErrorKind::TimedOut | ErrorKind::Cancelled));
        let still_runs = is_stopped && scope.revoke() == StopOutcome::StillRuns;
        let finished = tokio::spawn(scope.finish(CallOutcome::Cancelled).in_current_span());
        // A blocked thread cannot be stopped, so the result does not wait for it.
        if !still_runs {
            finished.await.unwrap_or_else(|error| Err(error.into()))?;
        }
        Ok::<HandlerResult, BoxError>(result)
    };
    let result = match runtime.spawn(task.in_current_span()).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => {
            Err(HandlerFailure::new(ErrorKind::Failed, "the preview could not be rolled back").with_error(error))
        }
        Err(error) => Err(HandlerFailure::new(ErrorKind::Failed, format!("the preview's task ended: {error}"))),
    };
    let output = result.map_err(failed)?;
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
        /// The number of calls that run now, and the highest number so far.
        running: Arc<(AtomicUsize, AtomicUsize)>,
    }

    impl Host {
        async fn work(&self) {
            let (now, most) = &*self.running;
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }

        fn most(&self) -> usize {
            self.running.1.load(Ordering::SeqCst)
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

    /// The previews that a user was shown.
    type Shown = Arc<Mutex<Vec<String>>>;

    fn approve_all(shown: &Shown) -> impl Confirm + use<> {
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
    async fn previews_of_a_turn_wait_for_a_permit() {
        for at_once in [1, 2] {
            let (host, shown) = (Host::default(), Shown::default());
            let tools = builder(&host).confirm(approve_all(&shown)).concurrency(at_once, 0).build().unwrap();
            let results = tools.call_all(TURN.map(call)).await;
            assert!(results.iter().all(|result| result.success), "{results:?}");
            assert_eq!(*shown.lock().unwrap(), [r#"{"command":"reboot"}"#; 3]);
            assert_eq!(host.most(), at_once);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn dry_runs_of_a_turn_wait_for_a_permit() {
        for at_once in [1, 2] {
            let host = Host::default();
            let tools = builder(&host).dry_run(true).concurrency(at_once, 0).build().unwrap();
            let results = tools.call_all(TURN.map(call)).await;
            assert!(results.iter().all(|result| result.success), "{results:?}");
            assert_eq!(results.iter().filter(|result| result.output.contains("reboot")).count(), 3, "{results:?}");
            assert_eq!(host.most(), at_once);
        }
    }

    /// Otherwise a user would decide on a call without its preview, and the call could not run.
    #[tokio::test(start_paused = true)]
    async fn a_single_call_is_refused_if_its_preview_gets_no_permit() {
        let (host, shown) = (Host::default(), Shown::default());
        let tools = builder(&host).confirm(approve_all(&shown)).concurrency(1, 0).build().unwrap();
        let (look, restart, tried) =
            tokio::join!(tools.call(call("look")), tools.call(call("restart")), tools.call(call("restart")).dry_run());
        assert!(look.success);
        for refused in [restart, tried] {
            let error = refused.error.unwrap();
            assert_eq!(error.kind, ErrorKind::Busy);
            assert!(error.retry_after().is_some());
        }
        assert!(shown.lock().unwrap().is_empty(), "no user is asked");
        assert!(tools.call(call("restart")).await.success);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_preview_stops_it() {
        let host = Host::default();
        let tools = builder(&host).confirm(approve_all(&Shown::default())).concurrency(1, 0).build().unwrap();
        let second = Duration::from_secs(1);
        assert!(tokio::time::timeout(second, tools.call(call("wait")).preview()).await.is_err());
        sleep(second).await;
        assert!(tools.call(call("look")).await.success, "its permit is free");
        assert!(tokio::time::timeout(second, tools.call(call("wait"))).await.is_err());
        sleep(second).await;
        assert!(tools.call(call("look")).await.success, "its permit is free");
    }

    /// The preview of the cancelled call is stopped and rolled back before the next call starts.
    #[tokio::test(start_paused = true)]
    async fn cancelling_a_call_during_its_preview_frees_its_permit() {
        let host = Host::default();
        let tools = builder(&host).confirm(approve_all(&Shown::default())).concurrency(1, 0).build().unwrap();
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

    /// A per-call value.
    struct Ticket(String);

    /// A service whose preview reads a ticket until it receives a message.
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
    async fn a_handler_waits_for_a_value_that_a_late_preview_still_reads() {
        let (started, has_started) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let gate = Gate { started: Mutex::new(started), stop: Mutex::new(stopped) };
        let confirm = confirm::from_fn(move |question: Question| {
            assert!(question.preview.unwrap().to_string().contains("did not finish within 10s"));
            let stop = stop.clone();
            tokio::spawn(async move {
                // The handler is waiting by then.
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
        // Paused time does not advance by itself while a thread blocks.
        advance(Duration::from_secs(11)).await;
        while !entering.is_finished() {
            advance(Duration::from_millis(1)).await;
        }
        assert_eq!(entering.await.unwrap().output, "ticket 7 is used");
    }
}
