//! The same work for everyone: three handlers and a text for each.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub const ADD: &str = r#"{"a": 17, "b": 25}"#;
pub const SEARCH: &str = r#"{"query": "disk usage on web-1", "limit": 3, "tags": ["disk", "web"], "filter": {"host": "web-1", "level": "warn"}}"#;
pub const ORDER: &str = r#"{"order": {"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "customer": "Ada Lovelace", "created": "2026-08-01T12:30:00Z", "status": "paid", "currency": "EUR", "total": 129.95, "paid": true, "priority": 3, "note": "leave at the door", "items": [{"sku": "A-1", "quantity": 2, "price": 19.99}, {"sku": "B-7", "quantity": 1, "price": 89.97}], "labels": {"channel": "web", "campaign": "summer"}, "weight": null}}"#;

#[derive(Serialize)]
pub struct Hit {
    pub title: String,
    pub score: f64,
    pub tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Open,
    Paid,
    Shipped,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub sku: String,
    pub quantity: u32,
    pub price: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
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

pub fn hits(query: &str, limit: Option<u32>, tags: &[String], filter: &BTreeMap<String, String>) -> Vec<Hit> {
    (0..limit.unwrap_or(3))
        .map(|rank| Hit {
            title: format!("{query} #{rank}"),
            score: f64::from(rank) / 2.0 + filter.len() as f64,
            tags: tags.to_vec(),
        })
        .collect()
}
