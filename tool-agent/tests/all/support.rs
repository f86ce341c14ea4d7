//! Tools, models, and checks of histories and events.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use serde_json::json;
use tokio::task::yield_now;
use tool_agent::{
    AgentEvent, AgentUpdate, Message, Model, ModelCall, ModelRequest, Reply, ResponsePart, ResponseStream,
};
use tool_runtime::inject::InjectError;
use tool_runtime::{Builder, Context, Dispatcher, ErrorKind, Progress, Scope, tool};

/// Counters of the tools' activity.
#[derive(Clone, Default)]
pub struct Gauge(Arc<Counts>);

#[derive(Default)]
struct Counts {
    running: AtomicI64,
    sessions: AtomicI64,
    steps: AtomicU64,
    is_released: AtomicBool,
}

impl Gauge {
    pub fn running(&self) -> i64 {
        self.0.running.load(Ordering::SeqCst)
    }

    pub fn sessions(&self) -> i64 {
        self.0.sessions.load(Ordering::SeqCst)
    }

    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::SeqCst)
    }

    pub fn step(&self) {
        self.0.steps.fetch_add(1, Ordering::SeqCst);
    }

    /// Releases the handlers that block their thread.
    pub fn release(&self) {
        self.0.is_released.store(true, Ordering::SeqCst);
    }

    pub fn enter(&self) -> Running {
        self.0.running.fetch_add(1, Ordering::SeqCst);
        Running(self.clone())
    }
}

/// A running handler.
pub struct Running(Gauge);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A value that must be finished, like a transaction.
pub struct Session;

/// Work for some steps.
#[tool(name = "work.steps", read_only)]
async fn steps(steps: u32, #[inject] gauge: &Gauge, #[inject] progress: &Progress, #[inject] session: &Session) -> u32 {
    let _ = session;
    let _running = gauge.enter();
    for step in 0..steps {
        gauge.step();
        progress.report(json!({"step": step}));
        yield_now().await;
    }
    steps
}

/// Fail.
#[tool(name = "work.fail")]
fn fail(how: &str) -> Result<(), String> {
    match how {
        "panic" => panic!("as asked"),
        _ => Err(format!("failed by {how}")),
    }
}

/// Delete a thing.
#[tool(name = "thing.delete", sensitive)]
fn delete(name: &str, #[inject] gauge: &Gauge) -> String {
    gauge.step();
    format!("{name} is gone")
}

/// Hold a thread, and report before and after.
#[tool(name = "work.hold", sensitive, blocking)]
fn hold(#[inject] gauge: &Gauge, #[inject] progress: &Progress) {
    let _running = gauge.enter();
    progress.report(json!("before"));
    while !gauge.0.is_released.load(Ordering::SeqCst) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    progress.report(json!("after"));
}

/// Never end.
#[tool(name = "work.endless")]
async fn endless(#[inject] gauge: &Gauge) {
    let _running = gauge.enter();
    std::future::pending::<()>().await;
}

/// Look at a thing for ever.
#[tool(name = "thing.watch", sensitive)]
async fn watch(#[inject] gauge: &Gauge) {
    let _running = gauge.enter();
    std::future::pending::<()>().await;
}

/// Log in.
#[tool(name = "door.open")]
fn open(user: &str, #[arg(secret)] password: &str) -> String {
    format!("{user} is in, {}", password.len())
}

/// The user on whose behalf a call is made.
pub struct User(pub &'static str);

/// Return the user and the conversation of the call.
#[tool]
fn whose(#[inject] user: &User, #[inject] context: &Context) -> String {
    format!("{} {:?} {:?} {:?}", user.0, context.conversation(), context.channel(), context.chat())
}

/// Returns the tools and their counters.
pub fn tools() -> (Dispatcher, Gauge) {
    let gauge = Gauge::default();
    (builder(&gauge).build().unwrap(), gauge)
}

pub fn builder(gauge: &Gauge) -> Builder {
    let (begun, finished) = (gauge.clone(), gauge.clone());
    Dispatcher::builder()
        .per_call::<User>()
        .value("gauge", gauge.clone())
        .provide("session", move |_: Scope| {
            begun.0.sessions.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, InjectError>(Session) }
        })
        .finish("session", move |_: Session, _| {
            finished.0.sessions.fetch_sub(1, Ordering::SeqCst);
            async {}
        })
}

