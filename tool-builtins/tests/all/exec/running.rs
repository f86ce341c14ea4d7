//! What a command answers.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision, Question};
use tool_runtime::{Dispatcher, Effect, ErrorKind, Manifest, Progress, ToolCall};

use super::support::{Workspace, cleanups, run, run_line, tools};

#[tokio::test]
async fn what_it_prints_is_the_answer() {
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
async fn how_it_ends_is_told() {
    let workspace = Workspace::new();
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        let failed = run_line(&tools, "echo out; exit 3").await;
        assert!(!failed.success);
        assert_eq!(failed.output, "`echo out; exit 3` exited with code 3.\nout\n");
        let killed = run_line(&tools, "kill -9 $$").await;
        assert_eq!(killed.output, "`kill -9 $$` was killed by SIGKILL.\nIt printed nothing.");
        let facts = killed.metadata.get("command").unwrap();
        assert_eq!((&facts["exit_code"], &facts["signal"]), (&Value::Null, &json!("SIGKILL")));
        assert_eq!(failed.metadata.get("command").unwrap()["exit_code"], 3);
        let confinement = &failed.metadata.get("command").unwrap()["confinement"];
        assert_eq!(confinement["tree"], serde_json::to_value(cleanup).unwrap());
        let stopped = run_line(&tools, "kill -TERM $$").await;
        assert_eq!(stopped.output, "`kill -TERM $$` was killed by SIGTERM.\nIt printed nothing.");
        let broken = run_line(&tools, "yes | head -n 1").await;
        assert_eq!(broken.output, "y\n", "a broken pipe ends whoever writes to it");
    }
}

#[tokio::test]
async fn both_streams_come_in_order() {
    let workspace = Workspace::new();
    let line = "echo a; sleep 0.3; echo b >&2; sleep 0.3; printf c; sleep 0.3; echo d >&2; sleep 0.3; echo e";
    let result = run_line(&workspace.tools(), line).await;
    assert_eq!(result.output, "a\nb\nd\nce\n", "a line that is not complete waits");
}

#[tokio::test]
async fn a_flood_of_one_stream_does_not_drown_the_other() {
    let workspace = Workspace::new();
    let tools = tools(workspace.exec().output_limit(1000));
    let result = run_line(&tools, "echo first; echo warning >&2; sleep 0.3; seq 100000; echo last").await;
    assert!(result.output.starts_with("first\nwarning\n1\n2\n"), "{}", result.output);
    assert!(result.output.ends_with("99999\n100000\nlast\n"), "{}", result.output);
    assert!(result.output.contains(" bytes of stdout left out …]"), "{}", result.output);
    assert!(result.output.len() < 1100);
}

#[tokio::test]
async fn output_that_is_no_text_is_readable() {
    let workspace = Workspace::new();
    let result = run_line(&workspace.tools(), "printf 'a\\377b\\n'").await;
    assert_eq!(result.output, "a\u{fffd}b\n");
}

#[tokio::test]
async fn bad_commands_are_explained() {
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
    for (folder, why) in [
        ("..", "`..` is outside the workspace, or leads there."),
        ("/etc", "`/etc` is outside the workspace, or leads there."),
        ("./../b", "`./../b` is outside the workspace, or leads there."),
        ("data", "`data` is not a directory."),
        ("none", "There is no directory `none` in the workspace."),
    ] {
        assert_eq!(answer(json!({"command": "ls", "directory": folder})).await, why);
    }
}

#[tokio::test]
async fn it_runs_in_a_folder_of_the_workspace() {
    let workspace = Workspace::new();
    std::fs::create_dir_all(workspace.path().join("a/b")).unwrap();
    workspace.write_program("a/b/here", "#!/bin/sh\necho here\n");
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        let folder = workspace.path().canonicalize().unwrap();
        assert_eq!(run_line(&tools, "pwd -P").await.output, format!("{}\n", folder.display()));
        let below = run(&tools, json!({"program": "pwd", "arguments": ["-P"], "directory": "a/b"})).await;
        assert_eq!(below.output, format!("{}/a/b\n", folder.display()));
        // As the command itself has just called it, too.
        for folder in ["a/b".into(), folder.join("a/b")] {
            assert_eq!(run(&tools, json!({"program": "./here", "directory": folder})).await.output, "here\n");
        }
    }
}

#[tokio::test]
async fn rules_are_kept() {
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
async fn it_is_asked_about_and_shown() {
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

    // What may not be run is said to be so.
    run_line(&tools, "rm -rf /").await;
    let preview = asked.lock().unwrap()[1].clone();
    assert_eq!(preview, Some(json!("The preview failed: `rm` may not be run here, and the line contains that word.")));

    let call = ToolCall::new("run_command", json!({"command": "ls | wc"}));
    assert_eq!(tools.call(call).preview().await.unwrap(), Some(Effect::Command("ls | wc".into())));
}

#[tokio::test]
async fn its_lines_are_reported() {
    let workspace = Workspace::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let tools = workspace.tools();
    let call = ToolCall::new("run_command", json!({"command": "echo one; echo two >&2"}));
    tools.call(call).with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
    let heard = heard.lock().unwrap();
    let of = |stream: &str| {
        let of_stream = heard.iter().filter(|report| report["stream"] == stream);
        of_stream.map(|report| report["text"].as_str().unwrap()).collect::<String>()
    };
    assert_eq!((of("stdout").as_str(), of("stderr").as_str()), ("one\n", "two\n"));
}

/// Linking offers nothing: only the service does.
#[test]
fn it_is_offered_by_its_service_only() {
    assert!(Manifest::linked().get("run_command").is_none());
    let tools = Workspace::new().tools();
    let manifest = tools.manifest();
    let definition = manifest.get("run_command").unwrap();
    assert!(definition.sensitive && definition.destructive);
    assert!(definition.arguments.values().all(|argument| argument.description.is_some()));
}
