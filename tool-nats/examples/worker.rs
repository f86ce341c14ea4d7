//! A worker with a few tools: `cargo run -p tool-nats --example worker`. With `--queue` it also takes jobs from the
//! work queue, which needs JetStream.
//!
//! `NATS_URL` is the server, `nats://127.0.0.1:4222` by default. `NATS_USER` and `NATS_PASSWORD`, or `NATS_CREDS` (a
//! file), and `NATS_CA` (a file) are the credentials. The worker serves until Ctrl-C or `SIGTERM`, then finishes its
//! calls.

use std::time::Duration;

use clap::Parser;
use tool_nats::{ConnectionBuilder, QueueOptions, WorkQueue, serve};
use tool_runtime::diagnostics::LogArguments;
use tool_runtime::{Context, Dispatcher, Progress, tool};

/// Add two numbers.
#[tool(name = "math.add", read_only)]
fn add(a: i64, b: i64) -> Option<i64> {
    a.checked_add(b)
}

/// Return the id of the process that runs this call.
#[tool(name = "math.who", read_only)]
fn who(#[inject] context: &Context) -> String {
    format!("process {} has the call {}", std::process::id(), context.call_id().unwrap_or("without an id"))
}

/// Count to a number, slowly.
#[tool(name = "math.count", read_only)]
async fn count(#[arg(min = 1, max = 60)] to: u64, #[inject] progress: &Progress) -> u64 {
    for number in 1..=to {
        tokio::time::sleep(Duration::from_secs(1)).await;
        progress.report(number);
    }
    to
}

/// Serves a few tools over NATS
///
/// Calls, warnings and errors are logged to standard error (level `info`); `RUST_LOG` selects other events.
#[derive(Parser)]
#[command(name = "worker")]
struct WorkerArguments {
    /// Also take jobs from the work queue
    #[arg(long)]
    queue: bool,
    /// The log
    #[command(flatten)]
    log: LogArguments,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = WorkerArguments::parse();
    arguments.log.install("info");
    let connection = ConnectionBuilder::from_env().await?;
    let tools = Dispatcher::builder().build()?;
    let mut worker = serve(connection.clone(), tools).version(env!("CARGO_PKG_VERSION")).description("An example");
    if arguments.queue {
        worker = worker.queue(WorkQueue::open(connection, QueueOptions::default()).await?);
    }
    let worker = worker.await?;
    println!("worker {} is ready", worker.id());
    stopped().await?;
    worker.drain().await;
    Ok(())
}

async fn stopped() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            stopped = tokio::signal::ctrl_c() => stopped,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
