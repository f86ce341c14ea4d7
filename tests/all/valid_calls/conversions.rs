//! Arguments and results of types that serde does not know.

use serde_json::json;
use tool_tests::conversions::{self, CommitSha, Level, Repository, RunId, Runs, Seconds, Span};

use super::{ValidCall, good, json, wait};

pub fn calls() -> Vec<ValidCall> {
    [parsed(), converted(), results(), classes()].into_iter().flatten().collect()
}

fn parsed() -> Vec<ValidCall> {
    let sha = CommitSha;
    vec![
        good(
            "conversions.parsed",
            json!({
                "sha": "00ff", "lent": "1", "maybe": "2", "maybe_lent": "3", "all": ["4", "5"], "slice": ["6"],
                "maybe_slice": ["7"], "into": "8", "items": ["9"], "level": "high",
            }),
            conversions::parsed(
                sha(255),
                &sha(1),
                Some(sha(2)),
                Some(&sha(3)),
                vec![sha(4), sha(5)],
                &[sha(6)],
                Some(&[sha(7)]),
                sha(8),
                [sha(9)],
                Level(9),
            ),
        ),
        good(
            "conversions.parsed",
            json!({
                "sha": "a", "lent": "b", "maybe": null, "all": [], "slice": [], "into": "c", "items": [], "level": "low",
            }),
            conversions::parsed(sha(10), &sha(11), None, None, vec![], &[], None, sha(12), [], Level(1)),
        ),
        good("conversions.parsed_rules", json!({"sha": "12"}), conversions::parsed_rules(sha(18), sha(255), sha(0))),
        good(
            "conversions.parsed_rules",
            json!({"sha": "1", "other": "2", "zero": "3"}),
            conversions::parsed_rules(sha(1), sha(2), sha(3)),
        ),
    ]
}

fn converted() -> Vec<ValidCall> {
    let run = RunId;
    let even = |number| conversions::Even::try_from(number).expect("an even number");
    vec![
        good(
            "conversions.via",
            json!({
                "run": 1, "lent": 2, "maybe": 3, "all": [4, 5], "slice": [6], "nested": [7, null], "other": 8, "zero": 9,
            }),
            conversions::via(
                run(1),
                &run(2),
                Some(run(3)),
                vec![run(4), run(5)],
                &[run(6)],
                Some(vec![Some(run(7)), None]),
                run(8),
                run(9),
            ),
        ),
        good(
            "conversions.via",
            json!({"run": 1, "lent": 2, "all": [], "slice": []}),
            conversions::via(run(1), &run(2), None, vec![], &[], None, run(7), run(0)),
        ),
        good(
            "conversions.fallible",
            json!({"even": 2, "all": [4, 6]}),
            conversions::fallible(even(2), vec![even(4), even(6)]),
        ),
        good(
            "conversions.via_struct",
            json!({"span": {"from": 3, "count": 4}, "others": [{"from": 1}]}),
            conversions::via_struct(&Span { from: 3, to: 7 }, vec![Span { from: 1, to: 1 }]),
        ),
        good(
            "conversions.with",
            json!({"wait": 1.5, "limit": 60, "maybe": 2, "all": [0, 1]}),
            conversions::with(Seconds(1.5), &Seconds(60.0), Some(Seconds(2.0)), &[Seconds(0.0), Seconds(1.0)]),
        ),
        good(
            "conversions.with",
            json!({"wait": 0, "limit": 0, "all": []}),
            conversions::with(Seconds(0.0), &Seconds(0.0), None, &[]),
        ),
    ]
}

fn results() -> Vec<ValidCall> {
    let texts: Vec<String> = conversions::list(2).iter().map(ToString::to_string).collect();
    let debugged = wait(conversions::debug(7)).expect("a request").expect("a request");
    vec![
        good("conversions.display", json!({"number": 7}), conversions::display(7).to_string()),
        good("conversions.debug", json!({"number": 7}), format!("{debugged:?}")),
        good("conversions.debug", json!({"number": 0}), "null"),
        good("conversions.list", json!({"count": 2}), json(&texts)),
        good("conversions.list", json!({"count": 0}), "[]"),
        good("conversions.quiet", json!({"number": 9}), "9"),
        good("conversions.quiet_items", json!({"number": 9}), "[9]"),
        good("conversions.json", json!({"value": {"a": 1}, "more": null, "list": ["b", 2]}), r#"{"a":1} null ["b",2]"#),
        good("conversions.by_value", json!({"number": 7}), json(&json!({"number": 7}))),
        good("conversions.by_reference", json!({"count": 3}), "[1,2,3]"),
        good("conversions.streamed", json!({"count": 2}), json(&json!([{"number": 1}, {"number": 2}]))),
    ]
}

fn classes() -> Vec<ValidCall> {
    let service = Repository::default();
    let texts: Vec<String> = service.requests().iter().map(ToString::to_string).collect();
    vec![
        good(
            "repository.types",
            json!({"sha": "ff", "runs": [1, 2], "wait": 0.5, "level": "low"}),
            service.types(&CommitSha(255), Some(vec![RunId(1), RunId(2)]), Seconds(0.5), Level(1)),
        ),
        good("repository.request", json!({"number": 2}), format!("{:?}", service.request(2).expect("a request"))),
        good("repository.request", json!({"number": 3}), "null"),
        good("repository.requests", json!({}), json(&texts)),
        good("repository.rerun", json!({"run": 7}), service.rerun(RunId(7)).to_string()),
        good("repository.count", json!({}), service.count().to_string()),
        good("runs.next", json!({"run": 7}), format!("{:?}", service.next(RunId(7)))),
        good("foreign_requests.request_of", json!({"sha": "10"}), "#16"),
        good("foreign_requests.request_of", json!({"sha": "0"}), "null"),
    ]
}
