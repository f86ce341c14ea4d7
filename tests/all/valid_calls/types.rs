//! Arguments of every supported type.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_tests::collections::{self, Grade};
use tool_tests::enums::{self, Direction, Mixed, Partly, Plain, Single};
use tool_tests::opaque::{self, Opaque};
use tool_tests::structs::{self, CustomerId};
use tool_tests::texts::{self, Version};
use tool_tests::{recursive, scalars, wide};

use super::{ValidCall, good, json, wait};

pub fn calls() -> Vec<ValidCall> {
    [scalars(), texts(), collections(), structs(), enums(), recursive(), opaque(), wide()]
        .into_iter()
        .flatten()
        .collect()
}

/// Deserializes a value of a type that has no other constructor.
fn read<T: DeserializeOwned + Debug>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("a value of the type")
}

fn scalars() -> Vec<ValidCall> {
    let largest = json!({
        "u_8": u8::MAX, "u_16": u16::MAX, "u_32": u32::MAX, "u_64": u64::MAX, "u_128": u64::MAX, "u_size": usize::MAX,
    });
    let least = json!({
        "i_8": i8::MIN, "i_16": i16::MIN, "i_32": i32::MIN, "i_64": i64::MIN, "i_128": i64::MIN, "i_size": isize::MIN,
    });
    let nonzero = scalars::nonzero(1.try_into().unwrap(), (-1).try_into().unwrap(), u64::MAX.try_into().unwrap());
    vec![
        good(
            "scalars.unsigned",
            largest,
            scalars::unsigned(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u64::MAX.into(), usize::MAX),
        ),
        good(
            "scalars.signed",
            least,
            scalars::signed(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i64::MIN.into(), isize::MIN),
        ),
        good("scalars.nonzero", json!({"small": 1, "signed": -1, "large": u64::MAX}), nonzero),
        good("scalars.floats", json!({"single": 0.5, "double": 1e300}), scalars::floats(0.5, 1e300)),
        good("scalars.floats", json!({"single": 1, "double": -2}), scalars::floats(1.0, -2.0)),
        good("scalars.small", json!({"truth": true, "letter": "ß"}), scalars::small(true, 'ß')),
        good(
            "scalars.optional",
            json!({"small": 1, "large": -1, "single": 0.5, "truth": false, "letter": "x", "text": ""}),
            scalars::optional(Some(1), Some(-1), Some(0.5), Some(false), Some('x'), Some(String::new())),
        ),
        good("scalars.optional", json!({}), scalars::optional(None, None, None, None, None, None)),
        good(
            "scalars.optional",
            json!({"small": null, "large": null, "single": null, "truth": null, "letter": null, "text": null}),
            scalars::optional(None, None, None, None, None, None),
        ),
        good("scalars.qualified", json!({"text": "a", "number": 1}), scalars::qualified("a".to_owned(), Some(1))),
    ]
}

