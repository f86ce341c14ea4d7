//! Lists, sets, tuples, arrays, maps, and generics inside them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::tool;
use uuid::Uuid;

/// An order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The number of items.
    pub count: u32,
    pub note: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<u64>,
}

/// The letters of a grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    Good,
    Bad,
}

/// Lists.
#[tool(name = "collections.lists")]
pub fn lists(
    vec: Vec<i32>,
    deque: VecDeque<String>,
    nested: Vec<Vec<u8>>,
    optional: Option<Vec<Option<String>>>,
) -> String {
    format!("{vec:?} {deque:?} {nested:?} {optional:?}")
}

/// Sets.
#[tool(name = "collections.sets")]
pub fn sets(hash: HashSet<String>, tree: BTreeSet<u16>) -> String {
    let mut hash: Vec<String> = hash.into_iter().collect();
    hash.sort();
    format!("{hash:?} {tree:?}")
}

/// Tuples and arrays.
#[tool(name = "collections.tuples")]
pub fn tuples(pair: (i32, String), one: (bool,), array: [u8; 3], nested: [(u8, u8); 2]) -> String {
    format!("{pair:?} {one:?} {array:?} {nested:?}")
}

/// Maps.
#[tool(name = "collections.maps")]
pub fn maps(
    hash: HashMap<String, i32>,
    tree: BTreeMap<String, Vec<Option<Order>>>,
    numbered: BTreeMap<u32, String>,
    graded: BTreeMap<Grade, u8>,
    ids: HashMap<Uuid, bool>,
) -> String {
    let hash: BTreeMap<_, _> = hash.into_iter().collect();
    let ids: BTreeMap<_, _> = ids.into_iter().collect();
    format!("{hash:?} {tree:?} {numbered:?} {graded:?} {ids:?}")
}

/// Generic structs: the same one twice, with different arguments.
#[tool(name = "collections.pages")]
pub fn pages(orders: Page<Order>, numbers: Page<u8>, deep: Option<Page<Page<Grade>>>) -> Page<Order> {
    assert!(numbers.items.len() < 100 && deep.is_none_or(|page| page.items.len() < 100));
    orders
}

/// Maps of lists of options.
#[tool(name = "collections.deep")]
pub fn deep(map: HashMap<String, Vec<Option<Grade>>>, doubly: Option<Option<u8>>, grades: &[Grade]) -> String {
    let map: BTreeMap<_, _> = map.into_iter().collect();
    format!("{map:?} {doubly:?} {grades:?}")
}

/// An alias.
pub type Orders = BTreeMap<String, Page<Order>>;

/// An alias resolves to its target.
#[tool(name = "collections.alias")]
pub fn alias(orders: Orders, maybe: Option<Orders>) -> usize {
    orders.len() + maybe.map_or(0, |orders| orders.len())
}

const WIDTH: usize = 2;

/// So many of one type.
pub type Row<T, const N: usize> = [T; N];
/// Rows of a width that is given elsewhere.
pub type Grid<const ROWS: usize, const COLUMNS: usize = WIDTH> = Row<Row<u8, COLUMNS>, { ROWS }>;

/// Aliases with constants.
#[tool(name = "collections.constants")]
pub fn constants(row: Row<u8, 3>, grid: Grid<{ WIDTH + 1 }>, wide: Option<Grid<WIDTH, 1>>) -> usize {
    row.len() + grid.len() + wide.map_or(0, |wide| wide.len())
}
