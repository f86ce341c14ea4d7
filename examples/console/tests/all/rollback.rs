use chrono::Utc;
use console::store::{AlertRepository, MetricPoint, MetricPointRepository, Store};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tool_runtime::ErrorKind;
use tool_sqlite::testing::{SmallDisk, on_small_disk};

use crate::fixture::{Console, kind};

/// Opens an alert, as the sampler would.
async fn open_alert(console: &Console, metric: &str) {
    let session = console.app.store.session();
    AlertRepository::new(session.clone()).measured(metric, 99.0, 90.0, Utc::now()).await.expect("an alert");
    session.end(true).await.expect("it is kept");
}

async fn alerts(console: &Console, state: &str) -> Value {
    console.json("system_alerts.list", json!({"state": state})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_is_rolled_back() {
    let console = Console::open().await;
    open_alert(&console, "cpu_percent").await;
    let id = alerts(&console, "new").await["items"][0]["id"].clone();

    let result = console.call("system_alerts.acknowledge", json!({"ids": [id, 999], "note": "I look at it"})).await;
    assert_eq!(kind(&result), Some(ErrorKind::Retry));
    assert_eq!(result.output, "There is no alert 999; none was acknowledged.");
    let left = alerts(&console, "new").await;
    assert_eq!((&left["total"], &left["items"][0]["note"]), (&json!(1), &Value::Null), "{left}");

    // The same call without the unknown id is committed.
    console.answer("system_alerts.acknowledge", json!({"ids": [id], "note": "I look at it"})).await;
    assert_eq!(alerts(&console, "new").await["total"], 0);
    assert_eq!(alerts(&console, "open").await["items"][0]["note"], "I look at it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_cannot_be_used_after_its_end() {
    let console = Console::open().await;
    let session = console.app.store.session();
    let left_behind = session.clone();
    session.end(true).await.expect("it ends");
    let error = AlertRepository::new(left_behind).delete_closed().await.expect_err("it is over");
    assert!(error.to_string().contains("the session is over"), "{error}");
}

#[test]
fn a_full_disk_rolls_back_the_whole_call() {
    on_small_disk("rollback::fills_the_disk", 8);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process that another test starts"]
async fn fills_the_disk() {
    let Some(disk) = SmallDisk::mounted() else { return };
    let store = Store::open(&disk.path().join("console.db")).await.expect("a new file");
    let session = store.session();
    let points = MetricPointRepository::new(session.clone());
    let point = MetricPoint { at: Utc::now(), value: 1.0 };
    let mut kept = 0;
    while points.insert(&format!("{kept} {}", "x".repeat(100_000)), &point).await.is_ok() {
        kept += 1;
    }
    assert!(kept > 10, "the control: there was room at first");
    let error = points.insert("after", &point).await.expect_err("SQLite has rolled back");
    assert!(error.to_string().contains("rolled back"), "{error}");
    session.end(true).await.expect_err("there is nothing to commit");

    let session = store.session();
    let points = MetricPointRepository::new(session.clone());
    assert_eq!(points.names().await.expect("it can be read"), []);
    points.insert("next", &point).await.expect("there is room again");
    session.end(true).await.expect("it is kept");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_all_succeed() {
    let console = Console::open().await;
    let names: Vec<String> = (0..40).map(|number| format!("program-{number}")).collect();
    let calls =
        names.iter().map(|name| console.call("classification.assign", json!({"program": name, "category": "other"})));
    let results = join_all(calls).await;
    assert!(results.iter().all(|result| result.success), "{results:?}");
    for name in &names {
        let classified = console.json("classification.classify", json!({"program": name})).await;
        assert_eq!(classified["because"], "assigned by a user");
    }
}
