//! Calls that end early, and streams that are taken up again.

use std::time::Duration;

use futures_core::Stream;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;

/// The control is that it has begun, and waits.
#[tokio::test]
async fn a_client_that_goes_away_ends_its_call() {
    let (front, begun) = (serve(&HttpConfig::new()), wait_for(1));
    let running = tokio::spawn(answer(State(front), Asked::modern("wait", json!({"n": 1})).request(true)));
    let mut waits = begun.await.unwrap();
    assert!(!running.is_finished() && waits.ended.try_recv() == Err(TryRecvError::Empty));
    running.abort();
    waits.ended.await.unwrap_err();
}

#[tokio::test]
async fn a_server_that_stops_answers_what_it_has() {
    let stop = CancellationToken::new();
    let (front, begun) = (serve(&HttpConfig::new().stop(stop.clone())), wait_for(2));
    let running = tokio::spawn(answer(State(front), Asked::modern("wait", json!({"n": 2})).request(true)));
    let _waits = begun.await.unwrap();
    stop.cancel();
    let (status, _, messages) = said(running.await.unwrap()).await;
    assert_eq!((status, &messages[0].0["result"]["isError"]), (200, &json!(true)), "{messages:?}");
}

/// The next piece of a body.
async fn piece(body: &mut axum::body::BodyDataStream) -> Option<String> {
    let next = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_next(context)).await;
    next.map(|piece| String::from_utf8(piece.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn a_stream_that_broke_is_taken_up_again() {
    let (front, begun) = (serve(&HttpConfig::new()), wait_for(3));
    let session = begin(&front).await;
    let asked = Asked::in_session(&session, "wait", json!({"n": 3}));
    let mut stream = answer(State(front.clone()), asked.request(true)).await.into_body().into_data_stream();
    let first = piece(&mut stream).await.unwrap();
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).expect("where it can be taken up").to_owned();
    let waits = begun.await.unwrap();
    drop(stream);

    let again = Asked { method: "GET", ..Asked::new("2025-11-25", &[("mcp-session-id", &session)], &json!(null)) };
    let again = answer(State(front), again.with("last-event-id", &id).request(false)).await;
    assert_eq!(again.status(), 200);
    waits.go.send(()).unwrap();
    let mut stream = again.into_body().into_data_stream();
    let mut told = String::new();
    while !told.contains("result") {
        told.push_str(&piece(&mut stream).await.expect("the answer"));
    }
    assert!(told.contains(r#""id":7"#), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_shows_that_it_lives_and_ends_with_the_server() {
    let stop = CancellationToken::new();
    let (front, begun) = (serve(&HttpConfig::new().stop(stop.clone())), wait_for(4));
    let session = begin(&front).await;
    let asked = Asked::in_session(&session, "wait", json!({"n": 4}));
    let mut stream = answer(State(front), asked.request(true)).await.into_body().into_data_stream();
    assert!(piece(&mut stream).await.unwrap().contains("retry"));
    let _waits = begun.await.unwrap();
    for _ in 0..2 {
        assert_eq!(piece(&mut stream).await.as_deref(), Some(":\n\n"));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    assert_eq!(piece(&mut stream).await, None);
}
