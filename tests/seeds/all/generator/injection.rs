//! Sessions, repositories and settings, and the way of a call.

use seed_tests::injected::Database;
use serde_json::json;
use tool_runtime::ErrorKind;

use crate::support::{builder, call, kind, linked, output};

/// Requirement 70
#[tokio::test]
async fn a_session_is_opened_only_by_a_call_that_needs_one() {
    let database = Database::default();
    let tools = builder(&database).build().unwrap();
    output(&tools, "uptime", json!({})).await;
    assert_eq!(database.opened(), 0);
    output(&tools, "points.write", json!({"point": 1})).await;
    assert_eq!((database.opened(), database.points()), (1, vec![1]));
    assert!(!call(&tools, "points.write", json!({"point": -1})).await.success);
    assert_eq!((database.opened(), database.points()), (2, vec![1]), "a failed call is rolled back");
}

/// Requirement 71
#[tokio::test]
async fn a_repository_shares_the_session_of_its_call() {
    let database = Database::default();
    let tools = builder(&database).build().unwrap();
    output(&tools, "points.write_twice", json!({"point": 5})).await;
    assert_eq!((database.opened(), database.points()), (1, vec![5, 5]));
}

/// Requirement 72
#[tokio::test]
async fn a_class_is_built_with_a_repository() {
    let database = Database::default();
    let tools = builder(&database).build().unwrap();
    assert_eq!(output(&tools, "statistics.count", json!({"point": 1})).await, "0");
    assert_eq!(output(&tools, "statistics.count", json!({"point": 2})).await, "1");
    assert_eq!(database.points(), [1, 2]);
}

/// Requirement 74
#[tokio::test]
async fn a_fixed_value_is_injected() {
    assert_eq!(output(&linked(), "internet.target", json!({})).await, "1.1.1.1");
}

/// Requirement 75
#[tokio::test]
async fn a_model_cannot_fill_an_injected_parameter() {
    let tools = linked();
    for (name, arguments) in
        [("points.write", json!({"point": 1, "session": {}})), ("internet.target", json!({"ping_host": "evil"}))]
    {
        assert_eq!(kind(&call(&tools, name, arguments).await), ErrorKind::InvalidArguments, "{name}");
    }
}

/// Requirement 77
#[tokio::test]
async fn handlers_are_synchronous_or_asynchronous() {
    let tools = linked();
    assert_eq!(output(&tools, "uptime", json!({})).await, "60");
    assert_eq!(output(&tools, "echo", json!({"message": "hi"})).await, "hi");
}

/// Requirement 78
#[tokio::test]
async fn a_call_is_validated_before_anything_is_injected_or_run() {
    let database = Database::default();
    let tools = builder(&database).build().unwrap();
    assert_eq!(kind(&call(&tools, "points.write", json!({"point": "many"})).await), ErrorKind::InvalidArguments);
    assert_eq!(database.opened(), 0);
    assert_eq!(output(&tools, "points.write", json!({"point": 3})).await, "3");
    assert_eq!(database.points(), [3]);
}
