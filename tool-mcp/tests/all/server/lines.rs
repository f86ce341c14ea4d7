use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tool_mcp::Server;
use tool_runtime::{Dispatcher, RuntimeTool, Scope};

struct Raw {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Raw {
    /// A client that has said hello, with a pipe of this size between.
    async fn connect(pipe: usize) -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let echo = |arguments, _: Scope| async move { Value::Object(arguments) };
        let tools = Dispatcher::builder().build().unwrap();
        tools.registry().clear();
        tools.registry().register(RuntimeTool::from_schema("echo", "Echo.", &schema, echo)).unwrap();
        let (near, far) = tokio::io::duplex(pipe);
        tokio::spawn(Server::new(tools).serve(tokio::io::split(far)));
        let (read, write) = tokio::io::split(near);
        let mut client = Self { read: BufReader::new(read).lines(), write };
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

/// The control is the call after it.
#[tokio::test]
async fn a_request_that_cannot_be_taken_is_answered() {
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

/// On a pipe that holds less than a message.
#[tokio::test]
async fn a_burst_is_answered_whole() {
    let mut client = Raw::connect(100).await;
    let Raw { read, write } = &mut client;
    let burst: String = (1..=300).map(|id| format!("{}\n", call(id, &json!({"text": "é".repeat(id)})))).collect();
    let mut waiting: BTreeSet<usize> = (1..=300).collect();
    let receive = async {
        while !waiting.is_empty() {
            let answer: Value = serde_json::from_str(&read.next_line().await.unwrap().unwrap()).unwrap();
            let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
            let text = json!({"text": "é".repeat(id)}).to_string();
            assert_eq!(answer["result"]["content"][0]["text"], text);
            assert!(waiting.remove(&id), "{id} was answered twice");
        }
    };
    let (sent, ()) = tokio::join!(write.write_all(burst.as_bytes()), receive);
    sent.unwrap();
}
