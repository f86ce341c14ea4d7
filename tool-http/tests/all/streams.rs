use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tool_http::Api;
use tool_runtime::{Progress, tool_class};

use crate::support::{Desk, Stream, TellsWhenDropped, builder, json, mounted, request, router, serve};

fn streamed(path: &str, body: &serde_json::Value) -> axum::http::Request<axum::body::Body> {
    json(request("POST", path).header("accept", "text/event-stream"), body)
}

#[tokio::test]
async fn a_call_streams_its_progress() {
    let events = Stream::open(&router(), streamed("/api/tools/desk.count", &json!({"to": 3}))).await.all().await;
    let names: Vec<_> = events.iter().map(|sent| sent.name.as_str()).collect();
    assert_eq!(names, ["progress", "progress", "progress", "result"]);
    assert_eq!(events[1].data, 2);
    assert_eq!(events[3].data["output"], "counted to 3");
}

#[tokio::test]
async fn a_failure_ends_the_stream_with_its_result() {
    let events = Stream::open(&router(), streamed("/api/tools/desk.add", &json!({"a": "x"}))).await.all().await;
    assert_eq!((events.len(), events[0].name.as_str()), (1, "result"));
    assert_eq!(events[0].data["error"]["kind"], "invalid_arguments");
}

/// The client does not read while the handler reports: reports beyond the buffer are counted.
#[tokio::test]
async fn a_slow_client_learns_how_many_reports_it_missed() {
    let events = Stream::open(&router(), streamed("/api/tools/desk.count", &json!({"to": 10_000}))).await.all().await;
    let heard = events.iter().filter(|sent| sent.name == "progress").count() as u64;
    let missed: u64 =
        events.iter().filter(|sent| sent.name == "missed").map(|sent| sent.data["count"].as_u64().unwrap()).sum();
    assert_eq!(heard + missed, 10_000);
    assert!(missed > 0 && heard < 1_000, "{heard} and {missed}");
    assert_eq!(events.last().unwrap().name, "result");
}

/// A connection with a running call and a small receive buffer.
async fn called(address: SocketAddr, tool: &str, arguments: &serde_json::Value, accept: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut connection = socket.connect(address).await.unwrap();
    let body = arguments.to_string();
    let length = body.len();
    let request = format!(
        "POST /api/tools/{tool} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: {accept}\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    connection
}

async fn read_until(connection: &mut TcpStream, text: &str) {
    let (mut read, mut buffer) = (String::new(), [0; 1024]);
    while !read.contains(text) {
        let count = connection.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "the connection was closed after {read}");
        read.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_its_call() {
    let desk = Desk::default();
    let tools = builder(&desk).build().unwrap();
    let mut events = tools.events().subscribe();
    let address = serve(mounted(Api::new(tools))).await;
    for accept in ["text/event-stream", "application/json"] {
        let mut connection = called(address, "desk.wait", &json!({}), accept).await;
        // Until the handler runs.
        while !matches!(events.next().await, Some(tool_runtime::events::Update::Event(event)) if matches!(event.kind, tool_runtime::events::EventKind::Progress { .. }))
        {
        }
        if accept == "text/event-stream" {
            read_until(&mut connection, "event: progress").await;
        }
        // The control: the call continues while the client is connected.
        let meanwhile = tokio::time::timeout(Duration::from_millis(50), desk.dropped.notified()).await;
        assert!(meanwhile.is_err(), "{accept}: it was stopped while the client waited");
        drop(connection);
        let stopped = tokio::time::timeout(Duration::from_secs(30), desk.dropped.notified()).await;
        assert!(stopped.is_ok(), "{accept}: it continues without a client");
    }
}

/// A tool class that reports a lot of progress.
struct Hose(Desk);

#[tool_class(manual, prefix = "hose")]
impl Hose {
    /// Report a long text again and again.
    pub async fn pour(&self, times: u32, #[inject] progress: &Progress) -> String {
        let _tells = TellsWhenDropped(self.0.dropped.clone());
        for _ in 0..times {
            progress.report("water ".repeat(4_000));
            tokio::task::yield_now().await;
        }
        format!("poured {times} times")
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_its_call() {
    let desk = Desk::default();
    let address = serve(mounted(Api::new(builder(&desk).also(Hose(desk.clone())).build().unwrap()))).await;
    let endless = json!({"times": u32::MAX});
    let connection = called(address, "hose.pour?timeout_ms=1000", &endless, "text/event-stream").await;
    let stopped = tokio::time::timeout(Duration::from_secs(30), desk.dropped.notified()).await;
    assert!(stopped.is_ok(), "its time is up, and it goes on");
    drop(connection);

    // The control: a client that reads receives all events.
    let mut connection = called(address, "hose.pour", &json!({"times": 200}), "text/event-stream").await;
    let mut text = String::new();
    connection.read_to_string(&mut text).await.unwrap();
    assert_eq!(text.matches("event: progress").count(), 200);
    assert!(!text.contains("event: missed") && text.contains("poured 200 times"));
}
