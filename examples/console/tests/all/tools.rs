use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::pin::pin;
use std::time::Duration;

use console::settings::Extension;
use serde_json::{Value, json};
use tokio::time::timeout;
use tool_runtime::ErrorKind;
use tool_runtime::events::{EventKind, Subscriber, Update};

use crate::fixture::{Console, kind};

/// Calls tools and records their names.
struct RecordedCalls<'a> {
    console: &'a Console,
    names: BTreeSet<String>,
}

impl RecordedCalls<'_> {
    async fn json(&mut self, tool: &str, arguments: Value) -> Value {
        self.names.insert(tool.to_owned());
        self.console.json(tool, arguments).await
    }

    async fn text(&mut self, tool: &str, arguments: Value) -> String {
        self.names.insert(tool.to_owned());
        self.console.answer(tool, arguments).await
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn items(value: &Value) -> &[Value] {
    value["items"].as_array().unwrap_or_else(|| panic!("{value} is not a listing"))
}

/// Calls every tool of the fifteen services. Fails if a tool is not called.
#[tokio::test(flavor = "multi_thread")]
async fn every_tool_returns_data_of_this_machine() {
    let console = Console::open().await;
    console.log("web.log", "GET /one\nGET /two\nPOST /three\n");
    console.app.sampler.sample().await.expect("a sample");
    let mut call = RecordedCalls { console: &console, names: BTreeSet::new() };

    let snapshot = call.json("system.build_system_snapshot", json!({})).await;
    let cores = std::thread::available_parallelism().expect("cores").get();
    assert!(number(&snapshot["cores"]) >= cores as f64, "{snapshot}");
    assert!(number(&snapshot["memory"]["total_mb"]) > 0.0);
    assert!(items(&call.json("system.disks", json!({"limit": 1})).await).len() <= 1);
    call.json("system.network_interfaces", json!({})).await;
    call.json("system.temperatures", json!({})).await;

    let host = snapshot["host"].as_str().expect("a name").to_owned();
    assert!(call.text("system_simple.summary", json!({})).await.starts_with(&host));
    assert!(call.json("system_simple.health", json!({})).await["healthy"].is_boolean());

    if std::path::Path::new("/var/lib/dpkg/status").exists() {
        let found = call.json("system_packages.search", json!({"word": "dpkg"})).await;
        assert!(items(&found).iter().any(|package| package["name"] == "dpkg"), "{found}");
        assert_eq!(call.json("system_packages.show", json!({"name": "dpkg"})).await["name"], "dpkg");
        let largest = call.json("system_packages.largest", json!({"limit": 2})).await;
        assert!(number(&items(&largest)[0]["size_mb"]) >= number(&items(&largest)[1]["size_mb"]));
        call.names.insert("system_packages.history".to_owned());
        console.call("system_packages.history", json!({"limit": 3})).await;
        let located = call.json("applications_system.locate", json!({"command": "dpkg"})).await;
        assert_eq!(located["package"], "dpkg", "{located}");
    }
    call.json("applications_system.desktop", json!({})).await;
    call.json("applications_system.units", json!({"enabled_only": true})).await;

    let me = std::process::id();
    let listed = call.json("processes.list", json!({"order": "newest", "limit": 20})).await;
    assert!(number(&listed["total"]) >= 1.0);
    let process = call.json("processes.show", json!({"pid": me})).await;
    assert_eq!(process["pid"], me);
    let my_program = process["program"].as_str().expect("a program").rsplit('/').next().expect("a name").to_owned();
    let running = call.json("applications.list", json!({"name": my_program})).await;
    assert_eq!(items(&running)[0]["name"], my_program);
    let mine = call.json("applications.processes", json!({"name": my_program})).await;
    assert!(items(&mine).iter().any(|process| process["pid"] == me), "{mine}");

    let port = console.own.port();
    let listeners = call.json("service_discovery.at_port", json!({"port": port})).await;
    assert_eq!((&listeners[0]["pid"], &listeners[0]["local_only"]), (&json!(me), &json!(true)), "{listeners}");
    let all = call.json("service_discovery.listening", json!({"limit": 500})).await;
    assert!(items(&all).iter().any(|listener| listener["port"] == port), "{all}");

    let nginx = call.json("classification.classify", json!({"program": "nginx"})).await;
    assert_eq!(nginx["category"], "web_server");
    let assign = json!({"program": "nginx", "category": "other"});
    assert_eq!(call.json("classification.assign", assign).await["because"], "assigned by a user");
    assert_eq!(call.json("classification.forget", json!({"program": "nginx"})).await["category"], "web_server");
    assert!(call.json("classification.overview", json!({})).await.as_object().is_some_and(|kinds| !kinds.is_empty()));

    assert_eq!(items(&call.json("logs.files", json!({})).await)[0]["file"], "web.log");
    assert_eq!(call.text("logs.tail", json!({"file": "web.log", "lines": 2})).await, "GET /two\nPOST /three");
    let found = call.json("logs.search", json!({"text": "get"})).await;
    assert_eq!((&found["total"], &items(&found)[0]["line"]), (&json!(2), &json!("GET /two")));
    let followed = call.text("logs.follow", json!({"file": "web.log", "seconds": 1})).await;
    assert_eq!(followed, "Nothing was added to web.log in 1 s.");

    let names = call.json("metrics.names", json!({})).await;
    assert!(names.as_array().is_some_and(|names| names.iter().any(|name| name["metric"] == "cpu_percent")), "{names}");
    let points = call.json("metrics.newest", json!({"metric": "memory_percent"})).await;
    assert!(number(&points[0]["value"]) > 0.0);
    let summary = call.json("metrics.summary", json!({"metric": "memory_percent"})).await;
    assert_eq!(summary["max"], points[0]["value"]);
    assert_eq!(call.text("metrics.purge", json!({"metric": "load_1m"})).await, "1 points of load_1m are deleted.");

    let own = console.own.to_string();
    assert_eq!(call.json("internet_metrics.targets", json!({})).await, json!([own]));
    assert_eq!(call.json("internet_metrics.ping", json!({})).await["up"], true);
    assert_eq!(call.json("internet_metrics.check", json!({"target": own})).await["up"], true);
    assert_eq!(call.json("internet_metrics.latency", json!({"target": own})).await["points"], 1);
    assert_eq!(call.json("internet_events.list", json!({})).await, json!([]));
    assert_eq!(call.json("internet_events.outages", json!({})).await["total"], 0);

    let root = call.json("users.show", json!({"name": "root"})).await;
    assert_eq!((&root["id"], &root["is_person"]), (&json!(0), &json!(true)));
    assert!(items(&call.json("users.list", json!({"who": "all"})).await).iter().any(|user| user["name"] == "root"));

    assert_eq!(call.json("system_alerts.list", json!({"state": "closed"})).await["total"], 0);
    assert_eq!(call.json("system_alerts.thresholds", json!({})).await["cpu_percent"], 90.0);
    call.text("system_alerts.set_threshold", json!({"metric": "cpu_percent", "percent": 50})).await;
    assert_eq!(console.app.settings.get().alerts.cpu_percent, 50.0);
    assert_eq!(call.text("system_alerts.clear_closed", json!({})).await, "0 alerts are deleted.");

    assert_eq!(call.text("extensions.disable", json!({"extension": "alerts"})).await, "`alerts` is disabled.");
    assert!(!console.app.settings.get().has(Extension::Alerts));
    assert_eq!(call.text("extensions.enable", json!({"extension": "alerts"})).await, "`alerts` is enabled.");
    assert_eq!(call.json("extensions.list", json!({})).await.as_array().map(Vec::len), Some(Extension::ALL.len()));

    assert!(call.text("list_files", json!({})).await.contains("README.md"), "the sample workspace is there");

    // Other tests call these.
    call.names.extend(["processes.kill", "system_alerts.acknowledge"].map(str::to_owned));
    let offered = console.app.dispatcher().definitions();
    let forgotten: Vec<_> =
        offered.iter().filter(|(name, _)| name.contains('.') && !call.names.contains(&**name)).collect();
    assert!(forgotten.is_empty(), "not called: {forgotten:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_for_missing_items_name_the_tool_that_lists_them() {
    let console = Console::open().await;
    for (tool, arguments, hint) in [
        ("processes.show", json!({"pid": 4_000_000}), "`processes.list`"),
        ("applications.processes", json!({"name": "no such program"}), "`applications.list`"),
        ("applications_system.locate", json!({"command": "no-such-command"}), "There is no command"),
        ("service_discovery.at_port", json!({"port": 1}), "Nothing listens on port 1."),
        ("classification.forget", json!({"program": "nginx"}), "No category was assigned"),
        ("logs.tail", json!({"file": "none.log"}), "`logs.files`"),
        ("metrics.newest", json!({"metric": "none"}), "`metrics.names`"),
        ("internet_metrics.check", json!({"target": "192.0.2.1:80"}), "is not configured. The targets are 127.0.0.1:"),
        ("users.show", json!({"name": "nobody-like-this"}), "`users.list`"),
        ("system_packages.show", json!({"name": "no-such-package"}), "No package"),
    ] {
        let result = console.call(tool, arguments).await;
        assert_eq!(kind(&result), Some(ErrorKind::Retry), "{tool}: {}", result.output);
        assert!(result.output.contains(hint), "{tool}: {}", result.output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn follow_reports_lines_as_they_are_added() {
    let console = Console::open().await;
    console.log("app.log", "old line\n");
    let path = console.path("logs").join("app.log");
    let add = |line: &str| {
        let mut file = OpenOptions::new().append(true).open(&path).expect("the log");
        file.write_all(format!("{line}\n").as_bytes()).expect("it is written");
    };
    let mut events = console.app.dispatcher().events().subscribe();
    let write = async {
        // The first report says that the file is being followed.
        loop {
            add("any line");
            if timeout(Duration::from_millis(100), reported(&mut events)).await.is_ok() {
                break;
            }
        }
        for line in ["new line 1", "new line 2", "new line 3"] {
            add(line);
            while reported(&mut events).await != line {}
        }
        // More than the limit of its output: it returns early.
        add(&"x".repeat(512_000));
    };
    let mut following = pin!(console.answer("logs.follow", json!({"file": "app.log", "seconds": 60})));
    tokio::select! {
        () = write => {}
        followed = &mut following => panic!("too early: {followed}"),
    }
    let followed = following.await;
    let new = followed.trim_start_matches("any line\n");
    assert!(new.starts_with("new line 1\nnew line 2\nnew line 3\nxxx"), "{}", new.get(..200).unwrap_or(new));
}

/// Returns the next progress report of a handler.
async fn reported(events: &mut Subscriber) -> String {
    while let Some(update) = events.next().await {
        if let Update::Event(event) = update
            && let EventKind::Progress { progress } = &event.kind
        {
            return progress.as_str().expect("a line").to_owned();
        }
    }
    panic!("the console is gone")
}
