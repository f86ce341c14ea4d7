//! Calls tools of taskchampion's replica.

use serde_json::json;
use taskchampion::storage::inmemory::InMemoryStorage;
use taskchampion::{Operation, Replica};
use tool_runtime::inject::InjectError;
use tool_runtime::{Dispatcher, Manifest, ToolCall};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let id = "2f0b0c3e-9a0f-4d1c-8a52-1d3f6a7b8c9d";
    let tools = Dispatcher::builder()
        .manifest(Manifest::linked())
        .service_mut(Replica::new(InMemoryStorage::new()))
        .provide("ops", |_| async { Ok::<_, InjectError>(Vec::<Operation>::new()) })
        .build()?;
    for (name, arguments) in [
        ("replica.num_local_operations", json!({})),
        ("replica.create_task", json!({"uuid": id})),
        ("replica.commit_operations", json!({"operations": ["UndoPoint", {"Create": {"uuid": id}}]})),
        ("replica.num_undo_points", json!({})),
        ("replica.all_task_uuids", json!({})),
        ("replica.get_task", json!({"uuid": id})),
        ("replica.get_task_data", json!({"uuid": id})),
        ("replica.get_task_operations", json!({"uuid": id})),
        ("replica.update_task", json!({"uuid": id, "property": "description", "value": "Buy milk"})),
        ("replica.all_task_data", json!({})),
        ("replica.rebuild_working_set", json!({"renumber": true})),
        ("replica.working_set", json!({})),
        ("replica.get_undo_operations", json!({})),
        ("replica.num_local_operations", json!({})),
    ] {
        let result = tools.call(ToolCall::new(name, arguments)).await;
        println!("{name} {} {}", if result.success { "ok" } else { "failed" }, result.output);
    }
    Ok(())
}
