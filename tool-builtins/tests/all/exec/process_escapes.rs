//! Processes that try to escape: all are killed at the timeout, when the call is cancelled or dropped, and when the
//! command ends. A control shows that killing the process group is not enough.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tool_builtins::exec::ProcessCleanup;
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::support::{Workspace, cleanups, run, tools};

/// An attempt to outlive the command.
struct Escape {
    name: &'static str,
    /// The last process to start creates the file `ready`.
    script: &'static str,
}

const ESCAPES: [Escape; 9] = [
    Escape { name: "ignores signals", script: "trap '' TERM INT HUP QUIT; touch ready; while :; do sleep 1; done" },
    Escape {
        name: "has grandchildren",
        script: "sh -c 'sh -c \"sleep 600 & sleep 600 & touch ready; wait\" & wait' & wait",
    },
    Escape { name: "closes its streams", script: "exec >&- 2>&- <&-; touch ready; sleep 600" },
    Escape { name: "has a session of its own", script: "setsid sh -c 'touch ready; sleep 600' & wait" },
    Escape {
        name: "is a daemon",
        script: "(setsid sh -c '(sleep 600 &); touch ready; sleep 600' <&- >&- 2>&- &); sleep 600",
    },
    Escape {
        name: "is a daemon that holds the pipes",
        script: "(setsid sh -c '(setsid sleep 600 &); touch ready; sleep 600' &); sleep 600",
    },
    Escape {
        name: "ignores signals as a daemon",
        script: "(setsid sh -c 'trap \"\" TERM HUP; touch ready; sleep 600; sleep 600' &); sleep 600",
    },
    Escape {
        name: "is many",
        script: "for i in $(seq 100); do (setsid sleep 600 &); done; setsid sh -c 'touch ready; sleep 600' & sleep 600",
    },
    Escape { name: "moves on all the time", script: "setsid ./hop & setsid ./hop & sleep 600" },
];

/// A process that starts the next one and exits, over and over.
const HOP: &str = "#!/bin/sh\ntouch ready\nsleep 0.01\nsetsid \"$0\" &\n";

impl Escape {
    fn workspace(&self) -> Workspace {
        let workspace = Workspace::new();
        workspace.write_program("hop", HOP);
        workspace
    }
}

