//! Compares calls through a worker with a bare request and reply of the same size, interleaved in one run:
//!
//!     cargo run --release -p tool-nats --example bench
//!     cargo run --release -p tool-nats --example bench -- scale
//!
//! The worker and the server are separate processes. Rounds of both kinds alternate. The output has the medians of the
//! rounds, and of the ratios of adjacent rounds.

mod load;
mod process;

use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use serde_json::json;
use tool_nats::{async_nats, discover};
use tool_runtime::{Dispatcher, Manifest, ToolCall};

use self::load::{Round, median, round};
use self::process::{Processes, serve_until_killed};

const ROUNDS: usize = 15;
const CALLS: usize = 20_000;

type Anything = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Anything> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    // When workers are added, each has one thread, so that workers are measured and not threads.
    let threads = if mode == "worker-of-one-thread" { 1 } else { 2 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        match mode.as_str() {
            "worker" | "worker-of-one-thread" => serve_until_killed().await,
            "scale" => scale().await,
            _ => beside_bare().await,
        }
    })
}

async fn beside_bare() -> Result<(), Anything> {
    let _processes = Processes::start(1, "worker").await?;
    let bare = Arc::new(async_nats::connect(process::url()).await?);
    // The worker's tools are linked here as well, and would have precedence.
    let tools = Dispatcher::builder().manifest(Manifest::default()).timeout(Duration::from_secs(30)).build()?;
    let _remote = discover(async_nats::connect(process::url()).await?, tools.registry()).await?;
    for lanes in [1, 64] {
        let calls = if lanes == 1 { CALLS / 10 } else { CALLS };
        let (mut by_bare, mut by_tools) = (Vec::new(), Vec::new());
        for number in 0..=ROUNDS {
            let (client, dispatcher) = (bare.clone(), tools.clone());
            let bare = round(lanes, calls, move |call| by_request(client.clone(), call)).await?;
            let ours = round(lanes, calls, move |call| by_dispatcher(dispatcher.clone(), call)).await?;
            // The first round warms up.
            if number > 0 {
                by_bare.push(bare);
                by_tools.push(ours);
            }
        }
        report(lanes, &by_bare, &by_tools);
    }
    Ok(())
}

fn report(lanes: usize, bare: &[Round], ours: &[Round]) {
    let rate = |rounds: &[Round]| median(rounds.iter().map(|round| round.per_second));
    let late = |rounds: &[Round]| median(rounds.iter().map(|round| round.p99_us));
    // Adjacent rounds, because the load of the machine changes over time.
    let beside = |value: fn(&Round) -> f64| median(bare.iter().zip(ours).map(|(bare, ours)| value(ours) / value(bare)));
    println!(
        "{lanes:>3} at a time: {:>8.0} calls/s bare, {:>8.0} here ({:.3}); p99 {:>7.0} us bare, {:>7.0} us here ({:.3})",
        rate(bare),
        rate(ours),
        beside(|round| round.per_second),
        late(bare),
        late(ours),
        beside(|round| round.p99_us)
    );
}

/// Sends by hand what a call of a dispatcher sends.
async fn by_request(client: Arc<async_nats::Client>, call: usize) -> Result<(), Anything> {
    let mut headers = HeaderMap::new();
    headers.insert("Tool-Call", format!("call_{call}"));
    headers.insert("Tool-Conversation", "conversation-7");
    headers.insert("Tool-Timeout", "29999");
    let reply = client.request_with_headers("bare.add", headers, Bytes::from_static(br#"{"a":12,"b":30}"#)).await?;
    if reply.payload == "42" { Ok(()) } else { Err("a wrong answer".into()) }
}

async fn by_dispatcher(tools: Dispatcher, call: usize) -> Result<(), Anything> {
    let call = ToolCall::from_text("bench.add", r#"{"a":12,"b":30}"#)
        .id(format!("call_{call}"))
        .conversation("conversation-7");
    let result = tools.call(call).await;
    if result.output == "42" { Ok(()) } else { Err(result.output.into()) }
}

/// Distributes the same work to more and more workers: a handler that needs a processor for a millisecond.
async fn scale() -> Result<(), Anything> {
    let cores = std::thread::available_parallelism()?.get();
    let mut alone = None;
    for workers in 1..=cores {
        let _processes = Processes::start(workers, "worker-of-one-thread").await?;
        let tools = Dispatcher::builder().manifest(Manifest::default()).build()?;
        let _remote = discover(async_nats::connect(process::url()).await?, tools.registry()).await?;
        let mut rounds = Vec::new();
        for _ in 0..5 {
            let tools = tools.clone();
            let burn = move |_| {
                let tools = tools.clone();
                async move {
                    let result = tools.call(ToolCall::new("bench.burn", json!({"microseconds": 1_000}))).await;
                    if result.success { Ok(()) } else { Err(result.output.into()) }
                }
            };
            rounds.push(round(16, 2_000, burn).await?);
        }
        let rate = median(rounds.iter().map(|round| round.per_second));
        let alone = *alone.get_or_insert(rate);
        println!("{workers} workers: {rate:.0} calls/s, {:.2} times one", rate / alone);
    }
    Ok(())
}
