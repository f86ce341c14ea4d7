//! The workload that all contenders share: handlers, their types, and arguments for each.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Two integers.
pub const ADD: &str = r#"{"a": 17, "b": 25}"#;
/// A query, an optional limit, a list, a map.
pub const SEARCH: &str = r#"{"query": "disk usage on web-1", "limit": 3, "tags": ["disk", "web"], "filter": {"host": "web-1", "level": "warn"}}"#;
/// One order of twelve fields.
pub const ORDER: &str = r#"{"order": {"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "customer": "Ada Lovelace", "created": "2026-08-01T12:30:00Z", "status": "paid", "currency": "EUR", "total": 129.95, "paid": true, "priority": 3, "note": "leave at the door", "items": [{"sku": "A-1", "quantity": 2, "price": 19.99}, {"sku": "B-7", "quantity": 1, "price": 89.97}], "labels": {"channel": "web", "campaign": "summer"}, "weight": null}}"#;

/// Returns the arguments of a tool, as a model writes them.
pub fn text(tool: &str) -> &'static str {
    match tool {
        "add" | "pause" => ADD,
        "search" => SEARCH,
        "order" => ORDER,
        other => panic!("no tool {other}"),
    }
}

/// Returns arguments of `search` with enough tags to be about `bytes` long; the result is as long.
pub fn search_of(bytes: usize) -> String {
    const TAG: &str = "disk-usage-of-web-1";
    let head = r#"{"query": "disk", "limit": 1, "filter": {}, "tags": ["#;
    let count = bytes.saturating_sub(head.len()).div_ceil(TAG.len() + 3).max(1);
    let tags = vec![format!("\"{TAG}\""); count].join(",");
    format!("{head}{tags}]}}")
}

/// One hit of `search`.
#[derive(Serialize, JsonSchema)]
pub struct Hit {
    pub title: String,
    pub score: f64,
    pub tags: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Open,
    Paid,
    Shipped,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub sku: String,
    pub quantity: u32,
    pub price: f64,
}

/// An order.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    pub id: Uuid,
    pub customer: String,
    pub created: DateTime<Utc>,
    pub status: Status,
    pub currency: String,
    pub total: f64,
    pub paid: bool,
    pub priority: u8,
    pub note: Option<String>,
    pub items: Vec<Item>,
    pub labels: BTreeMap<String, String>,
    pub weight: Option<f64>,
}

/// Returns the hits of `search`. Uses only the number of filters, so that each library can use its own map type.
pub fn hits(query: &str, limit: Option<u32>, tags: &[String], filters: usize) -> Vec<Hit> {
    (0..limit.unwrap_or(3))
        .map(|rank| Hit {
            title: format!("{query} #{rank}"),
            score: f64::from(rank) / 2.0 + filters as f64,
            tags: tags.to_vec(),
        })
        .collect()
}

/// A handler that waits: it yields to the other calls once.
pub async fn pause(a: i64, b: i64) -> i64 {
    tokio::task::yield_now().await;
    a + b
}
