//! Tests that fail if a tool fails, is missing, or runs without approval.
//!
//! ```sh
//! cargo test -p examples --example test_your_tools
//! ```

use tool_runtime::{BuildError, Dispatcher, tool};

/// Book a table.
#[tool(name = "table.book")]
fn book(#[arg(min = 1, max = 8)] guests: u32) -> Result<String, String> {
    if guests > 6 { Err("the large table is taken".to_owned()) } else { Ok(format!("booked for {guests}")) }
}

/// Cancel all bookings.
#[tool(name = "table.cancel_all", destructive)]
fn cancel_all() {}

// Build the dispatcher in a function, so that tests use the one of the program.
fn tools() -> Result<Dispatcher, BuildError> {
    Dispatcher::builder().build()
}

fn main() -> Result<(), BuildError> {
    println!("{}", tools()?.catalogue());
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_agent::{Agent, Reply, ScriptedModel};
    use tool_runtime::{ErrorKind, ToolCall};

    use super::tools;

    #[tokio::test]
    async fn books_a_table() {
        let result = tools().unwrap().call(ToolCall::new("table.book", json!({"guests": 4}))).await;
        // A call returns no Rust error: look at the result. On failure, `output` is what the model would read.
        assert!(result.success, "{}", result.output);
        assert_eq!(result.output, "booked for 4");
    }

    #[tokio::test]
    async fn rejects_more_guests_than_seats() {
        let result = tools().unwrap().call(ToolCall::new("table.book", json!({"guests": 20}))).await;
        assert_eq!(result.error.unwrap().kind, ErrorKind::InvalidArguments);
    }

    #[tokio::test]
    async fn does_not_cancel_without_approval() {
        let result = tools().unwrap().call(ToolCall::new("table.cancel_all", json!({}))).await;
        assert_eq!(result.error.unwrap().kind, ErrorKind::Refused);
    }

    /// A whole conversation, with a script in place of the model. It fails if it calls a tool that does not exist.
    #[tokio::test]
    async fn a_model_can_book_after_a_refusal() {
        let model = ScriptedModel::new([
            Reply::call("table.book", json!({"guests": 7})),
            Reply::call("table.book", json!({"guests": 6})),
            Reply::text("You have a table for six."),
        ]);
        let agent = Agent::builder(model, tools().unwrap()).build();
        let outcome = agent.conversation("test").say("A table for seven, please.").await;
        assert_eq!(outcome.answer(), Some("You have a table for six."));
        // The script answers whether or not its calls succeed. In most tests: `assert_eq!(outcome.failed_calls, [])`.
        let failed: Vec<&str> = outcome.failed_calls.iter().map(|call| call.result.output.as_str()).collect();
        assert_eq!(failed, ["the large table is taken"]);
    }
}
