//! An approval is spent when the handler starts, and by nothing else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::sync::Semaphore;
use tool_runtime::confirm::{
    Deferred, MemoryPendingStore, PendingStore, PendingStoreError, PendingStoreFuture, PolicyVerdict, SealedCall,
    TokenError,
};
use tool_runtime::journal::{EntryQuery, EntryState, FinishedCall, Journal, MemoryJournal};
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{
    Builder, CancellationToken, Dispatcher, ErrorKind, Manifest, Policy, RuntimeTool, ToolCall, ToolResult, tool,
};

/// Number of payments per payee. Tests run concurrently, so each uses its own payee.
static PAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn runs(to: &str) -> usize {
    PAID.lock().unwrap().iter().filter(|known| *known == to).count()
}

#[derive(Clone)]
struct Session;

/// Pay someone.
#[tool(name = "approvals.pay", sensitive)]
async fn pay(to: String, #[inject] session: &Session) -> &'static str {
    let _ = session;
    PAID.lock().unwrap().push(to);
    "paid"
}

/// Pay someone, on a thread of its own.
#[tool(name = "approvals.pay_slowly", sensitive, blocking)]
fn pay_slowly(to: String) -> &'static str {
    PAID.lock().unwrap().push(to);
    "paid"
}

/// Pay someone, and never be done.
#[tool(name = "approvals.pay_for_ever", sensitive)]
async fn pay_for_ever(to: String) {
    PAID.lock().unwrap().push(to);
    std::future::pending::<()>().await;
}

/// Wait until the call is stopped.
#[tool(name = "approvals.wait")]
async fn wait() {
    std::future::pending::<()>().await;
}

fn unprovided() -> Builder {
    let linked = Manifest::linked();
    let ours = linked.iter().filter(|(name, _)| name.starts_with("approvals."));
    Dispatcher::builder().manifest(ours.map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<Manifest>())
}

fn builder() -> Builder {
    unprovided().value("session", Session)
}

/// Returns a builder whose provider fails the first time.
fn failing_once() -> Builder {
    let tries = AtomicUsize::new(0);
    unprovided().provide("session", move |_| {
        let is_first = tries.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if is_first { Err("the database is restarting") } else { Ok(Session) } }
    })
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

fn call(tool: &str, to: &str) -> ToolCall<'static> {
    ToolCall::new(tool.to_owned(), json!({"to": to})).conversation(to.to_owned()).id("1")
}

/// A call that waits for approval.
struct WaitingCall {
    tools: Dispatcher,
    deferred: Deferred,
    token: String,
    to: &'static str,
}

impl WaitingCall {
    async fn start(builder: Builder, tool: &str, to: &'static str) -> Self {
        Self::with_store(builder, tool, to, MemoryPendingStore::default()).await
    }

    async fn with_store(builder: Builder, tool: &str, to: &'static str, store: impl PendingStore) -> Self {
        let deferred = Deferred::new([7; 32]).store(store);
        let tools = builder.confirm(deferred.clone()).build().unwrap();
        let pending = tools.call(call(tool, to)).await;
        assert_eq!(kind(&pending), Some(ErrorKind::Pending), "{pending:?}");
        let token = pending.metadata.get("token").unwrap().as_str().unwrap().to_owned();
        Self { tools, deferred, token, to }
    }

    async fn resume(&self) -> Result<ToolResult, TokenError> {
        self.deferred.resume(&self.token, SystemTime::now(), |question| self.tools.approve(question)).await
    }

    /// Resumes a call that is prevented from starting.
    async fn fails(&self, expected: ErrorKind) -> ToolResult {
        let result = self.resume().await.expect("the token is valid");
        assert_eq!((kind(&result), result.is_not_started()), (Some(expected), true), "{result:?}");
        assert_eq!(runs(self.to), 0);
        result
    }

    /// Asserts that the token is still valid: a resume runs the call, and a second resume is rejected (the control).
    async fn runs_once(&self) {
        assert_eq!(runs(self.to), 0);
        let result = self.resume().await.expect("the token is valid");
        assert!(result.success && !result.is_not_started(), "{result:?}");
        assert_eq!(self.resume().await, Err(TokenError::Invalid));
        assert_eq!(runs(self.to), 1);
    }

    /// Takes the only concurrency permit until dropped.
    async fn occupied(&self) -> impl Future<Output = ToolResult> {
        let mut occupied = Box::pin(self.tools.call(ToolCall::new("approvals.wait", json!({}))).into_future());
        assert!(poll_once(&mut occupied).await.is_none());
        occupied
    }
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = tokio::task::yield_now() => None,
    }
}

