//! The message sizes that `SCALE.md` is based on.

use std::time::Duration;

use serde_json::{Value, json};
use tool_nats::{async_nats::client::Statistics, serve};
use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};

use std::sync::atomic::Ordering::Relaxed;

use crate::support::{Caller, connect, server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Query {
    /// Host name, such as `web-1`.
    host: String,
    /// Maximum count of points.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only points after this moment.
    since: Option<String>,
}

const TOOLS: usize = 100;

#[tokio::test]
async fn messages_are_no_longer_than_documented() {
    let server = server!();
    let tools = (0..TOOLS).fold(Dispatcher::builder(), |builder, number| {
        let name = format!("metrics_{number:03}.newest_points");
        builder.tool(RuntimeTool::new(name, "The newest points of one host.", |_: Query| async { "ok" }).read_only())
    });
    let _worker = serve(connect(&server.url()).await, tools.build().unwrap()).await.unwrap();
    let client = connect(&server.url()).await;
    let ask = async |subject: &'static str| client.request(subject, "".into()).await.unwrap().payload;
    let ping = ask("$SRV.PING.tools").await;
    let info = ask("$SRV.INFO.tools").await;
    let hash = serde_json::from_slice::<Value>(&ping).unwrap()["metadata"]["manifest"].as_str().unwrap().to_owned();
    let manifest = client.request(format!("tools.manifest.{hash}"), "0".into()).await.unwrap().payload;

    let caller = Caller::new(connect(&server.url()).await).await;
    let counted = connect(&server.url()).await;
    let calling = Caller::new(counted.clone()).await;
    let before = bytes(&counted.statistics());
    let call = ToolCall::new("metrics_042.newest_points", json!({"host": "web-1", "limit": 10}));
    let call = call.conversation("conversation-7").id("call_1");
    assert!(calling.tools.call(call).timeout(Duration::from_secs(30)).await.success);
    let (sent, received) = bytes(&counted.statistics());
    drop(caller);

    let measured = [
        ("presence", ping.len(), 209),
        ("endpoint in INFO", info.len() / TOOLS, 175),
        ("tool in a manifest", manifest.len() / TOOLS, 636),
        ("call, sent", sent - before.0, 329),
        ("call, received", received - before.1, 45),
    ];
    for (what, bytes, most) in measured {
        eprintln!("{what}: {bytes} bytes");
        assert!(bytes <= most, "{what}: {bytes} bytes, not {most}");
    }
}

fn bytes(statistics: &Statistics) -> (usize, usize) {
    let bytes = |count: u64| usize::try_from(count).unwrap();
    (bytes(statistics.out_bytes.load(Relaxed)), bytes(statistics.in_bytes.load(Relaxed)))
}
