//! Calls tools of workers: `cargo run -p tool-nats --example caller -- math.add '{"a": 1, "b": 2}'`. Without a name it
//! lists them. With `--queue` before the name the call goes through the work queue. The server is configured with
//! environment variables, as in the example `worker`.

use clap::Parser;
use tool_nats::{ConnectionBuilder, DeliveryMode, QueueOptions, WorkQueue, discover};
use tool_runtime::diagnostics::LogArguments;
use tool_runtime::{Dispatcher, Progress, ToolCall};

/// Calls a tool of a worker, or lists the tools
///
/// Warnings are logged to standard error; `RUST_LOG` selects other events.
#[derive(Parser)]
#[command(name = "caller")]
struct CallerArguments {
    /// Send the call through the work queue
    #[arg(long)]
    queue: bool,
    /// The log
    #[command(flatten)]
    log: LogArguments,
    /// Name of the tool
    name: Option<String>,
    /// Arguments of the call, as a JSON object
    #[arg(default_value = "")]
    arguments: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let CallerArguments { queue, log, name, arguments } = CallerArguments::parse();
    log.install("warn");
    let connection = ConnectionBuilder::from_env().await?;
    let tools = Dispatcher::builder().allow_empty().build()?;
    let mut remote = discover(connection.clone(), tools.registry());
    if queue {
        remote = remote
            .queue(WorkQueue::open(connection, QueueOptions::default()).await?)
            .deliver(|_, _| DeliveryMode::Queued);
    }
    let remote = remote.await?;
    for conflict in remote.conflicts() {
        eprintln!("{conflict}");
    }
    let Some(name) = name else {
        println!("{} workers\n{}", remote.workers().len(), tools.catalogue());
        return Ok(());
    };
    let call = ToolCall::from_text(name, arguments);
    let result = tools.call(call).with(Progress::to(|report| eprintln!("… {report}"))).await;
    println!("{}", result.output);
    if result.success { Ok(()) } else { std::process::exit(1) }
}
