//! Each call gets its own database transaction, which is committed if the call succeeds and rolled back if it fails.
//!
//! ```sh
//! cargo run -p examples --example session_per_call
//! ```

use serde_json::json;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Sqlite, Transaction};
use tool_runtime::{CallOutcome, Dispatcher, ToolCall, tool};

type Session = Transaction<'static, Sqlite>;

// `session` is injected: the model neither sees nor fills it. Parameters with other names are marked `#[inject]`.
/// Transfer money between two accounts.
#[tool(name = "account.transfer")]
async fn transfer(from: &str, to: &str, #[arg(min = 1)] amount: i64, session: &mut Session) -> anyhow::Result<String> {
    let update = "UPDATE accounts SET balance = balance + ? WHERE name = ?";
    sqlx::query(update).bind(amount).bind(to).execute(&mut **session).await?;
    sqlx::query(update).bind(-amount).bind(from).execute(&mut **session).await?;
    let balance: i64 =
        sqlx::query_scalar("SELECT balance FROM accounts WHERE name = ?").bind(from).fetch_one(&mut **session).await?;
    // Both updates have happened. The error undoes them.
    anyhow::ensure!(balance >= 0, "{from} lacks {}", -balance);
    Ok(format!("{from} has {balance} left"))
}

/// List the balances of all accounts.
#[tool(name = "account.balances", read_only)]
async fn balances(session: &mut Session) -> sqlx::Result<Vec<(String, i64)>> {
    sqlx::query_as("SELECT name, balance FROM accounts ORDER BY name").fetch_all(&mut **session).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One connection, because each connection to `:memory:` is a separate database.
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::query("CREATE TABLE accounts (name TEXT, balance INTEGER)").execute(&pool).await?;
    sqlx::query("INSERT INTO accounts VALUES ('ada', 100), ('ben', 0)").execute(&pool).await?;

    let tools = Dispatcher::builder()
        // Runs after the arguments were validated, in each call that needs a session.
        .provide("session", move |_| {
            let pool = pool.clone();
            async move { pool.begin().await }
        })
        // Runs once at the end of such a call, also after a panic, a timeout or a cancellation. If the commit fails, the
        // call fails: the model never reads a success that was not committed.
        .finish("session", |session: Session, outcome: CallOutcome| async move {
            if outcome.is_success() { session.commit().await } else { session.rollback().await }
        })
        .build()?;
    // Runs every provider once, so that a wrong database URL is found at the start.
    tools.check().await?;

    for (tool, arguments) in [
        ("account.transfer", json!({"from": "ada", "to": "ben", "amount": 70})),
        ("account.transfer", json!({"from": "ada", "to": "ben", "amount": 70})),
        ("account.balances", json!({})),
    ] {
        let result = tools.call(ToolCall::new(tool, arguments)).await;
        println!("{tool}: {}", result.output);
    }
    Ok(())
}
