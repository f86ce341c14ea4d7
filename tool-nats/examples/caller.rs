//! Calls tools of workers: `cargo run -p tool-nats --example caller -- math.add '{"a": 1, "b": 2}'`. Without a name it
//! lists them. The environment says where the server is, as for the example `worker`.

use tool_nats::discover;
use tool_runtime::{Dispatcher, Progress, ToolCall};

#[path = "cluster/connect.rs"]
mod connect;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Dispatcher::builder().build()?;
    let remote = discover(connect::connect().await?, tools.registry()).await?;
    for conflict in remote.conflicts() {
        eprintln!("{conflict}");
    }
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        println!("{} workers\n{}", remote.workers().len(), tools.catalogue());
        return Ok(());
    };
    let call = ToolCall::from_text(name, arguments.next().unwrap_or_default());
    let result = tools.call(call).with(Progress::to(|report| eprintln!("… {report}"))).await;
    println!("{}", result.output);
    if result.success { Ok(()) } else { std::process::exit(1) }
}
