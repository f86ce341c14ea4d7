//! Interrupted calls and resumed streams.

use std::time::Duration;

use futures_core::Stream;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;

/// As a control, the call has started and is waiting.
#[tokio::test]
async fn cancels_a_call_when_its_client_disconnects() {
    let (front, begun) = (serve(&HttpConfig::new()), wait_for(1));
    let running = tokio::spawn(handle(State(front), TestRequest::modern("wait", json!({"n": 1})).request(true)));
    let mut waits = begun.await.unwrap();
    assert!(!running.is_finished() && waits.ended.try_recv() == Err(TryRecvError::Empty));
    running.abort();
    waits.ended.await.unwrap_err();
}

#[tokio::test]
async fn responds_to_running_calls_when_the_server_stops() {
    let stop = CancellationToken::new();
    let (front, begun) = (serve(&HttpConfig::new().stop(stop.clone())), wait_for(2));
    let running = tokio::spawn(handle(State(front), TestRequest::modern("wait", json!({"n": 2})).request(true)));
    let _waits = begun.await.unwrap();
    stop.cancel();
    let (status, _, messages) = content(running.await.unwrap()).await;
    assert_eq!((status, &messages[0].0["result"]["isError"]), (200, &json!(true)), "{messages:?}");
}

/// Returns the next chunk of a body.
async fn chunk(body: &mut axum::body::BodyDataStream) -> Option<String> {
    let next = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_next(context)).await;
    next.map(|chunk| String::from_utf8(chunk.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn resumes_a_broken_stream() {
    let (front, begun) = (serve(&HttpConfig::new()), wait_for(3));
    let session = begin(&front).await;
    let asked = TestRequest::in_session(&session, "wait", json!({"n": 3}));
    let mut stream = handle(State(front.clone()), asked.request(true)).await.into_body().into_data_stream();
    let first = chunk(&mut stream).await.unwrap();
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).expect("an event id").to_owned();
    let waits = begun.await.unwrap();
    drop(stream);

    let again =
        TestRequest { method: "GET", ..TestRequest::new("2025-11-25", &[("mcp-session-id", &session)], &json!(null)) };
    let again = handle(State(front), again.with("last-event-id", &id).request(false)).await;
    assert_eq!(again.status(), 200);
    waits.go.send(()).unwrap();
    let mut stream = again.into_body().into_data_stream();
    let mut received = String::new();
    while !received.contains("result") {
        received.push_str(&chunk(&mut stream).await.expect("the result"));
    }
    assert!(received.contains(r#""id":7"#), "{received}");
}

#[tokio::test(start_paused = true)]
async fn sends_heartbeats_and_ends_with_the_server() {
    let stop = CancellationToken::new();
    let (front, begun) = (serve(&HttpConfig::new().stop(stop.clone())), wait_for(4));
    let session = begin(&front).await;
    let asked = TestRequest::in_session(&session, "wait", json!({"n": 4}));
    let mut stream = handle(State(front), asked.request(true)).await.into_body().into_data_stream();
    assert!(chunk(&mut stream).await.unwrap().contains("retry"));
    let _waits = begun.await.unwrap();
    for _ in 0..2 {
        assert_eq!(chunk(&mut stream).await.as_deref(), Some(":\n\n"));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    assert_eq!(chunk(&mut stream).await, None);
}
