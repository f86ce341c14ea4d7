//! Encoding and decoding of names.

use proptest::collection::btree_set;
use proptest::prelude::*;
use tool_dialect::Dialect;
use tool_model::{Manifest, ToolDefinition};

use crate::fixtures::{forms, holds, manifest};

#[test]
fn encoded_names_of_all_fixtures_decode() {
    let manifest = manifest();
    for form in forms() {
        let offer = form.offer(manifest.iter()).expect("the fixtures' names stay apart");
        for (name, _) in manifest.iter() {
            let encoded = offer.encoded(name).expect("it is offered");
            assert_eq!(offer.decoded(encoded), name, "{form}");
        }
    }
}

/// Names of every kind: short, long, with dots, with invalid characters.
fn names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        4 => "[a-c](\\.[a-c]{1,2}|_[a-c]|-){0,3}",
        2 => "[a-z]{1,20}(\\.[a-z]{10,30}){1,4}",
        1 => "[a-b]{60,66}\\.[a-b]{0,3}",
        1 => ".{0,12}",
    ];
    btree_set(name, 0..20).prop_map(|names| names.into_iter().collect())
}

/// For any selection, either every name decodes to its tool or the clash names both tools.
#[test]
fn names_round_trip_or_clash() {
    let tool = ToolDefinition::default();
    holds(300, &names(), |names| {
        for form in forms() {
            match form.offer(names.iter().map(|name| (name.as_str(), &tool))) {
                Ok(offer) => {
                    let mut encoded: Vec<&str> = names.iter().filter_map(|name| offer.encoded(name)).collect();
                    for (name, encoded) in names.iter().zip(&encoded) {
                        if offer.decoded(encoded) != name {
                            return Err(format!(
                                "{form}: {name:?} is {encoded:?}, which is {:?}",
                                offer.decoded(encoded)
                            ));
                        }
                    }
                    encoded.sort_unstable();
                    encoded.dedup();
                    if encoded.len() != names.len() {
                        return Err(format!("{form}: {names:?} are {encoded:?}"));
                    }
                }
                Err(clash) => {
                    let [one, other] = &clash.tools;
                    if one == other || !names.contains(one) || !names.contains(other) {
                        return Err(format!("{form}: {clash}"));
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_clash_names_both_tools() {
    let mut manifest = Manifest::default();
    for name in ["a.b", "a__b", "c"] {
        manifest.insert(name, ToolDefinition::default());
    }
    let clash = Dialect::Anthropic.offer(manifest.iter()).expect_err("they clash");
    assert_eq!(clash.tools, ["a.b", "a__b"]);
    assert_eq!(
        clash.to_string(),
        "the tools `a.b` and `a__b` are both named `a__b` for the provider; rename one of them"
    );
    assert!(Dialect::Mcp.offer(manifest.iter()).is_ok(), "dots are fine there");

    let tool = ToolDefinition::default();
    let twice = Dialect::Mcp.offer([("x", &tool), ("x", &tool)]).expect_err("one name twice");
    assert_eq!(twice.to_string(), "duplicate tool `x`; rename one of them");
}

/// A model may use the tool's own name or an unknown one.
#[test]
fn unknown_names_are_unchanged() {
    let tool = ToolDefinition::default();
    let offer = Dialect::OpenAiChat.offer([("a.b", &tool)]).expect("one tool");
    assert_eq!((offer.decoded("a__b"), offer.decoded("a.b"), offer.decoded("a__c")), ("a.b", "a.b", "a__c"));
    assert_eq!((offer.encoded("a.b"), offer.encoded("a.c")), (Some("a__b"), None));
}
