use std::time::Duration;

use chrono::Utc;
use console::clock::hours_before;
use console::settings::Extension;
use console::store::{MetricPoint, MetricPointRepository};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::fixture::Console;
use crate::web::Browser;

async fn points(console: &Console, metric: &str) -> usize {
    let names = console.json("metrics.names", json!({})).await;
    let names = names.as_array().expect("a list");
    let found = names.iter().find(|name| name["metric"] == metric);
    found.and_then(|name| name["points"].as_u64()).unwrap_or_default() as usize
}

#[tokio::test(flavor = "multi_thread")]
async fn points_older_than_the_limit_are_deleted() {
    let console = Console::open().await;
    let keep = console.app.settings.get().sampler.keep_hours;
    let session = console.app.store.session();
    let repository = MetricPointRepository::new(session.clone());
    for hours in [keep - 1, keep + 1, keep + 100] {
        let point = MetricPoint { at: hours_before(Utc::now(), hours), value: 1.0 };
        repository.insert("cpu_percent", &point).await.expect("a point");
    }
    session.end(true).await.expect("they are kept");
    assert_eq!(points(&console, "cpu_percent").await, 3);
    console.app.sampler.sample().await.expect("a sample");
    assert_eq!(points(&console, "cpu_percent").await, 2, "one that is young enough, and the new one");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_opened_and_closed() {
    let console = Console::open().await;
    let sample = async |threshold: f64| {
        console.app.settings.change(|settings| settings.alerts.memory_percent = threshold).expect("a setting");
        console.app.sampler.sample().await.expect("a sample");
    };
    let memory = async |state: &str| -> Vec<Value> {
        let alerts = console.json("system_alerts.list", json!({"state": state})).await;
        let alerts = alerts["items"].as_array().expect("a list").clone();
        alerts.into_iter().filter(|alert| alert["metric"] == "memory_percent").collect()
    };
    sample(100.0).await;
    assert!(memory("all").await.is_empty());
    sample(1.0).await;
    sample(1.0).await;
    assert_eq!(memory("open").await.len(), 1, "one alert for as long as it lasts");
    sample(100.0).await;
    assert!(memory("open").await.is_empty());
    assert_eq!(memory("closed").await.len(), 1);

    console.app.settings.switch(Extension::Alerts, false).expect("a setting");
    sample(1.0).await;
    assert!(memory("open").await.is_empty(), "no alerts while the extension is off");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_has_a_start_and_an_end() {
    let console = Console::open().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = listener.local_addr().expect("an address").to_string();
    console.app.settings.change(|settings| settings.internet.targets = vec![target.clone()]).expect("a setting");
    let check = async || console.app.sampler.check_targets().await.expect("a check");

    check().await;
    assert_eq!(
        console.json("internet_events.list", json!({})).await,
        json!([]),
        "a target that stays up causes no event"
    );
    drop(listener);
    check().await;
    check().await;
    let outages = console.json("internet_events.outages", json!({})).await;
    assert_eq!((&outages["total"], &outages["items"][0]["until"]), (&json!(1), &Value::Null), "{outages}");
    let _listener = TcpListener::bind(&target).await.expect("the port again");
    check().await;
    let outages = console.json("internet_events.outages", json!({})).await;
    assert!(outages["items"][0]["until"].is_string(), "{outages}");
    assert_eq!(console.json("internet_metrics.latency", json!({"target": target})).await["points"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_only_while_the_extension_is_enabled() {
    let mut console = Console::open().await;
    console.app.settings.switch(Extension::Sampler, false).expect("a setting");
    console.app.start_sampler();
    // Once the points of the other job exist, this job would have run too.
    let latency = format!("latency_ms {}", console.own);
    until(async || points(&console, &latency).await > 0).await;
    assert_eq!(points(&console, "cpu_percent").await, 0);
    console.app.settings.switch(Extension::Sampler, true).expect("a setting");
    until(async || points(&console, "cpu_percent").await > 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_the_failure_of_an_enabled_job() {
    let mut console = Console::open().await;
    let failing = async |console: &Console| -> Vec<String> {
        let extensions = console.json("extensions.list", json!({})).await;
        let extensions = extensions.as_array().expect("a list").clone();
        let failing = extensions.iter().filter(|one| one["failure"].is_string() && one["enabled"] == true);
        failing.map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(failing(&console).await, [""; 0], "the control");
    console.app.store.clone().close().await;
    console.app.start_sampler();
    until(async || failing(&console).await == ["internet", "sampler"]).await;
    let page = Browser::new(&console).page("/settings").await;
    assert_eq!(page.matches("The last run failed").count(), 2, "{page}");
    console.app.settings.switch(Extension::Internet, false).expect("a setting");
    until(async || failing(&console).await == ["sampler"]).await;
}

/// Waits until a condition holds. Panics after a long timeout; the duration is not measured.
pub async fn until(is_so: impl AsyncFn() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("the condition holds within a minute");
}
