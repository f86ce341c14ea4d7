//! The tools as ordinary annotated functions. Those that end in `_async` are the same, but async.

use std::collections::BTreeMap;

use contest::work::{self, Hit, Order, hits};
use tool_runtime::tool;

/// Add two integers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search.
#[tool]
fn search(query: String, limit: Option<u32>, tags: Vec<String>, filter: BTreeMap<String, String>) -> Vec<Hit> {
    hits(&query, limit, &tags, filter.len())
}

/// Echo an order.
#[tool]
fn order(order: Order) -> Order {
    order
}

/// Add two integers.
#[tool]
async fn add_async(a: i64, b: i64) -> i64 {
    a + b
}

/// Search.
#[tool]
async fn search_async(
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
) -> Vec<Hit> {
    hits(&query, limit, &tags, filter.len())
}

/// Echo an order.
#[tool]
async fn order_async(order: Order) -> Order {
    order
}

/// Add two integers when the other calls have had their turn.
#[tool]
async fn pause(a: i64, b: i64) -> i64 {
    work::pause(a, b).await
}
