//! Calls tools of pueue's settings and state.

use pueue_lib::settings::{Settings, Shared};
use pueue_lib::state::State;
use pueue_lib::task::{Task, TaskStatus};
use serde_json::json;
use tool_runtime::{Dispatcher, Manifest, ToolCall};

fn is_queued(task: &Task) -> bool {
    matches!(task.status, TaskStatus::Queued { .. })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shared = Shared { pueue_directory: Some("/tmp/pueue-tools".into()), ..Shared::default() };
    let tools = Dispatcher::builder()
        .manifest(Manifest::linked())
        .service(shared)
        .service_mut(Settings::default())
        .service_mut(State::new())
        // The closures of two methods became function pointers, which the application provides.
        .value("condition", is_queued as fn(&Task) -> bool)
        .build()?;
    let task = json!({
        "id": 0, "created_at": "2026-01-01T10:00:00+00:00", "original_command": "ls", "command": "ls", "path": "/tmp",
        "envs": {}, "group": "default", "dependencies": [], "priority": 0, "label": null,
        "status": {"Queued": {"enqueued_at": "2026-01-01T10:00:00+00:00"}}
    });
    for (name, arguments) in [
        ("shared.pueue_directory", json!({})),
        ("shared.alias_file", json!({})),
        ("shared.pid_path", json!({})),
        ("shared.daemon_cert", json!({})),
        ("shared.daemon_key", json!({})),
        ("shared.shared_secret_path", json!({})),
        ("state.add_task", json!({"task": task})),
        ("state.add_task", json!({"task": task})),
        ("state.task_ids_in_group", json!({"group": "default"})),
        ("state.filter_tasks", json!({"task_ids": [0, 1]})),
        ("settings.save", json!({"path": "/tmp/pueue-tools/pueue.yml"})),
        ("state.task_ids_in_group", json!({"group": "other"})),
    ] {
        let result = tools.call(ToolCall::new(name, arguments)).await;
        println!("{name} {} {}", if result.success { "ok" } else { "failed" }, result.output);
    }
    Ok(())
}
