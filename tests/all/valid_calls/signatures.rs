//! Functions and methods with every kind of signature.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tool_tests::classes::{Excluded, HTTPClient, Included, Offset, Switch, SystemPackagesService, Unprefixed, nested};
use tool_tests::functions;
use tool_tests::receivers::{CounterService, SharedService, Waiter};
use tool_tests::{docs, options};

use super::{ValidCall, good, json, wait};
use crate::fixtures;

pub fn calls() -> Vec<ValidCall> {
    [functions(), receivers(), classes(), docs(), options()].into_iter().flatten().collect()
}

fn functions() -> Vec<ValidCall> {
    #[expect(deprecated, reason = "still a tool")]
    let old = functions::old(3);
    vec![
        good("add", json!({"a": 1, "b": -2}), functions::add(1, -2).to_string()),
        good("nothing", json!({}), functions::nothing()),
        good("private", json!({"text": "four"}), functions::private_directly("four").to_string()),
        good("later", json!({"text": "ab", "repeat": 2}), wait(functions::later("ab".to_owned(), 2))),
        good("slowly", json!({"text": "ab"}), functions::slowly("ab".to_owned())),
        good("future", json!({"number": 1}), wait(functions::future(1)).to_string()),
        good("future_of_result", json!({"number": 1}), json(&wait(functions::future_of_result(1)).expect("a number"))),
        good("match", json!({"type": "t", "fn": true, "async": 3}), functions::r#match("t".to_owned(), Some(true), 3)),
        good("match", json!({"type": "t", "async": 3}), functions::r#match("t".to_owned(), None, 3)),
        good("mutable", json!({"items": ["a"], "count": 2}), json(&functions::mutable(vec!["a".to_owned()], 2))),
        good("old", json!({"number": 3}), old.to_string()),
        good("double_u8", json!({"number": 3}), functions::double_u8(3).to_string()),
        good("double_option", json!({"number": -3}), functions::double_option(-3).to_string()),
        good("functions.by_path", json!({"number": 9}), functions::inner::by_path(9).to_string()),
        good(
            "many",
            json!({
                "p01": 1, "p02": -2, "p03": 3, "p04": -4, "p05": 0.5, "p06": 6.25, "p07": true, "p08": "8", "p09": "9",
                "p10": "10", "p11": 11, "p12": "12", "p13": [1, 3], "p14": [1, 4], "p15": [1, 5], "p16": [1, 6],
                "p17": 18, "p18": "18", "p19": "/19", "p20": "/20", "p21": {"k": 21}, "p22": "22", "p23": "23",
                "p24": "24",
            }),
            functions::many(
                1,
                -2,
                3,
                -4,
                0.5,
                6.25,
                true,
                '8',
                "9".to_owned(),
                "10",
                Some(11),
                Some("12"),
                vec![1, 3],
                &[1, 4],
                (1, 5),
                [1, 6],
                18,
                "18".to_owned(),
                PathBuf::from("/19"),
                Path::new("/20"),
                BTreeMap::from([("k".to_owned(), 21)]),
                Cow::Borrowed("22"),
                "23",
                "24",
            ),
        ),
    ]
}

fn receivers() -> Vec<ValidCall> {
    let counter = CounterService::new;
    let waiter = || wait(Waiter::new()).expect("an instance");
    let shared = || SharedService { name: "shared".to_owned() };
    let add = || json!({"add": 5});
    vec![
        good("counter.by_ref", add(), counter().by_ref(5).to_string()),
        good("counter.by_mut", add(), counter().by_mut(5).to_string()),
        good("counter.by_value", add(), counter().by_value(5).to_string()),
        good("counter.by_mut_value", add(), counter().by_mut_value(5).to_string()),
        good("counter.by_arc", add(), Arc::new(counter()).by_arc(5).to_string()),
        good("counter.without", add(), CounterService::without(5).to_string()),
        good("counter.by_typed_ref", add(), counter().by_typed_ref(5).to_string()),
        good("counter.by_typed_mut", add(), counter().by_typed_mut(5).to_string()),
        good("counter.by_named_ref", json!({"text": "x"}), counter().by_named_ref("x")),
        good("counter.later.by_ref_later", add(), wait(counter().by_ref_later(5)).to_string()),
        good("waiter.by_mut", add(), wait(waiter().by_mut(5)).to_string()),
        good("waiter.by_value", add(), wait(waiter().by_value(5)).to_string()),
        good("waiter.by_arc", add(), wait(Arc::new(waiter()).by_arc(5)).to_string()),
        good("waiter.by_future", json!({"text": "x"}), wait(waiter().by_future("x"))),
        good("waiter.blocking_by_ref", json!({"text": "x"}), waiter().blocking_by_ref("x")),
        good("waiter.blocking_by_mut", add(), waiter().blocking_by_mut(5).to_string()),
        good("waiter.blocking_by_value", add(), waiter().blocking_by_value(5).to_string()),
        good("shared.by_ref", json!({}), shared().by_ref()),
        good("shared.by_value", json!({}), shared().by_value()),
        good("shared.by_arc", json!({"suffix": "!"}), wait(Arc::new(shared()).by_arc("!"))),
        good("shared.blocking", json!({}), shared().blocking()),
    ]
}

fn classes() -> Vec<ValidCall> {
    let packages = SystemPackagesService::new;
    let offset = |by| Offset { by };
    let unprefixed = Unprefixed::new().expect("an instance");
    vec![
        good("system_packages.listed", json!({}), packages().listed().to_string()),
        good("system_packages.marked", json!({}), "true"),
        good("system_packages.not_skipped", json!({}), packages().not_skipped().to_string()),
        good("system_packages.always", json!({}), packages().always()),
        good("packages.renamed", json!({}), "ok"),
        good("system_packages.loop", json!({"in": 4}), packages().r#loop(4).to_string()),
        good("http_client.get", json!({"path": "/x"}), HTTPClient::get("/x")),
        good("included.one", json!({}), Included::one().to_string()),
        good("included.private", json!({}), "1"),
        good("excluded.one", json!({}), Excluded::one().to_string()),
        good("unprefixed_method", json!({"text": "x"}), unprefixed.unprefixed_method("x")),
        good("everything.at-once.plain", json!({"text": "x"}), "session 1.1.1.1 x"),
        good("everything.at-once.special", json!({"text": "x"}), "42 repository x"),
        good("store.size", json!({}), "0"),
        good("deep.found", json!({}), nested::Deep::found()),
        good("reluctant.offered", json!({}), "offered"),
        good("reluctant.private", json!({}), "private"),
        good("reluctant_trait.offered", json!({}), "of a trait"),
        good("reluctant_impl.offered", json!({}), "of an implementation"),
        good("constructed.all", json!({}), "[4]"),
        good("constructed.next", json!({}), "1"),
        good("switch.is_on", json!({}), Switch::On.is_on().to_string()),
        good(
            "offset.plus",
            json!({"one": {"by": 1}, "lent": {"by": 2}, "many": [{"by": 3}, {"by": 4}], "maybe": {"by": 5}}),
            json(&Offset::new().plus(offset(1), &offset(2), vec![offset(3), offset(4)], Some(&offset(5)))),
        ),
        good("offset.checked", json!({"most": 3}), json(&wait(Offset::new().checked(3)).expect("little"))),
    ]
}

fn docs() -> Vec<ValidCall> {
    let mut calls: Vec<ValidCall> = [
        "docs.one_line",
        "docs.joined",
        "docs.first_paragraph",
        "docs.blank_lines",
        "docs.block",
        "docs.stars",
        "docs.no_stars",
        "docs.attribute",
        "docs.special",
        "docs.concatenated",
        "docs.class.undocumented",
    ]
    .map(|name| good(name, json!({}), "ok"))
    .into();
    calls.extend([
        good("docs.attributes_between", json!({"number": 1}), "ok"),
        good("docs.overridden", json!({"a": 1, "b": 2, "c": 3}), docs::overridden(1, 2, 3).to_string()),
        good("docs.none", json!({"a": 1}), docs::none(1).to_string()),
        good("docs.links", json!({"text": "a", "linked": {"number": 2}}), "a 2"),
        good("docs.renamed", json!({"outside": 1, "type": 2}), docs::renamed(1, 2).to_string()),
        good("docs.inner", json!({"number": 1}), docs::inner(1).to_string()),
        good("docs.included", json!({"number": 1}), docs::included(1).to_string()),
        good(
            "docs.titled",
            json!({"bold": 1, "typed": 2, "raw": 3, "html": 4}),
            docs::titled(1, None, 2, 3, 4).to_string(),
        ),
        good("docs.class.method", json!({"number": 1}), docs::DocsService::new().method(1).to_string()),
        good(
            "docs.section",
            json!({"host": "h", "own": 1, "plain": 2, "dashed": 3, "after": 4, "late": 5, "new_name": 6}),
            docs::section("h", 10, 1, 2, 3, 4, 5, 6),
        ),
    ]);
    calls
}

fn options() -> Vec<ValidCall> {
    vec![
        good("options.named-tool_2", json!({}), "ok"),
        good("options.all", json!({"number": 7}), wait(options::all(7)).to_string()),
        good("options.reading", json!({}), options::reading().to_string()),
        good("options.negated", json!({}), options::negated().to_string()),
        good("options.affirmed", json!({}), options::affirmed().to_string()),
        good("options.injected", json!({"text": "x"}), "1.1.1.1 x 42 session repository"),
        good("options.located", json!({}), options::located().to_string()),
        good("options.class.located", json!({}), options::Located::located().to_string()),
    ]
}

/// An instance built for a call is dropped with it.
#[test]
fn a_counter_starts_at_zero_for_each_call() {
    for _ in 0..3 {
        assert_eq!(fixtures::output("counter.by_mut", json!({"add": 1})), "11");
    }
}

/// Skipped methods are callable from Rust only.
#[test]
fn a_method_that_is_not_a_tool_cannot_be_called() {
    assert!(SystemPackagesService::new().skipped());
    assert_eq!((Included::two(), Excluded::two()), (2, 2));
    options::what_it_would_do(7);
    for name in [
        "system_packages.new",
        "system_packages.hidden",
        "system_packages.of_the_crate",
        "system_packages.skipped",
        "system_packages.never",
        "system_packages.called_otherwise",
        "included.two",
        "excluded.two",
        "manual.run",
    ] {
        let error = fixtures::call(name, "{}").error.expect("a failure has an error");
        assert_eq!(error.kind, tool_runtime::ErrorKind::UnknownTool, "{name}");
        assert!(error.message.contains(name), "{error}");
    }
}

/// A `manual` class is available only if its service is registered.
#[test]
fn a_manual_class_is_available_with_its_service() {
    let tools = fixtures::builder().also(tool_tests::classes::ManualService).build();
    let tools = tools.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fixtures::call_on(&tools, "manual.run", "").output, "by hand");
}
