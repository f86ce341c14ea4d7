//! An agent: a model calls tools until it can answer. Prints what happens meanwhile.
//!
//! ```sh
//! cargo run -p examples --example agent
//! TOOL_MODEL=anthropic/claude-sonnet-5 ANTHROPIC_API_KEY=.. cargo run -p examples --example agent
//! ```

use std::time::Duration;

use tool_agent::{Agent, AgentEvent, OfflineModel, ProviderModel, RetryingModel, RunLimits};
use tool_runtime::{Dispatcher, tool};

/// Convert a temperature from degrees Celsius to Fahrenheit.
#[tool(name = "temperature.to_fahrenheit", read_only)]
fn to_fahrenheit(celsius: f64) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}

/// List the parts in stock.
#[tool(name = "stock.list", read_only)]
fn stock() -> Vec<&'static str> {
    vec!["bolt", "nut"]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder().build()?;
    // `TOOL_MODEL` selects a provider. `OfflineModel` finds a tool by keywords and needs neither a key nor a network.
    let agent = match ProviderModel::from_env()? {
        Some(model) => Agent::builder(RetryingModel::new(model), tools),
        None => Agent::builder(OfflineModel, tools),
    };
    let agent = agent
        .system("You help in a workshop. Answer in one sentence.")
        .limits(RunLimits::default().turns(10).time(Duration::from_secs(120)))
        .build();

    // A conversation remembers its messages. With `.store(SqliteStore::open(..))` it survives a restart.
    let conversation = agent.conversation("chat-7");
    let run = conversation.say("What temperature is 20 Celsius in Fahrenheit?");
    let mut events = run.events();
    let run = tokio::spawn(run.into_future());
    while let Some(update) = events.next().await {
        match update.event() {
            Some(AgentEvent::CallStarted { tool, arguments, .. }) => println!("\n> {tool} {arguments}"),
            Some(AgentEvent::CallFinished(call)) => println!("< {}", call.result.output),
            Some(AgentEvent::Text { text }) => print!("{text}"),
            _ => {}
        }
    }
    let outcome = run.await?;
    println!("\n{}: {} calls, {} failed", outcome.ending, outcome.calls, outcome.failed_calls.len());
    Ok(())
}
