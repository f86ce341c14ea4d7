//! A tool with one argument of every form, which returns its arguments unchanged.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_runtime::tool;
use uuid::Uuid;

use crate::collections::{Grade, Page};
use crate::enums::{Adjacent, External, Internal, Untagged};
use crate::recursive::Tree;

/// A bit of everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wide {
    pub text: String,
    pub maybe_text: Option<String>,
    pub tiny: i8,
    #[serde(default)]
    pub large: u64,
    pub float: f64,
    pub truth: bool,
    pub letter: Option<char>,
    pub id: Option<Uuid>,
    pub date: Option<NaiveDate>,
    #[serde(default)]
    pub list: Vec<Option<i32>>,
    #[serde(default)]
    pub set: BTreeSet<u8>,
    pub pair: Option<(u8, String)>,
    #[serde(default)]
    pub map: BTreeMap<String, Vec<u8>>,
    pub grade: Option<Grade>,
    pub page: Option<Page<Grade>>,
    pub external: Option<External>,
    pub internal: Option<Internal>,
    pub adjacent: Option<Adjacent>,
    pub untagged: Option<Untagged>,
    pub tree: Option<Tree>,
    #[serde(default)]
    pub anything: Value,
}

/// Give it back.
#[tool(name = "wide.echo")]
pub fn echo(wide: Wide) -> Wide {
    wide
}

/// Give it back after lending it.
#[tool(name = "wide.lent")]
pub async fn lent(wide: &Wide) -> Wide {
    crate::functions::tokio_yield().await;
    wide.clone()
}

/// Give a part of it back.
#[tool(name = "wide.spread")]
#[allow(clippy::too_many_arguments)]
pub fn spread(
    text: String,
    tiny: i8,
    float: f64,
    list: Vec<Option<i32>>,
    map: BTreeMap<String, Vec<u8>>,
    external: Option<External>,
    untagged: Option<Untagged>,
    anything: Option<Value>,
) -> (String, i8, f64, Vec<Option<i32>>, BTreeMap<String, Vec<u8>>, Option<External>, Option<Untagged>, Option<Value>) {
    (text, tiny, float, list, map, external, untagged, anything)
}
