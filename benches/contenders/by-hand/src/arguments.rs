//! The argument structs of both baselines.

use std::collections::BTreeMap;

use contest::work::Order;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub type Outcome = Result<String, String>;

#[derive(Deserialize)]
pub struct Add {
    pub a: i64,
    pub b: i64,
}

#[derive(Deserialize)]
pub struct Search {
    pub query: String,
    pub limit: Option<u32>,
    pub tags: Vec<String>,
    pub filter: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub struct Echo {
    pub order: Order,
}

#[derive(Deserialize)]
pub struct Filler {
    pub a: i64,
}

pub fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    serde_json::from_str(arguments).map_err(|error| error.to_string())
}

pub fn text(output: &impl Serialize) -> Outcome {
    serde_json::to_string(output).map_err(|error| error.to_string())
}
