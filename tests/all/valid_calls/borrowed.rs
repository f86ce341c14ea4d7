//! Arguments that are borrowed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use tool_tests::borrowed::{self, Filter, Part};

use super::{ValidCall, good, json, wait};

fn part(id: u32) -> Part {
    Part { id, label: None }
}

pub fn calls() -> Vec<ValidCall> {
    let words = || vec!["a".to_owned(), "b".to_owned()];
    let filter = |name: &'static str| Filter { name: name.into() };
    vec![
        good("borrowed.text", json!({"text": "äöü"}), borrowed::text("äöü").to_string()),
        good("borrowed.path", json!({"path": "/a/b"}), borrowed::path(Path::new("/a/b")).expect("a name")),
        good("borrowed.slice", json!({"numbers": [1, -2, 4]}), borrowed::slice(&[1, -2, 4]).to_string()),
        good("borrowed.strings", json!({"words": words()}), borrowed::strings(&words())),
        good("borrowed.part", json!({"part": {"id": 1}}), borrowed::part(&part(1))),
        good(
            "borrowed.parts",
            json!({"parts": [{"id": 1}, {"id": 2}]}),
            borrowed::parts(&[part(1), part(2)]).to_string(),
        ),
        good(
            "borrowed.owned",
            json!({"number": 1, "truth": true, "text": "t", "list": [1], "path": "/p", "map": {"k": 1}}),
            borrowed::owned(
                &1,
                &true,
                &"t".to_owned(),
                &vec![1],
                &PathBuf::from("/p"),
                &HashMap::from([("k".to_owned(), 1)]),
            ),
        ),
        good("borrowed.ref_option", json!({"part": {"id": 1}}), borrowed::ref_option(&Some(part(1))).to_string()),
        good("borrowed.ref_option", json!({}), borrowed::ref_option(&None).to_string()),
        good("borrowed.optional_text", json!({"text": "t"}), borrowed::optional_text(Some("t"))),
        good("borrowed.optional_text", json!({"text": null}), borrowed::optional_text(None)),
        good("borrowed.optional_text", json!({}), borrowed::optional_text(None)),
        good("borrowed.optional_slice", json!({"numbers": [1, 2]}), json(&borrowed::optional_slice(Some(&[1, 2])))),
        good("borrowed.optional_slice", json!({}), json(&borrowed::optional_slice(None))),
        good(
            "borrowed.optional_part",
            json!({"part": {"id": 1}, "path": "p"}),
            borrowed::optional_part(Some(&part(1)), Some(Path::new("p"))),
        ),
        good("borrowed.optional_part", json!({}), borrowed::optional_part(None, None)),
        good(
            "borrowed.cow",
            json!({"text": "a", "other": "b", "all": ["c"]}),
            borrowed::cow(Cow::Borrowed("a"), Some("b".into()), vec!["c".into()]),
        ),
        good("borrowed.as_path", json!({"path": "a"}), wait(borrowed::as_path("a")).display().to_string()),
        good("borrowed.as_str", json!({"text": "a"}), wait(borrowed::as_str("a"))),
        good(
            "borrowed.as_slice",
            json!({"numbers": [1, 2], "parts": [{"id": 1}]}),
            borrowed::as_slice([1, 2], [part(1)]).to_string(),
        ),
        good("borrowed.into_string", json!({"text": "a", "path": "b"}), borrowed::into_string("a", "b")),
        good("borrowed.into_option", json!({"number": 1, "text": "a"}), borrowed::into_option(1, "a".to_owned())),
        good("borrowed.into_option", json!({}), borrowed::into_option(None, None)),
        good(
            "borrowed.named",
            json!({"first": "a", "second": "b", "all": ["c"], "part": {"id": 2}}),
            borrowed::named("a", "b", &["c".to_owned()], Some(&part(2))),
        ),
        good("borrowed.named", json!({"first": "a", "second": "b", "all": []}), borrowed::named("a", "b", &[], None)),
        good("borrowed.named_later", json!({"first": "aa", "second": "b"}), wait(borrowed::named_later("aa", "b"))),
        good(
            "borrowed.filter",
            json!({"filter": {"name": "a"}, "other": {"name": "b\n"}, "third": {"name": "c"}}),
            borrowed::filter(filter("a"), &filter("b\n"), Some(filter("c"))),
        ),
        good(
            "borrowed.boxed",
            json!({"text": "a", "part": {"id": 1}, "list": [1]}),
            borrowed::boxed("a".into(), Box::new(part(1)), Box::new([1])),
        ),
        good(
            "borrowed.blocking",
            json!({"text": "a", "numbers": [1], "part": {"id": 1}}),
            borrowed::blocking("a", &[1], Some(&part(1))),
        ),
    ]
}