/// Gives background tasks time to complete.
async fn run_background_tasks() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_in_the_queue_does_not_spend_the_approval() {
    let builder = builder().concurrency(1, 10).timeout(Duration::from_secs(1)).journal(MemoryJournal::new());
    let waiting = WaitingCall::start(builder, "approvals.pay", "queue").await;
    let occupied = waiting.occupied().await;
    waiting.fails(ErrorKind::TimedOut).await;
    drop(occupied);
    run_background_tasks().await;
    waiting.runs_once().await;
}

#[tokio::test]
async fn a_temporarily_missing_tool_does_not_spend_the_approval() {
    let tool = || RuntimeTool::new("remote", "", |(): ()| async { "done" }).sensitive();
    let deferred = Deferred::new([7; 32]);
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool()).confirm(deferred.clone());
    let tools = tools.build().unwrap();
    let pending = tools.call(ToolCall::from_text("remote", "{}")).await;
    let token = pending.metadata.get("token").unwrap().as_str().unwrap();
    let resume = async || deferred.resume(token, SystemTime::now(), |question| tools.approve(question)).await;
    tools.registry().remove("remote");
    assert_eq!(kind(&resume().await.unwrap()), Some(ErrorKind::UnknownTool));
    // Neither does a tool whose definition changed.
    tools.registry().register(RuntimeTool::new("remote", "Another.", |(): ()| async { "other" })).unwrap();
    assert_eq!(kind(&resume().await.unwrap()), Some(ErrorKind::Refused));
    tools.registry().replace(tool()).unwrap();
    assert_eq!(resume().await.unwrap().output, "done");
    assert_eq!(resume().await, Err(TokenError::Invalid));
}

#[tokio::test]
async fn a_failing_provider_does_not_spend_the_approval() {
    for (to, journal) in [("provided", false), ("provided and recorded", true)] {
        let builder = failing_once().limit(Limiter::new().tool("approvals.pay", Limit::total(1)));
        let builder = if journal { builder.journal(MemoryJournal::new()) } else { builder };
        let waiting = WaitingCall::start(builder, "approvals.pay", to).await;
        let result = waiting.fails(ErrorKind::Injection).await;
        assert!(result.output.contains("did not run"), "{}", result.output);
        waiting.runs_once().await;
    }
}

#[tokio::test]
async fn refusals_cancellations_and_dry_runs_do_not_spend_the_approval() {
    let allowed = Arc::new(Mutex::new(PolicyVerdict::Ask));
    let policy = {
        let allowed = allowed.clone();
        Policy::custom(move |_, _, _| allowed.lock().unwrap().clone())
    };
    let waiting = WaitingCall::start(builder().policy(policy), "approvals.pay", "policy").await;
    *allowed.lock().unwrap() = PolicyVerdict::Refuse("it is night".into());
    waiting.fails(ErrorKind::Refused).await;
    *allowed.lock().unwrap() = PolicyVerdict::Ask;

    let WaitingCall { tools, deferred, token, .. } = &waiting;
    let stop = CancellationToken::new();
    stop.cancel();
    let cancelled = |question| tools.approve(question).cancel(stop);
    let result = deferred.resume(token, SystemTime::now(), cancelled).await.unwrap();
    assert_eq!(kind(&result), Some(ErrorKind::Cancelled));
    let dry = deferred.resume(token, SystemTime::now(), |question| tools.approve(question).dry_run()).await.unwrap();
    assert!(dry.success && dry.is_not_started(), "{dry:?}");
    waiting.runs_once().await;
}

/// A blocking handler starts on its thread, not when it is queued for one.
#[test]
fn a_timeout_while_waiting_for_a_thread_does_not_spend_the_approval() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap();
    runtime.block_on(async {
        let builder = builder().timeout(Duration::from_millis(10)).journal(MemoryJournal::new());
        let waiting = WaitingCall::start(builder, "approvals.pay_slowly", "thread").await;
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let occupied = tokio::task::spawn_blocking(move || held.recv());
        // The thread becomes free long after the deadline.
        let release = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(hold);
        };
        tokio::join!(waiting.fails(ErrorKind::TimedOut), release);
        assert!(occupied.await.unwrap().is_err());
        // Starting the thread may take a moment.
        while let Some(ErrorKind::TimedOut) = kind(&waiting.resume().await.unwrap()) {
            assert_eq!(runs("thread"), 0);
        }
        assert_eq!(waiting.resume().await, Err(TokenError::Invalid));
        assert_eq!(runs("thread"), 1);
    });
}

