//! Calls that satisfy `#[arg(..)]` and `arguments(..)`, and calls that rely on defaults.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tool_tests::aliases::declared::Counter;
use tool_tests::aliases::{self, Shelf, Store as _};
use tool_tests::enums::Direction;
use tool_tests::{explicit, rules};

use super::{ValidCall, good, json};

pub fn calls() -> Vec<ValidCall> {
    [defaults(), constraints(), explicit(), names()].into_iter().flatten().collect()
}

fn names() -> Vec<ValidCall> {
    let copy = json!({"from": "a", "to": "b", "replace_all": true});
    vec![
        good("aliases.copy", copy, aliases::copy("a", Some("b".to_owned()), true)),
        good("aliases.login", json!({"user": "ada", "password": "1815"}), aliases::login("ada", "1815")),
        good("aliases.explicit", json!({"max-items": 3, "order": "asc"}), aliases::explicit(3, "asc")),
        good("aliases.shelf.find", json!({"title": "emma"}), Shelf::find("emma")),
        good("aliases.store.put", json!({"key": "a", "value": 9}), Shelf::put("a", 9)),
        good("aliases.counter.add", json!({"amount": 1}), json(&Counter::add(1))),
    ]
}

fn defaults() -> Vec<ValidCall> {
    let words = ["a".to_owned(), "b".to_owned()];
    let all = rules::defaults(
        10,
        -3,
        2.5,
        "text",
        'c',
        true,
        vec![1, 2],
        &words,
        Direction::DownWards,
        Some(4),
        "x",
        u64::MAX,
    );
    let none = rules::defaults(1, 2, 3.0, "", 'd', false, vec![], &[], Direction::UpWards, None, "y", 5);
    let others = json!({
        "number": 1, "negative": 2, "float": 3, "text": "", "letter": "d", "truth": false, "list": [], "words": [],
        "direction": "up_wards", "maybe": null, "generic": "y", "largest": 5,
    });
    let silent = rules::silent_defaults(0, "", vec![], BTreeMap::new(), tool_tests::structs::Settings::default());
    vec![
        good("rules.defaults", json!({}), all),
        good("rules.defaults", others, none),
        good("rules.silent_defaults", json!({}), silent),
    ]
}

fn constraints() -> Vec<ValidCall> {
    let named = json!({
        "user-name": "u", "weird.but_allowed": 1, "described": 2, "password": "geheim", "token": "abc", "open": 3,
        "bare": 4, "empty": 5,
    });
    vec![
        good(
            "rules.bounds",
            json!({"both": 100, "least": -5, "most": 5, "float": 0.5, "whole": 2, "maybe": 3}),
            rules::bounds(100, -5, 5, 0.5, 2.0, Some(3), 7),
        ),
        good(
            "rules.bounds",
            json!({"both": 1, "least": 0, "most": 0, "float": 1.5, "whole": 1, "maybe": null, "defaulted": 9}),
            rules::bounds(1, 0, 0, 1.5, 1.0, None, 9),
        ),
        good("rules.wide_bounds", json!({"small": 255, "unsigned": 0, "both": 127}), rules::wide_bounds(255, 0, 127)),
        good("rules.anything", json!({"value": 1}), json(&rules::anything(json!(1)))),
        good(
            "rules.lengths",
            json!({"text": "äöüß", "list": [1], "map": {"a": 1, "b": 2}, "maybe": "abc", "words": ["a", "b"]}),
            rules::lengths(
                "äöüß",
                &[1],
                BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]),
                Some("abc".to_owned()),
                Some(vec!["a".to_owned(), "b".to_owned()]),
            ),
        ),
        good(
            "rules.patterns",
            json!({"word": "abc", "somewhere": "x12y", "short": "bcd"}),
            rules::patterns("abc", Some("x12y".to_owned()), "bcd".into()),
        ),
        good(
            "rules.choices",
            json!({"order": "asc", "size": 8, "maybe": "y", "direction": "none", "factor": 1}),
            rules::choices("asc", 8, "b".to_owned(), Some("y"), Direction::Unsorted, 1.0),
        ),
        good("rules.named", named, rules::named("u", 1, 2, "geheim".to_owned(), Some("abc".to_owned()), 3, 4, 5)),
        good(
            "rules.secrets",
            json!({
                "opaque": {"x": 1, "more": {}}, "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "choice": "a", "map": {},
            }),
            "18",
        ),
        good("rules.reserved", json!({"session": "s", "repo": "r"}), rules::reserved("s".to_owned(), "r")),
    ]
}

fn explicit() -> Vec<ValidCall> {
    let point = BTreeMap::from([("x".to_owned(), 1.0), ("y".to_owned(), 2.5)]);
    let labels = BTreeMap::from([("a".to_owned(), "abc".to_owned())]);
    vec![
        good("explicit.ping", json!({"host": "h"}), explicit::ping("h".to_owned(), "1.1.1.1")),
        good(
            "explicit.texts",
            json!({"host": "web-1", "at": "2024-02-29T12:00:00Z", "unit": "s", "exactly": "yes"}),
            explicit::texts("web-1", Some("2024-02-29T12:00:00Z".to_owned()), "s".to_owned(), "yes".to_owned()),
        ),
        good(
            "explicit.texts",
            json!({"host": "web-1", "exactly": "yes"}),
            explicit::texts("web-1", None, "ms".to_owned(), "yes".to_owned()),
        ),
        good(
            "explicit.numbers",
            json!({"port": 80, "ratio": 0.5, "even": -4, "maybe": -10, "flag": true}),
            explicit::numbers(80, 0.5, -4, Some(-10), true),
        ),
        good(
            "explicit.numbers",
            json!({"port": 1, "ratio": 1.4, "even": 0}),
            explicit::numbers(1, 1.4, 0, None, false),
        ),
        good(
            "explicit.nested",
            json!({"ports": [1, 2], "point": {"x": 1, "y": 2.5}, "labels": {"a": "abc"}, "anything": [1], "not_text": 5}),
            explicit::nested(vec![1, 2], point, Some(labels), Some(json!([1])), json!(5)),
        ),
        good(
            "explicit.nested",
            json!({"ports": [1], "point": {}, "not_text": null}),
            explicit::nested(vec![1], BTreeMap::new(), None, None, Value::Null),
        ),
        good("explicit.described", json!({"own": 1, "section": 2, "type": "t"}), explicit::described(1, 2, "t")),
        good("explicit.renamed", json!({"user-name": "u"}), explicit::renamed("u".to_owned())),
        good("explicit.flags", json!({"needed": 1, "defaulted": 2}), explicit::flags(Some(1), Some(2))),
        good("explicit.flags", json!({"needed": 1}), explicit::flags(Some(1), Some(3))),
        good(
            "explicit.narrow",
            json!({"value": {"a": []}, "not_null": 1}),
            json(&explicit::narrow(json!({"a": []}), json!(1))),
        ),
        good("explicit.nothing", json!({}), explicit::nothing().to_string()),
    ]
}
