//! Output without end: memory stays flat.

use std::process::Command;

use serde_json::json;

use super::support::{Workspace, in_a_process_of_its_own, run, tools};

#[test]
fn memory_stays_flat_under_a_flood() {
    in_a_process_of_its_own("exec::flood::flooded");
}

#[tokio::test]
#[ignore = "measures its own process: the test above runs it in one"]
async fn flooded() {
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
    println!("{flooded} bytes left out, {grown} bytes of memory more than before");
    assert!(flooded > 500_000_000, "{flooded} bytes are no flood");
    assert!(grown < 8_000_000, "{grown} bytes");

    // The control: who collects it grows.
    let collected = Command::new("sh").args(["-c", "yes | head -c 50000000"]).output().unwrap();
    assert_eq!(collected.stdout.len(), 50_000_000);
    assert!(peak() - before > 40_000_000);
}

/// The most memory that this process has ever used, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