/// Makes three calls, then reports their results.
pub fn three_calls(request: ModelRequest<'_>) -> Reply {
    match request.messages.last() {
        Some(Message::Tools { results }) => {
            let outputs: Vec<&str> = results.iter().map(|result| result.result.output.as_str()).collect();
            Reply::text("The steps: ").and_text(outputs.join(", "))
        }
        _ => Reply::text("I ")
            .and_text("work.")
            .and_call("work.steps", json!({"steps": 1}))
            .and_call("work.steps", json!({"steps": 2}))
            .and_call("work.steps", json!({"steps": 3})),
    }
}

/// A model that yields before each piece.
pub struct Hesitant<M>(pub M);

impl<M: Model> Model for Hesitant<M> {
    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        use tokio_stream::StreamExt;
        Box::pin(self.0.respond(request).then(|part| async {
            yield_now().await;
            part
        }))
    }
}

/// Returns the flaw of a history, if any: each call must have one result directly after its message, in order, and no
/// two calls may have the same id.
pub fn flaw(history: &[Message]) -> Option<String> {
    let mut ids = HashSet::new();
    let mut open: &[ModelCall] = &[];
    for (at, message) in history.iter().enumerate() {
        match message {
            Message::Tools { results } => {
                let answered = results.iter().map(|result| (&result.id, &result.name));
                if open.is_empty() || !answered.eq(open.iter().map(|call| (&call.id, &call.name))) {
                    return Some(format!("results at {at} do not answer the calls before: {results:?}, {open:?}"));
                }
                open = &[];
            }
            _ if !open.is_empty() => return Some(format!("calls before {at} have no results: {open:?}")),
            Message::Assistant(assistant) => {
                if assistant.text.is_empty() && assistant.calls.is_empty() {
                    return Some(format!("the answer at {at} is empty"));
                }
                open = &assistant.calls;
                if let Some(call) = open.iter().find(|call| call.id.is_empty() || !ids.insert(&call.id)) {
                    return Some(format!("the id {:?} stands twice or is none", call.id));
                }
            }
            _ => {}
        }
    }
    (!open.is_empty()).then(|| format!("the last calls have no results: {open:?}"))
}

#[track_caller]
pub fn assert_valid(history: &[Message]) {
    assert_eq!(flaw(history), None, "{history:#?}");
}

/// Checks that everything that starts ends, and that no event follows the end.
#[track_caller]
pub fn check_events(updates: &[AgentUpdate], is_polled: bool) {
    let count =
        |is: fn(&AgentEvent) -> bool| updates.iter().filter_map(AgentUpdate::event).filter(|event| is(event)).count();
    let started = updates.iter().filter_map(AgentUpdate::event).filter_map(|event| match event {
        AgentEvent::CallStarted { id, .. } => Some(&**id),
        _ => None,
    });
    let ended = updates.iter().filter_map(AgentUpdate::event).filter_map(|event| match event {
        AgentEvent::CallFinished(result) => Some(&*result.id),
        AgentEvent::CallPending { id, .. } => Some(&**id),
        _ => None,
    });
    // A pending call that is refused ends without starting again.
    let ended: Vec<&str> = ended.collect();
    assert_eq!(ended.iter().collect::<BTreeSet<_>>().len(), ended.len(), "{updates:?}");
    assert!(started.into_iter().all(|id| ended.contains(&id)), "{updates:?}");
    assert_eq!(count(|event| matches!(event, AgentEvent::Ended(_))), usize::from(is_polled), "{updates:?}");
    let last = updates.last().and_then(AgentUpdate::event);
    assert!(!is_polled || matches!(last, Some(AgentEvent::Ended(_))), "{updates:?}");
}

/// Returns the error kinds of the results of a message; `None` for a success.
pub fn kinds(message: &Message) -> Vec<Option<ErrorKind>> {
    let Message::Tools { results } = message else { panic!("no results: {message:?}") };
    results.iter().map(|result| result.result.error.as_ref().map(|error| error.kind)).collect()
}

pub fn call(id: &str, name: &str, arguments: &str) -> ResponsePart {
    ResponsePart::Call(ModelCall::new(id, name, arguments))
}

/// Yields to other tasks until a condition holds.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("timed out waiting until {what}");
}

/// Advances the paused clock.
pub async fn pass(time: std::time::Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}
