//! Arguments, results and previews of `run_command`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision, Question};
use tool_runtime::{Dispatcher, Effect, ErrorKind, Manifest, Progress, ToolCall};

use super::support::{Workspace, cleanups, run, run_line, tools};

#[tokio::test]
async fn returns_the_output() {
    let workspace = Workspace::new();
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        assert_eq!(run_line(&tools, "echo hello").await.output, "hello\n");
        let arguments = json!({"program": "printf", "arguments": ["%s|", "a b", "$HOME", "*"]});
        assert_eq!(run(&tools, arguments).await.output, "a b|$HOME|*|");
        assert_eq!(run_line(&tools, "true").await.output, "`true` succeeded and printed nothing.");
        assert_eq!(run_line(&tools, "cat").await.output, "`cat` succeeded and printed nothing.", "no input");
    }
}

#[tokio::test]
async fn reports_exit_codes_and_signals() {
    let workspace = Workspace::new();
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        let failed = run_line(&tools, "echo out; exit 3").await;
        assert!(!failed.success);
        assert_eq!(failed.output, "`echo out; exit 3` exited with code 3.\nout\n");
        let killed = run_line(&tools, "kill -9 $$").await;
        assert_eq!(killed.output, "`kill -9 $$` was killed by SIGKILL.\nIt printed nothing.");
        let metadata = killed.metadata.get("command").unwrap();
        assert_eq!((&metadata["exit_code"], &metadata["signal"]), (&Value::Null, &json!("SIGKILL")));
        assert_eq!(failed.metadata.get("command").unwrap()["exit_code"], 3);
        let confinement = &failed.metadata.get("command").unwrap()["confinement"];
        assert_eq!(confinement["tree"], serde_json::to_value(cleanup).unwrap());
        let stopped = run_line(&tools, "kill -TERM $$").await;
        assert_eq!(stopped.output, "`kill -TERM $$` was killed by SIGTERM.\nIt printed nothing.");
        let broken = run_line(&tools, "yes | head -n 1").await;
        assert_eq!(broken.output, "y\n", "SIGPIPE has its default effect");
    }
}

#[tokio::test]
async fn keeps_the_order_of_both_streams() {
    let workspace = Workspace::new();
    let line = "echo a; sleep 0.3; echo b >&2; sleep 0.3; printf c; sleep 0.3; echo d >&2; sleep 0.3; echo e";
    let result = run_line(&workspace.tools(), line).await;
    assert_eq!(result.output, "a\nb\nd\nce\n", "an incomplete line is held back");
}

#[tokio::test]
async fn a_flood_on_one_stream_does_not_displace_the_other() {
    let workspace = Workspace::new();
    let tools = tools(workspace.exec().output_limit(1000));
    let result = run_line(&tools, "echo first; echo warning >&2; sleep 0.3; seq 100000; echo last").await;
    assert!(result.output.starts_with("first\nwarning\n1\n2\n"), "{}", result.output);
    assert!(result.output.ends_with("99999\n100000\nlast\n"), "{}", result.output);
    assert!(result.output.contains(" bytes of stdout left out …]"), "{}", result.output);
    assert!(result.output.len() < 1100);
}

#[tokio::test]
async fn replaces_invalid_utf8() {
    let workspace = Workspace::new();
    let result = run_line(&workspace.tools(), "printf 'a\\377b\\n'").await;
    assert_eq!(result.output, "a\u{fffd}b\n");
}

#[tokio::test]
async fn explains_invalid_commands() {
    let workspace = Workspace::new();
    workspace.write("data", "no program");
    workspace.write_program("odd", "#!/no/such/interpreter\n");
    let tools = workspace.tools();
    let answer = async |arguments: Value| {
        let result = run(&tools, arguments).await;
        assert!(!result.success);
        result.output
    };
    let either = "Pass either `command`, a shell command line, or `program` with its `arguments`.";
    assert_eq!(answer(json!({})).await, either);
    assert_eq!(answer(json!({"command": "ls", "program": "ls"})).await, either);
    let missing = "There is no executable program `no-such-thing` on the `PATH`.";
    assert_eq!(answer(json!({"program": "no-such-thing"})).await, missing);
    assert!(answer(json!({"program": "./data"})).await.contains("executable program `./data` in the workspace"));
    assert!(answer(json!({"program": "./odd"})).await.contains("cannot be run"));
    assert!(answer(json!({"command": "a\u{0}b"})).await.contains("U+0000"));
    assert!(answer(json!({"command": "ls", "timeout": 0})).await.contains("expected integer between 1 and 3600"));
    for (directory, reason) in [
        ("..", "`..` is outside the workspace, or leads there."),
        ("/etc", "`/etc` is outside the workspace, or leads there."),
        ("./../b", "`./../b` is outside the workspace, or leads there."),
        ("data", "`data` is not a directory."),
        ("none", "The directory `none` does not exist in the workspace."),
    ] {
        assert_eq!(answer(json!({"command": "ls", "directory": directory})).await, reason);
    }
}

