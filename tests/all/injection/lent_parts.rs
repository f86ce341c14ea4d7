//! Parts of provided values: the connection of a transaction.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_runtime::{Builder, CallOutcome, Scope, ToolCall, tool};

use super::{lines, tools};

/// The connection inside of a transaction, which most services take.
struct Connection {
    written: Vec<String>,
}

struct OpenTransaction {
    connection: Connection,
}

/// Writes to the connection, which it finds by type.
#[tool(name = "lent.write")]
async fn lent_write(text: &str, #[inject] conn: &mut Connection) -> usize {
    conn.written.push(text.to_owned());
    tokio::task::yield_now().await;
    conn.written.len()
}

/// Writes to the connection, which it finds by name, and fails.
#[tool(name = "lent.fail")]
async fn lent_fail(session: &mut Connection) -> Result<(), String> {
    session.written.push("half".to_owned());
    Err("stopped".to_owned())
}

fn lent(ends: &Arc<Mutex<Vec<String>>>) -> Builder {
    let ends = ends.clone();
    let make = |_: Scope| async { Ok::<_, String>(OpenTransaction { connection: Connection { written: Vec::new() } }) };
    tools("::lent_").provide("session", make).finish(
        "session",
        move |transaction: OpenTransaction, outcome: CallOutcome| {
            ends.lock().unwrap().push(format!("{outcome:?} {:?}", transaction.connection.written));
            async {}
        },
    )
}

#[tokio::test]
async fn a_part_of_a_provided_value_is_lent_and_the_whole_is_finished() {
    let ends = Arc::default();
    let builder = lent(&ends).lend("session", |transaction: &mut OpenTransaction| &mut transaction.connection);
    let tools = builder.build().unwrap();
    assert_eq!(tools.call(ToolCall::new("lent.write", json!({"text": "a"}))).await.output, "1");
    assert_eq!(tools.call(ToolCall::new("lent.fail", json!({}))).await.output, "stopped");
    assert_eq!(lines(&ends), [r#"Success ["a"]"#, r#"Failed ["half"]"#]);
    // The control: without it, nothing has the type.
    let text = lent(&ends).build().unwrap_err().to_string();
    assert!(text.contains("`conn` of type `Connection`: nothing of type `Connection` is provided"), "{text}");
}

fn connection(transaction: &mut OpenTransaction) -> &mut Connection {
    &mut transaction.connection
}

#[test]
fn a_part_is_lent_from_the_value_of_a_provider() {
    let ends = Arc::default();
    let wrong = lent(&ends).lend("sesion", connection).lend("session", |text: &mut String| text);
    let text = wrong.build().unwrap_err().to_string();
    assert!(text.contains("`.lend(\"sesion\", ..)` has no provider of that name"), "{text}");
    assert!(text.contains("`.lend(\"session\", ..)` borrows from a `alloc::string::String`"), "{text}");
    let make = |_: Scope| async { Ok::<_, String>(OpenTransaction { connection: Connection { written: Vec::new() } }) };
    let twice = lent(&ends).provide("other", make).lend("session", connection).lend("other", connection);
    let text = twice.build().unwrap_err().to_string();
    assert!(text.contains("`Connection` is provided more than once"), "{text}");
}