fn texts() -> Vec<ValidCall> {
    let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let uuid: uuid::Uuid = id.parse().expect("an id");
    let url = |text: &str| url::Url::parse(text).expect("an address");
    let times = json!({
        "utc": "2024-02-29T12:00:00Z", "offset": "2024-02-29T12:00:00+02:00", "date": "2024-02-29", "time": "23:59:58",
        "naive": "2024-02-29T12:00:00.5", "since": "2024-02-29T13:00:00+01:00",
    });
    let said = texts::times(
        "2024-02-29T12:00:00Z".parse().unwrap(),
        "2024-02-29T12:00:00+02:00".parse().unwrap(),
        "2024-02-29".parse().unwrap(),
        "23:59:58".parse().unwrap(),
        "2024-02-29T12:00:00.5".parse().unwrap(),
        Some("2024-02-29T12:00:00Z".parse().unwrap()),
    );
    vec![
        good("texts.ids", json!({"id": id, "other": id, "all": [id]}), texts::ids(uuid, Some(uuid), vec![uuid])),
        good("texts.ids", json!({"id": id, "all": []}), texts::ids(uuid, None, vec![])),
        good("texts.times", times, said),
        good(
            "texts.urls",
            json!({"url": "http://a.b", "other": "ftp://c/d", "all": ["x:y"]}),
            texts::urls(url("http://a.b"), Some(url("ftp://c/d")), vec![url("x:y")]),
        ),
        good("texts.urls", json!({"url": "http://a.b", "all": []}), texts::urls(url("http://a.b"), None, vec![])),
        good(
            "texts.urls",
            json!({"url": "http://a.b", "other": null, "all": []}),
            texts::urls(url("http://a.b"), None, vec![]),
        ),
        good(
            "texts.addresses",
            json!({"any": "::1", "four": "127.0.0.1"}),
            texts::addresses("::1".parse().unwrap(), "127.0.0.1".parse().unwrap()),
        ),
        good(
            "texts.paths",
            json!({"path": "/a b", "others": ["c"]}),
            texts::paths(PathBuf::from("/a b"), Some(vec![PathBuf::from("c")])),
        ),
        good(
            "texts.parsed",
            json!({"version": "1.2", "other": "3.4", "all": ["5.6"]}),
            texts::parsed(Version(1, 2), Some(Version(3, 4)), vec![Version(5, 6)]),
        ),
        good("texts.parsed", json!({"version": "1.2", "all": []}), texts::parsed(Version(1, 2), None, vec![])),
    ]
}

fn collections() -> Vec<ValidCall> {
    let order = json!({"count": 2});
    let tree = json!({"k": [order, null]});
    let id: uuid::Uuid = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().expect("an id");
    let pages = json!({"orders": {"items": [order], "next": 5}, "numbers": {"items": [1]}, "deep": {"items": [{"items": ["good"]}]}});
    let orders = json!({"k": {"items": [order]}});
    vec![
        good(
            "collections.lists",
            json!({"vec": [1, -1], "deque": ["a"], "nested": [[1], []], "optional": ["x", null]}),
            collections::lists(
                vec![1, -1],
                ["a".to_owned()].into(),
                vec![vec![1], vec![]],
                Some(vec![Some("x".to_owned()), None]),
            ),
        ),
        good(
            "collections.sets",
            json!({"hash": ["b", "a"], "tree": [2, 1]}),
            collections::sets(HashSet::from(["b".to_owned(), "a".to_owned()]), BTreeSet::from([1, 2])),
        ),
        good(
            "collections.tuples",
            json!({"pair": [1, "a"], "one": [true], "array": [1, 2, 3], "nested": [[1, 2], [3, 4]]}),
            collections::tuples((1, "a".to_owned()), (true,), [1, 2, 3], [(1, 2), (3, 4)]),
        ),
        good(
            "collections.maps",
            json!({"hash": {"a": 1}, "tree": tree, "numbered": {"7": "x"}, "graded": {"bad": 1}, "ids": {id.to_string(): true}}),
            collections::maps(
                HashMap::from([("a".to_owned(), 1)]),
                read(&tree),
                BTreeMap::from([(7, "x".to_owned())]),
                BTreeMap::from([(Grade::Bad, 1)]),
                HashMap::from([(id, true)]),
            ),
        ),
        good(
            "collections.pages",
            pages.clone(),
            json(&collections::pages(read(&pages["orders"]), read(&pages["numbers"]), Some(read(&pages["deep"])))),
        ),
        good(
            "collections.deep",
            json!({"map": {"a": ["good", null]}, "doubly": 1, "grades": ["bad"]}),
            collections::deep(
                HashMap::from([("a".to_owned(), vec![Some(Grade::Good), None])]),
                Some(Some(1)),
                &[Grade::Bad],
            ),
        ),
        good("collections.deep", json!({"map": {}, "grades": []}), collections::deep(HashMap::new(), None, &[])),
        good(
            "collections.constants",
            json!({"row": [1, 2, 3], "grid": [[1, 2], [3, 4], [5, 6]], "wide": [[1], [2]]}),
            collections::constants([1, 2, 3], [[1, 2], [3, 4], [5, 6]], Some([[1], [2]])).to_string(),
        ),
        good(
            "collections.alias",
            json!({"orders": orders, "maybe": orders}),
            collections::alias(read(&orders), Some(read(&orders))).to_string(),
        ),
    ]
}

