//! Equality of JSON values: `1` equals `1.0`, and the order of an object's keys does not matter.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::number::ExactNumber;

pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    compare(a, b) == Ordering::Equal
}

/// Compares two values by a total order, so that sorting brings equal items together.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => ExactNumber::from(a).compare(ExactNumber::from(b)),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => compare_arrays(a, b),
        (Value::Object(a), Value::Object(b)) => compare_objects(a, b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_arrays(a: &[Value], b: &[Value]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| first_difference(a.iter().zip(b).map(|(a, b)| compare(a, b))))
}

fn compare_objects(a: &Map<String, Value>, b: &Map<String, Value>) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| {
        let pairs = sorted(a).into_iter().zip(sorted(b));
        first_difference(pairs.map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1))))
    })
}

/// Returns the entries sorted by key: any crate of the program may switch on `serde_json/preserve_order`.
pub(crate) fn sorted(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
