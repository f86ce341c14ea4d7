//! A hundred thousand calls at the same time, of which most end badly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_runtime::{
    CancellationToken, Dispatcher, ErrorKind, InjectError, Manifest, Outcome, ToolCall, ToolResult, tool,
};

const CALLS: usize = 100_000;

/// What was made, what is alive, and how it was finished.
#[derive(Default)]
struct Ledger {
    made: AtomicUsize,
    alive: AtomicUsize,
    succeeded: AtomicUsize,
    failed: AtomicUsize,
    cancelled: AtomicUsize,
}

impl Ledger {
    fn add(counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::SeqCst);
    }

    fn finished(&self) -> usize {
        [&self.succeeded, &self.failed, &self.cancelled].iter().map(|counter| counter.load(Ordering::SeqCst)).sum()
    }
}

/// A session that is counted as long as it lives.
struct Counted(Arc<Ledger>);

impl Counted {
    fn new(ledger: &Arc<Ledger>) -> Self {
        Ledger::add(&ledger.made);
        Ledger::add(&ledger.alive);
        Self(ledger.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// End in one way or another.
#[tool(name = "reliability.end")]
async fn end(how: u8, #[inject] session: &Counted) -> Result<u8, String> {
    assert!(session.0.alive.load(Ordering::SeqCst) > 0);
    match how {
        0 => Ok(how),
        1 => {
            tokio::task::yield_now().await;
            Ok(how)
        }
        2 => Err("it does not work".to_owned()),
        3 => panic!("boom"),
        // As long as it takes until somebody stops it.
        _ => std::future::pending().await,
    }
}

async fn call(tools: Dispatcher, how: u8) -> Option<ToolResult> {
    let call = ToolCall::new("reliability.end", json!({"how": how}));
    match how {
        4 => Some(tools.call(call).timeout(Duration::from_millis(5)).await),
        5 => {
            let token = CancellationToken::new();
            let stop = token.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(3)).await;
                stop.cancel();
            });
            Some(tools.call(call).cancel(token).await)
        }
        // Dropped by whoever waits.
        6 => tokio::time::timeout(Duration::from_millis(3), tools.call(call)).await.ok(),
        _ => Some(tools.call(call).await),
    }
}

fn expected(how: u8) -> Option<ErrorKind> {
    match how {
        2 => Some(ErrorKind::Failed),
        3 => Some(ErrorKind::Panicked),
        4 => Some(ErrorKind::TimedOut),
        5 => Some(ErrorKind::Cancelled),
        _ => None,
    }
}

/// Runs the calls on a dispatcher and checks that each has answered as it had to.
async fn run_all(tools: &Dispatcher, calls: usize) -> usize {
    let mut running = tokio::task::JoinSet::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..calls {
        // Any order will do; the same one every time is easier to look into.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let how = u8::try_from((state >> 33) % 7).unwrap();
        let tools = tools.clone();
        running.spawn(async move { (how, call(tools, how).await) });
    }
    let mut successes = 0;
    let mut answered = 0;
    while let Some(ended) = running.join_next().await {
        let (how, result) = ended.expect("a call does not panic");
        answered += 1;
        let Some(result) = result else {
            assert_eq!(how, 6);
            continue;
        };
        assert_eq!(result.error.as_ref().map(|error| error.kind), expected(how), "{result:?}");
        successes += usize::from(result.success);
    }
    assert_eq!(answered, calls, "each call has answered once");
    successes
}

fn tools(ledger: &Arc<Ledger>) -> Dispatcher {
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| *name == "reliability.end").map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let makes = ledger.clone();
    Dispatcher::builder()
        .manifest(ours)
        .provide("session", move |_| {
            let ledger = makes.clone();
            async move { Ok::<_, InjectError>(Counted::new(&ledger)) }
        })
        .finish("session", |session: Counted, outcome| async move {
            Ledger::add(match outcome {
                Outcome::Success => &session.0.succeeded,
                Outcome::Cancelled => &session.0.cancelled,
                _ => &session.0.failed,
            });
        })
        .concurrency(1_000, CALLS)
        .build()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_answers_once_and_every_scope_is_finished_once() {
    let ledger = Arc::new(Ledger::default());
    let tools = tools(&ledger);
    let successes = run_all(&tools, CALLS).await;
    // What was dropped is finished in the background.
    for _ in 0..2_000 {
        if ledger.finished() == ledger.made.load(Ordering::SeqCst) && ledger.alive.load(Ordering::SeqCst) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
    assert_eq!(ledger.finished(), count(&ledger.made), "each scope is finished once");
    assert_eq!(count(&ledger.alive), 0, "nothing is left");
    assert_eq!(count(&ledger.succeeded), successes, "what succeeded was committed, and nothing else");
    // Every place was given back: as many as fit run at once.
    let again = run_all(&tools, 2_000).await;
    assert!(again > 0);
}