fn structs() -> Vec<ValidCall> {
    let person = json!({"firstName": "A", "family-name": "B", "email": "a@b", "type": 1});
    let aliased = json!({"firstName": "A", "family-name": "B", "mail": "a@b", "type": 1});
    let skipped = json!({"seen": 1, "password": "p"});
    let search = json!({"query": "q", "limit": 5, "extra": 7});
    let keywords = json!({
        "title": "t", "format": "f", "default": 1, "description": "d", "required": true, "properties": {"limit": 1},
        "$ref": "r", "enum": [1], "additionalProperties": false,
    });
    let foreign = json!({
        "version": "1.2", "pair": [1, null], "array": [1, -2], "big": 5, "size": 6, "letter": "x", "single": 0.5,
        "anything": {"a": [1]},
    });
    let bounded = json!({"stars": 5, "word": "ab", "list": [1]});
    let webhook = json!({"id": 1, "kind": "push", "branch": "b", "team": 3, "more": {"a": null}});
    let counters = json!({"id": 1, "between": {"least": 1, "most": 2}, "more": 3});
    let closed = json!({"exact": 5, "id": 1});
    let (paging, other) = (json!({"limit": 1}), json!({"cursor": "c"}));
    let defaults = json!({"needed": true});
    vec![
        good("structs.renamed", json!({"person": person}), json(&structs::renamed(read(&person)))),
        good("structs.renamed", json!({"person": aliased}), json(&structs::renamed(read(&person)))),
        good(
            "structs.defaults",
            json!({"defaults": defaults, "settings": {}}),
            json(&structs::defaults(read(&defaults), structs::Settings::default(), None)),
        ),
        good(
            "structs.defaults",
            json!({"defaults": defaults, "settings": {"volume": 1}, "maybe": {"name": "n"}}),
            json(&structs::defaults(read(&defaults), read(&json!({"volume": 1})), read(&json!({"name": "n"})))),
        ),
        good("structs.skipped", json!({"skipped": skipped}), structs::skipped(read(&skipped))),
        good("structs.flattened", json!({"search": search}), json(&structs::flattened(read(&search)))),
        good(
            "structs.newtypes",
            json!({"id": 1, "email": "a@b", "wrapper": paging, "maybe": 2, "ids": [3], "by_id": {"k": 4}}),
            structs::newtypes(
                CustomerId(1),
                read(&json!("a@b")),
                read(&paging),
                Some(CustomerId(2)),
                vec![CustomerId(3)],
                BTreeMap::from([("k".to_owned(), CustomerId(4))]),
            ),
        ),
        good(
            "structs.unnamed",
            json!({"point": [1.5, 2], "empty": {}, "unit": null}),
            structs::unnamed(structs::Point(1.5, 2.0), structs::Empty {}, structs::Unit),
        ),
        good(
            "structs.optional_newtypes",
            json!({"newtype": 1}),
            structs::optional_newtypes(structs::Newtype(Some(1)), structs::Transparent(None)),
        ),
        good(
            "structs.optional_newtypes",
            json!({"newtype": null, "transparent": 2}),
            structs::optional_newtypes(structs::Newtype(None), structs::Transparent(Some(2))),
        ),
        good("structs.keywords", json!({"keywords": keywords}), json(&structs::keywords(read(&keywords)))),
        good(
            "structs.same_name",
            json!({"paging": paging, "other": other}),
            json(&structs::same_name(read(&paging), read(&other))),
        ),
        good(
            "structs.converted",
            json!({"even": "ab", "all": ["", "cd"]}),
            structs::converted(read(&json!("ab")), read(&json!(["", "cd"]))),
        ),
        good(
            "structs.bounded",
            json!({"bounded": bounded, "other": bounded, "list": [bounded]}),
            structs::bounded(read(&bounded), Some(read(&bounded)), vec![read(&bounded)]).to_string(),
        ),
        good("structs.foreign", json!({"foreign": foreign}), json(&structs::foreign(read(&foreign)))),
        good(
            "structs.shown",
            json!({"closed": {"count": 1}, "required": {"count": 2, "since": 3, "mail": "a@b.c"}, "all": [{"count": 4}]}),
            structs::shown(
                structs::ShownClosed { count: 1 },
                structs::ShownRequired { count: 2, since: Some(3), mail: Some("a@b.c".to_owned()) },
                Some(vec![structs::ShownClosed { count: 4 }]),
            ),
        ),
        good(
            "structs.flattened_enums",
            json!({"webhook": webhook, "counters": counters, "closed": closed}),
            structs::flattened_enums(read(&webhook), read(&counters), read(&closed)),
        ),
    ]
}

