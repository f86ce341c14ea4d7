//! The floor: a hand-written table of functions with derived argument structs.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;

use serde::Deserialize;

use crate::work::{Order, hits};

pub type Answer = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;
pub type Table = HashMap<&'static str, fn(&str) -> Answer>;

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
    filter: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Echo {
    order: Order,
}

fn add(text: &str) -> Answer {
    let arguments = serde_json::from_str::<Add>(text);
    Box::pin(async move {
        let Add { a, b } = arguments.map_err(|error| error.to_string())?;
        serde_json::to_string(&(a + b)).map_err(|error| error.to_string())
    })
}

fn search(text: &str) -> Answer {
    let arguments = serde_json::from_str::<Search>(text);
    Box::pin(async move {
        let Search { query, limit, tags, filter } = arguments.map_err(|error| error.to_string())?;
        serde_json::to_string(&hits(&query, limit, &tags, &filter)).map_err(|error| error.to_string())
    })
}

fn order(text: &str) -> Answer {
    let arguments = serde_json::from_str::<Echo>(text);
    Box::pin(async move {
        let Echo { order } = arguments.map_err(|error| error.to_string())?;
        serde_json::to_string(&order).map_err(|error| error.to_string())
    })
}

pub fn table() -> Table {
    HashMap::from([("add", add as fn(&str) -> Answer), ("search", search), ("order", order)])
}
