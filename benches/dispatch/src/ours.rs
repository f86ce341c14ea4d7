//! The tools as an author of ours writes them.

use std::collections::BTreeMap;

use tool_runtime::tool;

use crate::work::{Hit, Order, hits};

/// Add two integers.
#[tool(name = "sync.add")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Search.
#[tool(name = "sync.search")]
fn search(query: String, limit: Option<u32>, tags: Vec<String>, filter: BTreeMap<String, String>) -> Vec<Hit> {
    hits(&query, limit, &tags, &filter)
}

/// Echo an order.
#[tool(name = "sync.order")]
fn order(order: Order) -> Order {
    order
}

/// Add two integers.
#[tool(name = "async.add")]
async fn add_async(a: i64, b: i64) -> i64 {
    a + b
}

/// Search.
#[tool(name = "async.search")]
async fn search_async(
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
) -> Vec<Hit> {
    hits(&query, limit, &tags, &filter)
}

/// Echo an order.
#[tool(name = "async.order")]
async fn order_async(order: Order) -> Order {
    order
}