/// As if the client disconnected.
#[tokio::test]
async fn a_resume_dropped_before_the_handler_starts_does_not_spend_the_approval() {
    let builder = builder().concurrency(1, 10).journal(MemoryJournal::new());
    let waiting = WaitingCall::start(builder, "approvals.pay", "dropped").await;
    let occupied = waiting.occupied().await;
    let mut resumed = Box::pin(waiting.resume());
    assert!(poll_once(&mut resumed).await.is_none(), "the call waits in the queue");
    assert_eq!(waiting.resume().await, Err(TokenError::Invalid), "meanwhile it is taken");
    drop(resumed);
    drop(occupied);
    run_background_tasks().await;
    waiting.runs_once().await;
}

#[tokio::test]
async fn a_resume_dropped_while_the_handler_runs_spends_the_approval() {
    let waiting = WaitingCall::start(builder(), "approvals.pay_for_ever", "dropped too late").await;
    let mut resumed = Box::pin(waiting.resume());
    assert!(poll_once(&mut resumed).await.is_none());
    assert_eq!(runs("dropped too late"), 1);
    drop(resumed);
    run_background_tasks().await;
    assert_eq!(waiting.resume().await, Err(TokenError::Invalid));
}

/// Either the token is valid again or the call runs, even if the call runs in a task that the drop cannot reach.
#[tokio::test]
async fn a_spawned_call_does_not_run_after_its_approval_was_returned() {
    let waiting = WaitingCall::start(builder().concurrency(1, 10), "approvals.pay", "detached").await;
    let occupied = waiting.occupied().await;
    let detached = Arc::new(Mutex::new(None));
    let run = |question| {
        let (tools, detached) = (waiting.tools.clone(), detached.clone());
        async move {
            let task = tokio::spawn(async move { tools.approve(question).await });
            *detached.lock().unwrap() = Some(task);
            std::future::pending().await
        }
    };
    let mut resumed = Box::pin(waiting.deferred.resume(&waiting.token, SystemTime::now(), run));
    assert!(poll_once(&mut resumed).await.is_none());
    run_background_tasks().await;
    drop(resumed);
    drop(occupied);
    let task = detached.lock().unwrap().take().unwrap();
    let result = task.await.unwrap();
    assert_eq!((kind(&result), result.is_not_started()), (Some(ErrorKind::Cancelled), true), "{result:?}");
    waiting.runs_once().await;
}

/// Wherever a resume is dropped, either the call ran and its token is spent, or neither happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_can_be_dropped_at_any_await_point() {
    let mut ends = HashMap::<_, usize>::new();
    for (tool, polls) in
        ["approvals.pay", "approvals.pay_slowly"].iter().flat_map(|tool| (0..40).map(move |n| (tool, n)))
    {
        let to: &'static str = format!("{tool} dropped after {polls}").leak();
        let builder = unprovided().provide("session", |_| async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            Ok::<_, String>(Session)
        });
        let waiting = WaitingCall::start(builder.journal(MemoryJournal::new()), tool, to).await;
        let mut resumed = Box::pin(waiting.resume());
        for _ in 0..polls {
            if poll_once(&mut resumed).await.is_some() {
                break;
            }
        }
        drop(resumed);
        run_background_tasks().await;
        // The end of the dropped call is recorded in the background, which spends nothing either.
        let mut again = waiting.resume().await;
        for _ in 0..1_000 {
            if again.as_ref().is_ok_and(|result| kind(result) == Some(ErrorKind::Busy)) {
                tokio::time::sleep(Duration::from_millis(1)).await;
                again = waiting.resume().await;
            }
        }
        let was_good = match again {
            Ok(result) => {
                assert!(result.success, "{to}: {result:?}");
                true
            }
            Err(error) => {
                assert_eq!(error, TokenError::Invalid);
                // The thread may start late.
                for _ in 0..1_000 {
                    if runs(to) == 0 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
                false
            }
        };
        run_background_tasks().await;
        assert_eq!(runs(to), 1, "{to}");
        *ends.entry(was_good).or_default() += 1;
    }
    assert!(ends.len() == 2, "both have happened: {ends:?}");
}

/// A store that has already removed the call when it starts to wait, and returns when the test allows it.
#[derive(Clone)]
struct SlowPendingStore(Arc<MemoryPendingStore>, Arc<Semaphore>);

