use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tool_mcp::{McpServer, ServeError};
use tool_runtime::{Dispatcher, RuntimeTool, Scope};

struct Raw {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Raw {
    /// Connects a client over a pipe of this size, and completes the handshake.
    async fn connect(pipe: usize) -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let echo = |arguments, _: Scope| async move { Value::Object(arguments) };
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        tools.registry().clear();
        tools.registry().register(RuntimeTool::from_schema("echo", "Echo.", &schema, echo)).unwrap();
        let (near, far) = tokio::io::duplex(pipe);
        let server = tokio::spawn(McpServer::new(tools).serve(tokio::io::split(far)));
        let (read, write) = tokio::io::split(near);
        let mut client = Self { read: BufReader::new(read).lines(), write, server };
        let info = json!({"name": "raw", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).to_string()).await;
        assert_eq!(client.receive().await["id"], 0);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        client
    }

    async fn send(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.read.next_line().await.unwrap().expect("a line")).unwrap()
    }
}

fn call(id: usize, arguments: &Value) -> String {
    let params = json!({"name": "echo", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// The control is the following call.
#[tokio::test]
async fn replies_to_invalid_requests() {
    let mut client = Raw::connect(1 << 16).await;
    client.send(&call(1, &json!({"text": "x".repeat(17 << 20)}))).await;
    let refused = client.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32_600)), "{refused}");
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"#).await;
    assert_eq!(client.receive().await["id"], 2);
    client.send("garbage").await;
    client.send(&call(3, &json!({"text": "3"}))).await;
    let answer = client.receive().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(3), &json!(r#"{"text":"3"}"#)),
        "{answer}"
    );
}

/// Over a pipe that is smaller than a message.
#[tokio::test]
async fn responds_to_every_request_of_a_burst() {
    let mut client = Raw::connect(100).await;
    let Raw { read, write, .. } = &mut client;
    let burst: String = (1..=300).map(|id| format!("{}\n", call(id, &json!({"text": "é".repeat(id)})))).collect();
    let mut waiting: BTreeSet<usize> = (1..=300).collect();
    let receive = async {
        while !waiting.is_empty() {
            let answer: Value = serde_json::from_str(&read.next_line().await.unwrap().unwrap()).unwrap();
            let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
            let text = json!({"text": "é".repeat(id)}).to_string();
            assert_eq!(answer["result"]["content"][0]["text"], text);
            assert!(waiting.remove(&id), "{id} has two responses");
        }
    };
    let (sent, ()) = tokio::join!(write.write_all(burst.as_bytes()), receive);
    sent.unwrap();
}

#[tokio::test]
async fn explains_invalid_requests() {
    let mut client = Raw::connect(1 << 16).await;
    for (method, params, code, words) in [
        ("tools/call", json!({"arguments": {}}), -32_602, "missing field `name`"),
        ("tools/call", json!({"name": "echo", "arguments": "{}"}), -32_602, "expected a map"),
        ("tools/kall", json!({"name": "echo"}), -32_601, "unknown method `tools/kall`"),
    ] {
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()).await;
        let error = client.receive().await["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

/// Time is paused: it advances only while all tasks wait, as rmcp would for a pending request.
#[tokio::test(start_paused = true)]
async fn ends_subscriptions_when_the_client_disconnects() {
    let mut client = Raw::connect(1 << 16).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    client
        .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string())
        .await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    let before = tokio::time::Instant::now();
    client.write.shutdown().await.unwrap();
    client.server.await.unwrap().unwrap();
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}

/// Invalid ids, and a batch.
#[tokio::test]
async fn replies_with_the_id_of_each_request() {
    let mut client = Raw::connect(1 << 16).await;
    for (line, id) in [
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/list"}"#, json!(12_345_678_901_234_567_890_u64)),
    ] {
        client.send(line).await;
        let answer = client.receive().await;
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&id), &json!(-32_600)), "{answer}");
    }
    client.send(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]"#).await;
    let answers = client.receive().await;
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(7), &json!(8)), "{answers}");
    client.send(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await;
    assert_eq!(client.receive().await["result"], json!({}));
}

#[tokio::test]
async fn responds_to_a_last_request_without_newline() {
    let mut client = Raw::connect(1 << 16).await;
    client.write.write_all(call(1, &json!({"text": "last"})).as_bytes()).await.unwrap();
    client.write.shutdown().await.unwrap();
    let answer = client.receive().await;
    assert_eq!(answer["result"]["content"][0]["text"], r#"{"text":"last"}"#, "{answer}");
    client.server.await.unwrap().unwrap();
}
