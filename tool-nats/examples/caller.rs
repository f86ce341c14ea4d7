//! Calls tools of workers: `cargo run -p tool-nats --example caller -- math.add '{"a": 1, "b": 2}'`. Without a name it
//! lists them. With `--queue` before the name the call goes through the work queue. The server is configured with
//! environment variables, as in the example `worker`.

use tool_nats::{ConnectionBuilder, DeliveryMode, QueueOptions, WorkQueue, discover};
use tool_runtime::{Dispatcher, Progress, ToolCall};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let is_queued = arguments.next_if(|argument| argument == "--queue").is_some();
    let connection = ConnectionBuilder::from_env().await?;
    let tools = Dispatcher::builder().allow_empty().build()?;
    let mut remote = discover(connection.clone(), tools.registry());
    if is_queued {
        remote = remote
            .queue(WorkQueue::open(connection, QueueOptions::default()).await?)
            .deliver(|_, _| DeliveryMode::Queued);
    }
    let remote = remote.await?;
    for conflict in remote.conflicts() {
        eprintln!("{conflict}");
    }
    let Some(name) = arguments.next() else {
        println!("{} workers\n{}", remote.workers().len(), tools.catalogue());
        return Ok(());
    };
    let call = ToolCall::from_text(name, arguments.next().unwrap_or_default());
    let result = tools.call(call).with(Progress::to(|report| eprintln!("… {report}"))).await;
    println!("{}", result.output);
    if result.success { Ok(()) } else { std::process::exit(1) }
}
