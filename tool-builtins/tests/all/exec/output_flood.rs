//! Endless output does not increase memory use.

use std::process::Command;

use serde_json::json;

use super::support::{Workspace, run, run_in_own_process, tools};

#[test]
fn memory_does_not_grow_with_the_output() {
    run_in_own_process("exec::output_flood::floods_the_output");
}

#[tokio::test]
#[ignore = "measures its own process; the test above runs it"]
async fn floods_the_output() {
    let workspace = Workspace::new();
    let tools = tools(workspace.exec().output_limit(100_000));
    let warm = run(&tools, json!({"command": "seq 100000; seq 100000 >&2"})).await;
    assert!(warm.success);
    let before = peak();
    let flood = "yes 'a line of some length, as programs print them' & yes >&2";
    let result = run(&tools, json!({"command": flood, "timeout": 10})).await;
    assert!(result.output.contains("did not finish within 10s"), "{}", &result.output[..200]);
    assert!(result.output.len() < 210_000);
    let left_out = result
        .output
        .split("[… ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap());
    let flooded: u64 = left_out.sum();
    let grown = peak() - before;
    println!("{flooded} bytes left out, memory grew by {grown} bytes");
    assert!(flooded > 500_000_000, "only {flooded} bytes of output");
    assert!(grown < 8_000_000, "{grown} bytes");

    // Control: collecting the output does increase it.
    let collected = Command::new("sh").args(["-c", "yes | head -c 50000000"]).output().unwrap();
    assert_eq!(collected.stdout.len(), 50_000_000);
    assert!(peak() - before > 40_000_000);
}

/// Returns the peak memory use of this process, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
