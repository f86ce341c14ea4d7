//! Results of the calls, and their effect on the database.

use serde_json::{Value, json};
use tool_runtime::{Dispatcher, ErrorKind, Manifest, ToolCall, ToolResult};

use crate::conversation::turns;
use crate::user::CurrentUser;
use crate::{database, tools};

async fn dispatcher() -> Dispatcher {
    let pool = database::open().await.expect("a database");
    tools::dispatcher(pool).expect("every tool has what it needs")
}

async fn call(tools: &Dispatcher, name: &str, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new(name, arguments)).await
}

/// Records a point for each of these minutes.
async fn record(tools: &Dispatcher, host: &str, minutes: &[u32]) -> ToolResult {
    let points: Vec<Value> =
        minutes.iter().map(|minute| json!({"at": format!("2026-01-01T12:{minute:02}:00Z"), "value": 50})).collect();
    call(tools, "metrics.record", json!({"host": host, "points": points})).await
}

async fn stored(tools: &Dispatcher, host: &str) -> usize {
    let result = call(tools, "metrics.newest", json!({"host": host, "limit": 100})).await;
    let points: Vec<Value> = serde_json::from_str(&result.output).expect("a list of points");
    points.len()
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

#[tokio::test]
async fn every_provider_works() {
    let tools = dispatcher().await;
    tools.check().await.expect("every provider works");
    // The check has returned the only connection.
    assert_eq!(stored(&tools, "web-1").await, 0);
}

#[tokio::test]
async fn every_turn_of_the_conversation_has_the_expected_outcome() {
    let tools = dispatcher().await;
    let mut kinds = Vec::new();
    for turn in turns() {
        kinds.push(kind(&turn.run(&tools).await));
    }
    let failed = Some(ErrorKind::Failed);
    let invalid = Some(ErrorKind::InvalidArguments);
    assert_eq!(
        kinds,
        [
            None,
            None,
            None,
            None,
            invalid,
            invalid,
            Some(ErrorKind::UnknownTool),
            failed,
            None,
            Some(ErrorKind::Injection),
            failed,
            None,
            None
        ]
    );
}

#[tokio::test]
async fn a_success_is_committed() {
    let tools = dispatcher().await;
    let result = record(&tools, "web-1", &[1, 2, 3]).await;
    assert_eq!(result.output, "3 points recorded");
    assert_eq!(stored(&tools, "web-1").await, 3);
}

#[tokio::test]
async fn a_failure_is_rolled_back() {
    let tools = dispatcher().await;
    record(&tools, "web-1", &[1]).await;
    let result = record(&tools, "web-1", &[2, 3, 2]).await;
    assert_eq!(kind(&result), Some(ErrorKind::Failed));
    assert_eq!(
        result.output,
        "nothing was recorded: the point of 2026-01-01 12:02:00 UTC is not newer than that of 2026-01-01 12:03:00 UTC"
    );
    assert_eq!(stored(&tools, "web-1").await, 1);
}

#[tokio::test]
async fn every_invalid_argument_is_named() {
    let tools = dispatcher().await;
    let result = call(&tools, "metrics.newest", json!({"limit": 500, "since": "yesterday", "hots": 1})).await;
    assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments));
    let mut paths: Vec<String> =
        result.error.into_iter().flat_map(|error| error.arguments).map(|argument| argument.path).collect();
    paths.sort();
    assert_eq!(paths, ["host", "hots", "limit", "since"]);
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_answered_with_one_that_does() {
    let tools = dispatcher().await;
    let result = call(&tools, "metric.newest", json!({})).await;
    assert_eq!(result.output, "There is no tool `metric.newest`. Did you mean `metrics.newest`?");
}

#[tokio::test]
async fn only_users_with_permission_may_delete() {
    let tools = dispatcher().await;
    record(&tools, "web-1", &[1, 2]).await;
    let purge = || tools.call(ToolCall::new("metrics.purge", json!({"host": "web-1"})));

    assert_eq!(kind(&purge().await), Some(ErrorKind::Injection));

    let result = purge().with(CurrentUser { name: "Ben".to_owned(), may_delete: false }).await;
    assert_eq!((kind(&result), result.output.as_str()), (Some(ErrorKind::Failed), "Ben may not delete points"));
    assert_eq!(stored(&tools, "web-1").await, 2);

    let result = purge().with(CurrentUser { name: "Ada".to_owned(), may_delete: true }).await;
    assert_eq!((kind(&result), result.output.as_str()), (None, "2"));
    assert_eq!(stored(&tools, "web-1").await, 0);
}

#[tokio::test]
async fn the_model_sees_neither_the_user_nor_the_repository() {
    let tools = dispatcher().await;
    let names = |tool: &str| -> Vec<String> {
        let definition = tools.definition(tool).expect("the tool is there");
        definition.arguments.keys().cloned().collect()
    };
    assert_eq!(names("metrics.purge"), ["host"]);
    assert_eq!(names("report.host"), ["detail", "host"]);
    assert_eq!(names("hosts.address"), ["host", "port"]);
}

#[tokio::test]
async fn concurrent_calls_wait_for_the_connection() {
    let tools = dispatcher().await;
    let (one, two) = tokio::join!(record(&tools, "web-1", &[1]), record(&tools, "web-2", &[1, 2]));
    assert!(one.success && two.success, "{one:?} {two:?}");
    assert_eq!((stored(&tools, "web-1").await, stored(&tools, "web-2").await), (1, 2));
}

/// The manifest of the build script equals that of the compiler.
#[test]
fn the_embedded_manifest_equals_the_linked_one() {
    let embedded = Manifest::try_from(tool_runtime::manifest!()).expect("the build script writes a manifest");
    assert!(!embedded.is_empty());
    assert_eq!(embedded.to_json(), Manifest::linked().to_json());
}
