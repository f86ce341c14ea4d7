use std::time::Duration;

use axum::Router;
use axum::body::Body;
use serde_json::json;
use tool_http::Api;
use tool_runtime::CancellationToken;

use crate::support::{Sent, Stream, get, mounted, post, request, router, send, tools};

async fn watch(router: &Router, query: &str, last: Option<&str>) -> (Stream, Sent) {
    let request = request("GET", &format!("/api/events{query}"));
    let request = match last {
        Some(last) => request.header("last-event-id", last),
        None => request,
    };
    let mut stream = Stream::open(router, request.body(Body::empty()).unwrap()).await;
    let ready = stream.next().await.unwrap();
    assert_eq!(ready.name, "ready");
    (stream, ready)
}

async fn add(router: &Router, a: i64) {
    let path = format!("/api/tools/desk.add?conversation={a}");
    assert_eq!(send(router, post(&path, &json!({"a": a, "b": 0}))).await.status, 200);
}

#[tokio::test]
async fn streams_the_events_of_calls() {
    let router = router();
    let (mut all, _) = watch(&router, "", None).await;
    let (mut one, _) = watch(&router, "?conversation=2&tool=desk.add", None).await;
    add(&router, 1).await;
    add(&router, 2).await;
    let started = all.next().await.unwrap();
    assert_eq!((started.name.as_str(), &started.data["arguments"]), ("started", &json!({"a": 1, "b": 0})));
    let finished = all.next().await.unwrap();
    assert_eq!((finished.name.as_str(), &finished.data["success"]), ("finished", &json!(true)));
    assert_ne!(started.id, finished.id);
    assert_eq!(one.next().await.unwrap().data["call"]["conversation"], "2");
    let other = send(&router, post("/api/tools/desk.nothing", &json!({}))).await;
    assert_eq!(other.status, 404);
    for _ in 0..2 {
        all.next().await.unwrap();
    }
    assert_eq!(all.next().await.unwrap().data["call"]["tool"], "desk.nothing");
}

#[tokio::test]
async fn a_client_that_reconnects_misses_nothing() {
    let router = router();
    let (mut stream, ready) = watch(&router, "", None).await;
    add(&router, 1).await;
    let first = stream.next().await.unwrap();
    drop(stream);
    add(&router, 2).await;

    let (mut again, at) = watch(&router, "", Some(&first.id)).await;
    assert_eq!(at.id, first.id);
    let seen = [again.next().await.unwrap(), again.next().await.unwrap(), again.next().await.unwrap()];
    let seen: Vec<_> =
        seen.iter().map(|sent| (sent.name.as_str(), sent.data["call"]["conversation"].as_str().unwrap())).collect();
    assert_eq!(seen, [("finished", "1"), ("started", "2"), ("finished", "2")]);
    // From the first event, also as a query parameter.
    let (mut whole, _) = watch(&router, &format!("?last_event_id={}", ready.id), None).await;
    assert_eq!(whole.next().await.unwrap(), first);
}

#[tokio::test]
async fn reports_lost_events() {
    let router = mounted(Api::new(tools()).keep_events(4));
    let (mut slow, ready) = watch(&router, "", None).await;
    let (mut last, _) = watch(&router, "?conversation=5", None).await;
    for a in 0..6 {
        add(&router, a).await;
    }
    // After twelve events, the four of the last two calls are kept.
    while last.next().await.unwrap().name != "finished" {}
    let (mut back, _) = watch(&router, "", Some(&ready.id)).await;
    for stream in [&mut slow, &mut back] {
        let missed = stream.next().await.unwrap();
        assert_eq!((missed.name.as_str(), &missed.data), ("missed", &json!({"count": 8})));
        let next = stream.next().await.unwrap();
        assert_eq!((next.name.as_str(), &next.data["call"]["conversation"]), ("started", &json!("4")));
    }
    // An id of an earlier process: the number of missed events is unknown.
    let (mut other, _) = watch(&router, "", Some("1-7")).await;
    let missed = other.next().await.unwrap();
    assert_eq!((missed.name.as_str(), &missed.data), ("missed", &json!({"count": null})));
    for wrong in ["7", "x-y", "1-2-3"] {
        let request = request("GET", "/api/events").header("last-event-id", wrong).body(Body::empty()).unwrap();
        assert_eq!(send(&router, request).await.problem(), (400, "last_event_id".into()), "{wrong}");
    }
    assert_eq!(send(&router, get("/api/events?tools=x")).await.problem(), (400, "query".into()));
}

/// A stream filtered by tool also sends the ids of other events, so that a client that reconnects does not count them
/// as missed.
#[tokio::test]
async fn filtered_events_do_not_count_as_missed() {
    let router = mounted(Api::new(tools()).keep_events(200));
    let (mut all, _) = watch(&router, "", None).await;
    let (mut filtered, ready) = watch(&router, "?tool=desk.count", None).await;
    // A connected client receives an id at least as often as events are dropped.
    for calls in [1, 1, 90, 90] {
        for a in 0..calls {
            add(&router, a).await;
            for _ in 0..2 {
                all.next().await.unwrap();
            }
        }
        let caught_up = async {
            while filtered.last_id != all.last_id {
                assert_eq!(filtered.next_block().await.unwrap().name, "", "it was not asked for");
            }
        };
        tokio::time::timeout(Duration::from_secs(30), caught_up).await.expect("the id of the last event never came");
    }
    let back_with = async |id: &str| {
        let (mut back, _) = watch(&router, "?tool=desk.count", Some(id)).await;
        send(&router, post("/api/tools/desk.count", &json!({"to": 0}))).await;
        back.next().await.unwrap().name
    };
    assert_eq!(back_with(&filtered.last_id).await, "started");
    assert_eq!(back_with(&ready.id).await, "missed", "the control: so many events are not kept");
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let stop = CancellationToken::new();
    let router = mounted(Api::new(tools()).until(stop.clone()));
    let (mut stream, _) = watch(&router, "", None).await;
    stop.cancel();
    assert_eq!(stream.next().await, None);
}
