//! Memory use after many calls. `NATS_MEMORY_CALLS` sets their number; the reference is 200,000.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_nats::{DiscoveryBuilder, serve};
use tool_runtime::ToolCall;

use crate::support::{Caller, Effects, connect, server, worker_tools};

/// More than the random overhead of an allocator, and less than 500 bytes per call.
const MOST_GROWTH: usize = 8 << 20;

const LANES: usize = 32;

fn calls() -> usize {
    std::env::var("NATS_MEMORY_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(20_000)
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4_096
}

async fn make(caller: &Arc<Caller>, calls: usize, kept: &std::sync::Mutex<Vec<String>>, keep: bool) {
    let lanes = (0..LANES).map(|lane| {
        let caller = caller.clone();
        async move {
            let mut outputs = Vec::new();
            for number in 0..calls / LANES {
                let call = ToolCall::new("math.add", json!({"a": number, "b": 1}));
                let call = call.conversation("c").id(format!("{lane}-{number}"));
                let result = caller.tools.call(call).await;
                assert!(result.success, "{result:?}");
                if keep {
                    outputs.push(result.output.repeat(400));
                }
            }
            outputs
        }
    });
    let lanes: Vec<_> = lanes.map(tokio::spawn).collect();
    for lane in lanes {
        let outputs = lane.await.unwrap();
        kept.lock().unwrap().extend(outputs);
    }
}

/// Runs in a separate process, so that other tests are not measured.
#[cfg(target_os = "linux")]
#[test]
fn finished_calls_leave_no_memory_behind() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::makes_many_calls", "--ignored", "--nocapture"])
        .status();
    assert!(status.unwrap().success());
}

/// The control makes the same calls and keeps something of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of another test"]
async fn makes_many_calls() {
    let server = server!();
    let tools = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, tools).await.unwrap();
    let patient = |discover: DiscoveryBuilder| discover.heartbeat_timeout(Duration::from_secs(30));
    let caller = Arc::new(Caller::with(connect(&server.url()).await, patient).await);
    let kept = std::sync::Mutex::new(Vec::new());
    make(&caller, 20_000, &kept, false).await;
    let before = resident();
    make(&caller, calls(), &kept, false).await;
    let growth = resident().saturating_sub(before);
    eprintln!("{} calls: {} kB more than before, of {} kB", calls(), growth / 1_000, before / 1_000);
    assert!(growth < MOST_GROWTH, "{growth} bytes for {} calls", calls());

    let before = resident();
    make(&caller, 20_000, &kept, true).await;
    let growth = resident().saturating_sub(before);
    assert!(growth > MOST_GROWTH, "the control grew by {growth} bytes only");
}