fn enums() -> Vec<ValidCall> {
    let mut calls = vec![
        good(
            "enums.bare",
            json!({
                "plain": "Apple", "documented": "up_wards", "described": "none", "mixed": "Second", "partly": "Known",
                "single": "Only",
            }),
            enums::bare(
                Plain::Apple,
                Direction::UpWards,
                Direction::Unsorted,
                Mixed::Second,
                Partly::Known,
                Single::Only,
            ),
        ),
        good("enums.optional", json!({}), enums::optional(None, None, Direction::Unsorted)),
        good(
            "enums.optional",
            json!({"plain": "Mango", "mixed": "First", "direction": "down_wards"}),
            enums::optional(Some(Plain::Mango), Some(Mixed::First), Direction::DownWards),
        ),
        good(
            "enums.nested",
            json!({
                "list": ["First", "Fourth"], "map": {"k": "Third"}, "keyed": {"Zebra": 1}, "held": {"mixed": "Second"},
                "pair": ["Mango", null], "borrowed": "First", "slice": ["Second"],
            }),
            enums::nested(
                vec![Mixed::First, Mixed::Fourth],
                BTreeMap::from([("k".to_owned(), Mixed::Third)]),
                BTreeMap::from([(Plain::Zebra, 1)]),
                enums::Held { mixed: Mixed::Second },
                (Plain::Mango, None),
                &Mixed::First,
                Some(&[Mixed::Second]),
            ),
        ),
        good("enums.given", json!({"plain": "Apple"}), json(&enums::given(Plain::Apple))),
    ];
    let external =
        [json!("Bare"), json!({"One": 1}), json!({"Two": [1, "a"]}), json!({"Named": {"x": 1, "direction": "none"}})];
    let internal = [
        json!({"kind": "nothing"}),
        json!({"kind": "someFields", "howMany": 1}),
        json!({"kind": "held", "mixed": "First"}),
        json!({"kind": "nothing"}),
    ];
    let adjacent = [
        json!({"t": "Bare"}),
        json!({"t": "One", "c": [1]}),
        json!({"t": "Named", "c": {"x": 1}}),
        json!({"t": "Bare"}),
    ];
    let untagged = [json!(5), json!("text"), json!({"x": 1}), json!([1, "a", [{"x": 2}]])];
    for index in 0..4 {
        let (external, internal, adjacent, untagged) =
            (&external[index], &internal[index], &adjacent[index], &untagged[index]);
        calls.push(good(
            "enums.data",
            json!({"external": external, "internal": internal, "adjacent": adjacent, "untagged": untagged}),
            json(&enums::data(read(external), read(internal), read(adjacent), read(untagged))),
        ));
        calls.push(good(
            "enums.many",
            json!({"maybe": external, "list": [internal], "map": {"k": adjacent}}),
            enums::many(Some(read(external)), vec![read(internal)], BTreeMap::from([("k".to_owned(), read(adjacent))])),
        ));
    }
    calls
}

