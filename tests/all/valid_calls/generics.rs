//! Generic functions whose types the attribute names.

use std::collections::BTreeMap;

use serde_json::json;
use tool_tests::generics::{self, Atlas, Percent, Place, Survey};

use super::{ValidCall, good, json};

pub fn calls() -> Vec<ValidCall> {
    let place = || Place { north: 2, east: 3 };
    let text = r#"{"north":2,"east":3}"#;
    vec![
        good("generics.decoded", json!({"text": text}), json(&generics::decoded::<Place>(text))),
        good(
            "generics.windows",
            json!({"label": "sum", "values": [1, 2, 3]}),
            generics::windows::<_, u8, 2>("sum", vec![1, 2, 3]),
        ),
        good("generics.reported", json!({"at": 3}), generics::reported(&Percent(8), 3)),
        good(
            "generics.iterators",
            json!({
                "numbers": [1, 2], "words": ["a", "b"], "names": ["c"], "places": [{"north": 2, "east": 3}],
                "signed": [-1, -2],
            }),
            generics::iterators(
                [1, 2].into_iter(),
                ["a", "b"].into_iter(),
                ["c"].into_iter(),
                [place()].into_iter(),
                [-1, -2].into_iter(),
            ),
        ),
        good(
            "generics.nested",
            json!({"ids": ["a", "b"], "bytes": [1, 2, 3], "extra": {"x": [1]}, "pairs": [["c", 4]]}),
            generics::nested(&["a", "b"], &[1, 2, 3], Some(&BTreeMap::from([("x".to_owned(), [1])])), vec![("c", 4)]),
        ),
        good("survey.progress", json!({"at": 5}), Survey.progress(&Percent(8), 5)),
        good("survey.stored", json!({"name": "a", "value": {"north": 2, "east": 3}, "tag": ""}), json(&place())),
        good("atlas.entries", json!({"count": 2}), json(&Survey.entries::<Place>(2))),
        good("parser.parse", json!({"text": "7"}), "7"),
    ]
}
