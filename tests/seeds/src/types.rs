//! Functions with arguments of every kind of type.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool_runtime::tool;
use uuid::Uuid;

/// Show values of all types.
#[tool(name = "types.show")]
#[expect(clippy::too_many_arguments, reason = "one argument per type")]
pub fn show(
    text: String,
    path: PathBuf,
    id: Uuid,
    time: DateTime<Utc>,
    date: NaiveDate,
    integer: i64,
    number: f64,
    boolean: bool,
    list: Vec<String>,
    tuple: (i64, String),
    set: HashSet<String>,
    map: BTreeMap<String, i64>,
    any: Value,
) -> String {
    let set = set.len();
    let path = path.display();
    format!("{text} {path} {id} {time} {date} {integer} {number} {boolean} {list:?} {tuple:?} {set} {map:?} {any}")
}

/// The address of a customer.
#[derive(Deserialize, JsonSchema)]
pub struct Address {
    /// The name of the town.
    pub town: String,
    /// The number of the house.
    pub number: Option<u32>,
}

/// Ship a parcel.
#[tool(name = "types.ship")]
pub fn ship(address: Address) -> String {
    format!("to {} {:?}", address.town, address.number)
}

/// Take an argument that is required and two that are not.
#[tool(name = "types.required")]
pub fn required(needed: i64, optional: Option<i64>, #[arg(default = 3)] with_default: i64) -> String {
    format!("{needed} {optional:?} {with_default}")
}

/// Take arguments of any names.
#[tool(name = "types.labels")]
pub fn labels(labels: BTreeMap<String, String>) -> usize {
    labels.len()
}
