//! The guarded path: everything between a call and its handler.

// Policies, confirmers and their decisions.
mod approval;
// Facts about a call that its handler can inject.
mod call_facts;
// Rate limits, concurrency limits and retry limits.
mod limits;
// The journal: a recorded call does not run twice.
mod journal;
// Long results, as the model reads them.
mod results;
// Deadlines.
mod deadlines;
// Dry runs and previews.
mod dry_runs;
// The calls of one turn.
mod turns;
// Events and metrics.
mod events;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;
use tool_runtime::confirm::{self, Confirm, Decision};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Manifest, ToolCall, ToolResult, tool};

static ERASED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Erase a host.
#[tool(name = "pipeline.erase", sensitive)]
async fn erase(host: String, #[arg(secret)] password: Option<String>) -> String {
    let _ = password;
    ERASED.lock().unwrap().push(host.clone());
    format!("erased {host}")
}

/// Count up.
#[tool(name = "pipeline.count")]
async fn count(by: u32, #[inject] counter: &Arc<AtomicUsize>) -> usize {
    counter.fetch_add(by as usize, Ordering::SeqCst) + by as usize
}

/// Wait until the call is stopped.
#[tool(name = "pipeline.listen")]
async fn listen(#[inject] token: CancellationToken, #[inject] log: &Log) {
    let log = log.clone();
    tokio::spawn(async move {
        token.cancelled().await;
        log.enter("stopped");
    });
    std::future::pending::<()>().await;
}

/// Logs who entered, and counts how many are inside.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>, Arc<AtomicUsize>);

impl Log {
    fn enter(&self, who: &'static str) {
        self.0.lock().unwrap().push(who);
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    fn leave(&self, _: &'static str) -> usize {
        self.1.fetch_sub(1, Ordering::SeqCst)
    }
}

fn builder() -> tool_runtime::Builder {
    builder_with(&Arc::default())
}

/// Returns a builder whose `pipeline.tell` lets a waiting confirmer decide by notifying `answer`.
fn builder_with(answer: &Arc<Notify>) -> tool_runtime::Builder {
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| name.starts_with("pipeline.")).map(|(n, t)| (n.to_owned(), t.clone())).collect();
    Dispatcher::builder()
        .manifest(ours)
        .value("counter", Arc::new(AtomicUsize::new(0)))
        .value("log", Log::default())
        .value("answer", answer.clone())
}

fn erased(host: &str) -> usize {
    ERASED.lock().unwrap().iter().filter(|known| *known == host).count()
}

async fn erase_on(tools: &Dispatcher, host: &str) -> ToolResult {
    tools.call(ToolCall::new("pipeline.erase", json!({"host": host}))).await
}

fn kind(result: &ToolResult) -> ErrorKind {
    result.error.as_ref().unwrap_or_else(|| panic!("{result:?}")).kind
}

fn always(decision: Decision) -> impl Confirm {
    confirm::from_fn(move |_| {
        let decision = decision.clone();
        async move { decision }
    })
}
