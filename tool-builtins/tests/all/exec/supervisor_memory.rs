//! Supervisors release the memory that they share with the host.

use serde_json::json;
use tool_runtime::ToolCall;

use super::support::{Workspace, cleanups, run_in_own_process, tools};

/// The memory of the host.
const MEGABYTES: usize = 300;

#[test]
fn supervisors_release_the_memory_of_the_host() {
    run_in_own_process("exec::supervisor_memory::measures_supervisors");
}

#[tokio::test]
#[ignore = "measures its own process; the test above runs it"]
async fn measures_supervisors() {
    let memory = vec![1_u8; MEGABYTES << 20];
    assert!(resident(std::process::id()) > MEGABYTES, "control: this process has the memory");
    for cleanup in cleanups().await {
        let workspace = Workspace::new();
        let tools = tools(workspace.exec().cleanup(cleanup));
        let call = tools.call(ToolCall::new("run_command", json!({"command": "touch ready; sleep 600"})));
        let measure = async {
            workspace.until_made("ready").await;
            let supervisors = supervisors();
            assert!(!supervisors.is_empty());
            for supervisor in supervisors {
                let mut tries = 0;
                while resident(supervisor) > MEGABYTES / 4 {
                    tries += 1;
                    assert!(tries < 1000, "{cleanup:?}: {} MB", resident(supervisor));
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
                println!("{cleanup:?}: a supervisor with {} MB", resident(supervisor));
            }
        };
        tokio::select! {
            result = call => panic!("the command has ended: {result:?}"),
            () = measure => {}
        }
        workspace.until_gone("measured").await;
    }
    assert_eq!(memory.len(), MEGABYTES << 20);
}

/// Returns the descendants of this process that are forks of it.
fn supervisors() -> Vec<u32> {
    let this = std::fs::read_link("/proc/self/exe").unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let forks = pids.filter(|pid| *pid != std::process::id() && is_below(*pid, std::process::id()));
    forks.filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == this)).collect()
}

fn is_below(pid: u32, above: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    match status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok()) {
        Some(parent) => parent == above || (parent > 1 && is_below(parent, above)),
        None => false,
    }
}

/// Returns the resident memory of a process in megabytes, shared or not.
fn resident(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024)
}