/// The control: killing the child's process group leaves processes behind in all cases but the first three.
#[tokio::test]
async fn a_process_group_is_not_enough() {
    for escape in &ESCAPES[3..] {
        let workspace = escape.workspace();
        let mut child = tokio::process::Command::new("/bin/sh")
            .args(["-c", escape.script])
            .current_dir(workspace.path())
            .env("TEST_MARKER", &workspace.marker)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        workspace.until_made("ready").await;
        let group = rustix::process::Pid::from_raw(child.id().unwrap() as i32).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        child.wait().await.unwrap();
        let mut attempts = (0..100).map(|_| workspace.processes());
        assert!(attempts.any(|survivors| !survivors.is_empty()), "{}: the process group is enough", escape.name);
        std::fs::remove_file(workspace.path().join("hop")).unwrap();
        workspace.kill_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_all_at_the_timeout() {
    for_each(|escape, cleanup| async move {
        let workspace = escape.workspace();
        let tools = tools(workspace.exec().cleanup(cleanup));
        // Longer timeouts for slow machines, until the script has started.
        for seconds in [1, 4, 16, 64] {
            let result = run(&tools, json!({"command": escape.script, "timeout": seconds})).await;
            let killed = format!("did not finish within {seconds}s and was killed");
            assert!(result.output.contains(&killed), "{}", result.output);
            if workspace.path().join("ready").exists() {
                break;
            }
        }
        assert!(workspace.path().join("ready").exists());
        // No waiting: the processes must be gone when the call returns.
        assert_eq!(workspace.processes(), [], "{} {cleanup:?}", escape.name);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_all_at_the_deadline_of_the_call() {
    for_each(|escape, cleanup| async move {
        let workspace = escape.workspace();
        let tools = tools(workspace.exec().cleanup(cleanup));
        let call = ToolCall::new("run_command", json!({"command": escape.script}));
        let result = tools.call(call).timeout(Duration::from_millis(1500)).await;
        assert!(!result.success, "{}", result.output);
        workspace.until_gone(escape.name).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_all_when_cancelled() {
    for_each(|escape, cleanup| async move {
        let workspace = escape.workspace();
        let tools = tools(workspace.exec().cleanup(cleanup));
        let token = CancellationToken::new();
        let call = ToolCall::new("run_command", json!({"command": escape.script}));
        let call = tools.call(call).cancel(token.clone());
        let cancel = async {
            workspace.until_made("ready").await;
            assert!(!workspace.processes().is_empty());
            token.cancel();
        };
        let (result, ()) = tokio::join!(call, cancel);
        assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
        workspace.until_gone(escape.name).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_all_when_dropped() {
    for_each(|escape, cleanup| async move {
        let workspace = escape.workspace();
        let tools = tools(workspace.exec().cleanup(cleanup));
        let call = tools.call(ToolCall::new("run_command", json!({"command": escape.script})));
        tokio::select! {
            result = call => panic!("the command has ended: {result:?}"),
            () = workspace.until_made("ready") => {}
        }
        workspace.until_gone(escape.name).await;
    })
    .await;
}

/// Background processes are killed when the command exits, and its output is complete.
#[tokio::test(flavor = "multi_thread")]
async fn kills_all_when_the_command_exits() {
    for_each(|escape, cleanup| async move {
        let Some(script) = escape.script.strip_suffix(" sleep 600").filter(|script| script.contains('&')) else {
            return;
        };
        let workspace = escape.workspace();
        let tools = tools(workspace.exec().cleanup(cleanup));
        let until_ready = "while ! test -e ready; do sleep 0.01; done";
        let result = run(&tools, json!({"command": format!("{script} {until_ready}; echo done")})).await;
        let printed = if escape.name.contains("closes") { "" } else { "done\n" };
        assert!(result.output.ends_with(printed), "{}: {}", escape.name, result.output);
        assert_eq!(workspace.processes(), [], "{} {cleanup:?}", escape.name);
    })
    .await;
}

/// An unrelated process that was passed the pipes is not waited for.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_wait_for_unrelated_holders_of_the_pipes() {
    let sender = "import os, socket\n\
        connection = socket.socket(socket.AF_UNIX)\n\
        connection.connect('socket')\n\
        print('before', flush=True)\n\
        socket.send_fds(connection, [b'x'], [1])\n";
    let holder = "import socket, time\n\
        listening = socket.socket(socket.AF_UNIX)\n\
        listening.bind('socket')\n\
        listening.listen()\n\
        open('listening', 'w')\n\
        while True:\n    connection, _ = listening.accept(); held = socket.recv_fds(connection, 1, 1); keep = held\n";
    for cleanup in cleanups().await {
        let workspace = Workspace::new();
        let python =
            |code| std::process::Command::new("python3").args(["-c", code]).current_dir(workspace.path()).spawn();
        let Ok(mut elsewhere) = python(holder) else {
            println!("skipped: python3 is not available");
            return;
        };
        workspace.until_made("listening").await;
        workspace.write("send.py", sender);
        let result =
            run(&tools(workspace.exec().cleanup(cleanup)), json!({"program": "python3", "arguments": ["send.py"]}))
                .await;
        assert!(result.success, "{}", result.output);
        let held = "[Another process still holds the output open; anything it writes is not read.]\n";
        assert_eq!(result.output, format!("before\n\n{held}"), "{cleanup:?}");
        elsewhere.kill().unwrap();
        elsewhere.wait().unwrap();
    }
}

/// The scratch directory is removed.
#[tokio::test(flavor = "multi_thread")]
async fn removes_temporary_files() {
    let workspace = Workspace::new();
    let tools = workspace.tools();
    let result = run(&tools, json!({"command": "touch $TMPDIR/x; echo $TMPDIR"})).await;
    let directory = std::path::PathBuf::from(result.output.trim());
    assert!(directory.is_absolute(), "{}", result.output);
    assert!(!directory.exists());
}

async fn for_each<F: Future<Output = ()> + Send + 'static>(test: impl Fn(&'static Escape, ProcessCleanup) -> F) {
    for cleanup in cleanups().await {
        let tests: Vec<_> = ESCAPES.iter().map(|escape| tokio::spawn(test(escape, cleanup))).collect();
        for test in tests {
            test.await.unwrap();
        }
    }
}