#[tokio::test]
async fn runs_in_a_directory_of_the_workspace() {
    let workspace = Workspace::new();
    std::fs::create_dir_all(workspace.path().join("a/b")).unwrap();
    workspace.write_program("a/b/here", "#!/bin/sh\necho here\n");
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        let root = workspace.path().canonicalize().unwrap();
        assert_eq!(run_line(&tools, "pwd -P").await.output, format!("{}\n", root.display()));
        let below = run(&tools, json!({"program": "pwd", "arguments": ["-P"], "directory": "a/b"})).await;
        assert_eq!(below.output, format!("{}/a/b\n", root.display()));
        // Absolute paths inside the workspace are accepted too.
        for directory in ["a/b".into(), root.join("a/b")] {
            assert_eq!(run(&tools, json!({"program": "./here", "directory": directory})).await.output, "here\n");
        }
    }
}

#[tokio::test]
async fn enforces_rules_on_programs() {
    let workspace = Workspace::new();
    workspace.write_program("git", "#!/bin/sh\necho impostor\n");
    let allowing = tools(workspace.exec().allow(["echo", "cat"]));
    assert_eq!(run(&allowing, json!({"program": "echo", "arguments": ["x"]})).await.output, "x\n");
    let refused = run(&allowing, json!({"program": "ls"})).await;
    assert_eq!(refused.output, "`ls` may not be run here. Allowed programs: `cat`, `echo`.");
    let line = run_line(&allowing, "echo x").await;
    assert_eq!(line.output, "Shell command lines may not be run here; pass `program` and `arguments`.");
    assert!(!run(&tools(workspace.exec().allow(["git"])), json!({"program": "./git"})).await.success);

    let denying = tools(workspace.exec().deny(["rm"]));
    assert_eq!(run_line(&denying, "echo x").await.output, "x\n");
    for arguments in [json!({"program": "rm"}), json!({"program": "/bin/rm"}), json!({"command": "ls; rm x"})] {
        assert!(run(&denying, arguments).await.output.starts_with("`rm` may not be run here"));
    }
}

#[tokio::test]
async fn asks_with_a_preview() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path().join("sub dir")).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let shown = asked.clone();
    let operator = confirm::from_fn(move |question: Question| {
        shown.lock().unwrap().push(question.preview);
        async { Decision::refuse("not now") }
    });
    let tools = Dispatcher::builder().service(workspace.exec().deny(["rm"])).confirm(operator).build().unwrap();
    let arguments = json!({"program": "touch", "arguments": ["a b"], "directory": "sub dir"});
    let result = run(&tools, arguments).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Refused);
    assert_eq!(asked.lock().unwrap()[0], Some(json!({"command": "cd 'sub dir' && touch 'a b'"})));
    assert!(!workspace.path().join("sub dir/a b").exists());

    // The preview of a command that may not run says so.
    run_line(&tools, "rm -rf /").await;
    let preview = asked.lock().unwrap()[1].clone();
    assert_eq!(preview, Some(json!("The preview failed: `rm` may not be run here, and the line contains that word.")));

    let call = ToolCall::new("run_command", json!({"command": "ls | wc"}));
    assert_eq!(tools.call(call).preview().await.unwrap(), Some(Effect::Command("ls | wc".into())));
}

#[tokio::test]
async fn reports_output_as_progress() {
    let workspace = Workspace::new();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = reports.clone();
    let tools = workspace.tools();
    let call = ToolCall::new("run_command", json!({"command": "echo one; echo two >&2"}));
    tools.call(call).with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
    let reports = reports.lock().unwrap();
    let text_of = |stream: &str| {
        let of_stream = reports.iter().filter(|report| report["stream"] == stream);
        of_stream.map(|report| report["text"].as_str().unwrap()).collect::<String>()
    };
    assert_eq!((text_of("stdout").as_str(), text_of("stderr").as_str()), ("one\n", "two\n"));
}

/// Linking the crate does not register the tool.
#[test]
fn is_registered_by_its_service_only() {
    assert!(Manifest::linked().get("run_command").is_none());
    let tools = Workspace::new().tools();
    let manifest = tools.manifest();
    let definition = manifest.get("run_command").unwrap();
    assert!(definition.sensitive && definition.destructive);
    assert!(definition.arguments.values().all(|argument| argument.description.is_some()));
}