impl PendingStore for SlowPendingStore {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        self.0.put(call)
    }

    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.0.get(id)
    }

    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        Box::pin(async {
            let taken = self.0.take(id).await;
            self.1.acquire().await.map_err(PendingStoreError::new)?.forget();
            taken
        })
    }

    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        self.0.list(conversation)
    }
}

#[tokio::test]
async fn a_resume_dropped_while_the_store_responds_does_not_spend_the_approval() {
    let store = SlowPendingStore(Arc::default(), Arc::new(Semaphore::new(0)));
    let waiting = WaitingCall::with_store(builder(), "approvals.pay", "slow store", store.clone()).await;
    let mut resumed = Box::pin(waiting.resume());
    assert!(poll_once(&mut resumed).await.is_none());
    assert!(store.list("slow store").await.unwrap().is_empty(), "the call is taken, but not yet returned");
    drop(resumed);
    store.1.add_permits(2);
    run_background_tasks().await;
    waiting.runs_once().await;
}

/// The mark on a result that a handler passes through is ignored.
#[tokio::test]
async fn a_handler_cannot_claim_that_it_was_not_started() {
    let inner = Dispatcher::builder().manifest(Manifest::default()).allow_empty().build().unwrap();
    let passes_on = move |(): ()| {
        let inner = inner.clone();
        async move {
            let result = inner.call(ToolCall::from_text("unknown", "{}")).await;
            assert!(result.is_not_started());
            result
        }
    };
    let deferred = Deferred::new([7; 32]);
    let tool = RuntimeTool::new("t", "", passes_on).sensitive();
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool).confirm(deferred.clone());
    let tools = tools.build().unwrap();
    let pending = tools.call(ToolCall::from_text("t", "{}")).await;
    let token = pending.metadata.get("token").unwrap().as_str().unwrap();
    let resume = async || deferred.resume(token, SystemTime::now(), |question| tools.approve(question)).await;
    let result = resume().await.unwrap();
    assert_eq!((kind(&result), result.is_not_started()), (Some(ErrorKind::UnknownTool), false));
    assert_eq!(resume().await, Err(TokenError::Invalid));
}

/// A call whose record says that it did not start may run.
#[tokio::test]
async fn a_call_that_did_not_start_is_not_replayed() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = failing_once().policy(Policy::Yolo).journal(journal.clone()).build().unwrap();
    let pay = || tools.call(call("approvals.pay", "not replayed"));
    let failed = pay().await;
    assert_eq!((kind(&failed), failed.is_not_started()), (Some(ErrorKind::Injection), true));
    assert_eq!(tools.recall("not replayed", "1").await.unwrap(), None, "the journal knows of no run");
    let replayed = pay().replay().await;
    assert_eq!((kind(&replayed), replayed.metadata.get("replayed")), (kind(&failed), Some(&json!(true))));

    assert!(pay().await.success);
    assert_eq!(pay().await.metadata.get("replayed"), Some(&json!(true)), "the control: now the call has run");
    assert_eq!(runs("not replayed"), 1);
    let entries = journal.entries(EntryQuery::newest(10)).await.unwrap();
    let started = |state: &EntryState| matches!(state, EntryState::Finished(FinishedCall { started: true, .. }));
    assert_eq!(entries.iter().map(|entry| started(&entry.state)).collect::<Vec<_>>(), [true, false]);
}

/// A call that does not start does not use up its limit.
#[tokio::test]
async fn a_call_that_did_not_start_does_not_count_against_limits() {
    let limiter = Limiter::new().tool("approvals.pay", Limit::total(1));
    let tools = failing_once().policy(Policy::Yolo).limit(limiter).build().unwrap();
    let mut kinds = HashMap::<_, usize>::new();
    for _ in 0..5 {
        *kinds
            .entry(kind(&tools.call(call("approvals.pay", "not counted")).await).map(ErrorKind::as_str))
            .or_default() += 1;
    }
    assert_eq!(kinds, HashMap::from([(Some("injection"), 1), (None, 1), (Some("rate_limited"), 3)]));
}

/// Holds without a journal and without limits, too.
#[tokio::test]
async fn a_failing_provider_marks_the_call_as_not_started() {
    let tools = failing_once().policy(Policy::Yolo).build().unwrap();
    let failed = tools.call(call("approvals.pay", "plainly")).await;
    assert_eq!((kind(&failed), failed.is_not_started()), (Some(ErrorKind::Injection), true));
    let paid = tools.call(call("approvals.pay", "plainly")).await;
    assert_eq!((kind(&paid), paid.is_not_started()), (None, false), "the control");
}