fn recursive() -> Vec<ValidCall> {
    let tree = json!({"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{"name": "d"}]}], "parent": {"name": "e"}});
    let node = json!({"value": 1, "children": [{"value": 2}]});
    let named = json!({"value": "a", "children": []});
    let term = json!({"Sum": [{"Number": 1}, {"Sum": [{"Number": 2}, {"Number": 3}]}]});
    let chicken = json!({"egg": {"chickens": {"a": {}}}});
    let egg = json!({"chickens": {"a": {}, "b": {"egg": null}}});
    let expression = json!({"let": {"name": "x", "value": {"sum": [{"number": 1.0}, {"negated": {"number": 2.0}}]}}});
    vec![
        good(
            "recursive.tree",
            json!({"tree": tree, "other": tree, "forest": [tree]}),
            recursive::tree(read(&tree), Some(&read(&tree)), vec![read(&tree)]).to_string(),
        ),
        good(
            "recursive.mutual",
            json!({"chicken": chicken, "egg": egg}),
            json(&recursive::mutual(read(&chicken), read(&egg))),
        ),
        good(
            "recursive.expression",
            json!({"expression": expression}),
            json(&recursive::expression(read(&expression))),
        ),
        good(
            "recursive.lists",
            json!({"lists": [[], [[]]], "more": [[]]}),
            recursive::lists(read(&json!([[], [[]]])), vec![read(&json!([]))]).to_string(),
        ),
        good(
            "recursive.own_name",
            json!({"node": node, "named": named, "term": term}),
            json(&recursive::own_name(read(&node), Some(read(&named)), read(&term))),
        ),
        good("recursive.renamed_derives", json!({"leaf": {"green": 1}}), json(&json!({"green": 1}))),
    ]
}

fn opaque() -> Vec<ValidCall> {
    let it = json!({"x": 1, "more": {"k": 2}});
    let opaque = || read::<Opaque>(&it);
    let envelope = json!({"topic": "t", "payload": [1, {"a": null}], "attributes": {"k": [true]}});
    let any = json!({"a": [1, 2.5, null, "x", {"b": {}}]});
    vec![
        good(
            "opaque.unknown",
            json!({"opaque": it, "borrowed": it, "maybe": it, "list": [it], "slice": [it]}),
            opaque::unknown(opaque(), &opaque(), Some(opaque()), vec![opaque()], &[opaque()]),
        ),
        good("opaque.value", json!({"value": any, "maybe": any}), json(&opaque::value(any.clone(), Some(any.clone())))),
        good("opaque.value", json!({"value": null}), json(&opaque::value(Value::Null, None))),
        good("opaque.value", json!({"value": "text"}), json(&opaque::value(json!("text"), None))),
        good("opaque.echo", json!({"value": any}), json(&opaque::echo(any.clone()))),
        good(
            "opaque.inside",
            json!({"map": {"a": 1}, "list": [1, "a"], "by_name": {"b": {}}, "envelope": envelope}),
            json(&opaque::inside(
                read(&json!({"a": 1})),
                read(&json!([1, "a"])),
                read(&json!({"b": {}})),
                read(&envelope),
            )),
        ),
    ]
}

fn wide() -> Vec<ValidCall> {
    let it = json!({
        "text": "a", "maybeText": null, "tiny": -1, "large": 7, "float": 0.5, "truth": true, "letter": "x",
        "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "date": "2024-02-29", "list": [1, null], "set": [3, 1],
        "pair": [1, "b"], "map": {"k": [1]}, "grade": "good", "page": {"items": ["bad"]}, "external": {"One": 1},
        "internal": {"kind": "nothing"}, "adjacent": {"t": "Bare"}, "untagged": [1, "a"], "tree": {"name": "t"},
        "anything": {"z": 1, "a": [{}]},
    });
    let spread = json!({"text": "a", "tiny": 1, "float": 1.5, "list": [null], "map": {}, "external": "Bare", "untagged": {"x": 1}, "anything": [1]});
    vec![
        good("wide.echo", json!({"wide": it}), json(&wide::echo(read(&it)))),
        good("wide.lent", json!({"wide": it}), json(&wait(wide::lent(&read(&it))))),
        good(
            "wide.spread",
            spread.clone(),
            json(&wide::spread(
                "a".to_owned(),
                1,
                1.5,
                vec![None],
                BTreeMap::new(),
                read(&spread["external"]),
                read(&spread["untagged"]),
                read(&spread["anything"]),
            )),
        ),
    ]
}
