#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use serde_json::json;
use tool_runtime::{ErrorKind, ToolCall};

use crate::fixture::{Console, kind};

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().expect("a process")
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_the_process_with_the_given_id_and_name() {
    let console = Console::open().await;
    let (mut asked, mut forced) = (sleeper(), sleeper());
    let answer = console.answer("processes.kill", json!({"pid": asked.id(), "name": "sleep"})).await;
    assert_eq!(answer, format!("Process {} (sleep) was asked to end.", asked.id()));
    assert_eq!(asked.wait().expect("it ends").signal(), Some(15));
    console.answer("processes.kill", json!({"pid": forced.id(), "name": "sleep", "force": true})).await;
    assert_eq!(forced.wait().expect("it ends").signal(), Some(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_a_process_with_another_name() {
    let console = Console::open().await;
    let mut other = sleeper();
    let result = console.call("processes.kill", json!({"pid": other.id(), "name": "nginx"})).await;
    assert_eq!(kind(&result), Some(ErrorKind::Retry), "{}", result.output);
    assert!(result.output.contains("is called `sleep`, not `nginx`"), "{}", result.output);
    assert!(other.try_wait().expect("its state").is_none(), "it was ended");
    other.kill().and_then(|()| other.wait()).expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_to_end_the_console() {
    let console = Console::open().await;
    for pid in [std::process::id(), std::os::unix::process::parent_id()] {
        let process = console.json("processes.show", json!({"pid": pid})).await;
        let result = console.call("processes.kill", json!({"pid": pid, "name": process["name"]})).await;
        assert_eq!(kind(&result), Some(ErrorKind::Fatal), "{}", result.output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_no_process_without_approval() {
    let console = Console::open().await;
    let mut process = sleeper();
    let call = ToolCall::new("processes.kill", json!({"pid": process.id(), "name": "sleep"}));
    let preview = console.app.dispatcher().call(call.clone()).preview().await.expect("a preview");
    let preview = serde_json::to_value(preview).expect("JSON");
    let command = preview["command"].as_str().expect("a command");
    assert!(command.starts_with(&format!("kill -TERM {}  # sleep of ", process.id())), "{command}");

    let result = console.app.dispatcher().call(call).await;
    assert_eq!(kind(&result), Some(ErrorKind::Pending), "{}", result.output);
    assert!(process.try_wait().expect("its state").is_none(), "it was ended");
    process.kill().and_then(|()| process.wait()).expect("it ends");
}
