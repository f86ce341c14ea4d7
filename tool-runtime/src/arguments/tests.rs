//! Shows that no behaviour and no redaction depends on the text of a message.

use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_model::validate::ViolationKind;

use super::message::MessageFormat;
use super::message::testing::with_format;
use super::{ArgumentErrorKind, Constraint};
use crate::events::Update;
use crate::journal::{EntryQuery, Journal, MemoryJournal};
use crate::{Dispatcher, ErrorKind, Manifest, Policy, RuntimeTool, ToolCall, ToolResult, tool, tool_class};

/// The calls that run.
const RUN: usize = 4;

/// Every secret in these tests contains this.
const SECRET: &str = "hunter2";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Account {
    #[expect(dead_code)]
    user: String,
    #[expect(dead_code)]
    #[schemars(extend("writeOnly" = true))]
    key: u16,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SortOrder {
    Up,
    Down,
}

/// A string with a number in it, whose error repeats the string.
struct Pin;

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<u8>().map(|_| Self).map_err(|error: ParseIntError| format!("{text}: {error} (sic)"))
    }
}

#[derive(Clone)]
struct Wording;

#[tool_class(crate = crate, manual)]
impl Wording {
    /// Uses every kind of argument.
    #[tool]
    #[expect(clippy::too_many_arguments)]
    fn all(
        &self,
        #[arg(min = 1, max = 9)] count: Option<u32>,
        big: Option<i128>,
        order: Option<SortOrder>,
        account: Option<Account>,
        #[arg(secret)] pin: Option<Pin>,
        #[arg(secret)] pins: Vec<Pin>,
        #[arg(secret, max_length = 3)] token: Option<String>,
        #[arg(secret)] vault: Option<std::collections::BTreeMap<String, u8>>,
    ) -> String {
        let order = order.map(|order| matches!(order, SortOrder::Up));
        let secrets = (pin.is_some(), pins.len(), token.is_some(), vault.is_some(), account.is_some());
        format!("{count:?} {big:?} {order:?} {secrets:?}")
    }
}

fn tools(journal: Arc<MemoryJournal>) -> Dispatcher {
    let schema = json!({
        "type": "object",
        "properties": {
            "api-key": {"type": "string", "writeOnly": true},
            "note": {"type": "string"},
            "list": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true},
        },
        "dependentRequired": {"note": ["list"]},
        "not": {"required": ["api-key", "list"], "properties": {"api-key": {"maxLength": 3}}},
        "dependentSchemas": {"note": {"properties": {"api-key": {"maxLength": 3}}}},
    });
    let whole = RuntimeTool::from_schema("whole", "", &schema, |_, _| async { "ran" });
    Dispatcher::builder()
        .manifest(Manifest::default())
        .also(Wording)
        .tool(whole)
        .policy(Policy::Yolo)
        .repair(true)
        .journal(journal)
        .build()
        .unwrap()
}

const CALLS: &[(&str, &str)] = &[
    // Runs, repaired or not.
    ("wording.all", r#"{"pins": [], "count": 3}"#),
    ("wording.all", r#"{"pins": [], "count": "3", "order": "UP"}"#),
    ("wording.all", "```json\n{'pins': [], 'big': 2.0,}\n```"),
    ("wording.all", r#"{"pins": "[]", "vault": "{\"hunter2\": 1}"}"#),
    // Malformed.
    ("wording.all", r#"{"token": "hunter2" "count": 1}"#),
    ("wording.all", r#"{"token": hunter2}"#),
    ("wording.all", r#"["hunter2"]"#),
    ("wording.all", r#"{"token": "hunter2"#),
    // Names.
    ("wording.all", r#"{"tokn": "x", "pins": [], "cout": 1}"#),
    ("wording.all", r#"{}"#),
    ("wording.all", r#"{"pins": [], "count": 1, "count": 2}"#),
    ("wording.all", r#"{"pins": [], "vault": {"hunter2": 1, "hunter2": 2}}"#),
    // Values.
    ("wording.all", r#"{"pins": [], "count": 0, "order": "sideways"}"#),
    ("wording.all", r#"{"pins": [], "big": 1.5}"#),
    ("wording.all", r#"{"pins": [], "big": [1]}"#),
    ("wording.all", r#"{"pins": ["1", "hunter2"], "pin": "hunter2"}"#),
    ("wording.all", r#"{"pins": [], "token": "hunter2"}"#),
    ("wording.all", r#"{"pins": [], "token": ["hunter2"]}"#),
    ("wording.all", r#"{"pins": [], "vault": {"hunter2": "hunter2"}}"#),
    ("wording.all", r#"{"pins": [], "vault": {"hunter2": 1000}}"#),
    ("wording.all", r#"{"pins": [], "account": {"user": "ada", "key": "hunter2"}}"#),
    ("wording.all", r#"{"pins": [], "account": {"user": "ada", "key": 1, "kye": "hunter2"}}"#),
    ("wording.all", r#"{"pins": [], "account": "hunter2"}"#),
    // All arguments together.
    ("whole", r#"{"note": "x", "api-key": "hunter2"}"#),
    ("whole", r#"{"note": "x", "list": [1], "api-key": "hunter2"}"#),
    ("whole", r#"{"list": [1], "api-key": "h"}"#),
    ("whole", r#"{"list": [1, 1], "api-key": "h"}"#),
    ("whole", r#"{"list": [1, "x", 1], "api-key": ["hunter2"]}"#),
];

/// Everything that a program can see of a result, texts aside.
fn behaviour(result: &ToolResult) -> String {
    let error = result.error.as_ref().map(|error| {
        let arguments: Vec<_> =
            error.arguments.iter().map(|error| (&error.path, error.received.is_some(), &error.kind)).collect();
        format!("{:?} {:?} {arguments:?}", error.kind, error.retry_after())
    });
    let repairs = result.metadata.get("repairs").and_then(|repairs| repairs.as_array());
    let repairs: Vec<_> = repairs.into_iter().flatten().map(|repair| (&repair["path"], &repair["why"])).collect();
    let output = if result.success { &*result.output } else { "" };
    format!("{} {output} {error:?} {repairs:?}", result.success)
}

/// Makes all calls. Returns what they did, what they said, and all that was recorded and reported of them.
async fn run_all() -> (Vec<String>, Vec<String>, String) {
    let journal = Arc::new(MemoryJournal::new());
    let tools = tools(journal.clone());
    let mut subscriber = tools.events().subscribe();
    let (mut behaviours, mut outputs, mut seen) = (Vec::new(), Vec::new(), String::new());
    for (index, (tool, text)) in CALLS.iter().enumerate() {
        let call = ToolCall::from_text(*tool, *text).conversation("c").id(index.to_string());
        let result = tools.call(call).await;
        seen += &format!("{}\n{result:?}\n", serde_json::to_string(&result).unwrap());
        behaviours.push(behaviour(&result));
        outputs.push(result.output);
    }
    let entries = journal.entries(EntryQuery::newest(1_000)).await.unwrap();
    behaviours.extend(entries.iter().map(|entry| format!("{:?} {:?}", entry.id, entry.decision)));
    seen += &format!("{entries:?}\n");
    while let Some(Update::Event(event)) = subscriber.try_next() {
        seen += &format!("{event:?}\n");
    }
    (behaviours, outputs, seen)
}

fn run_all_with(format: &'static dyn MessageFormat) -> (Vec<String>, Vec<String>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_format(format, || runtime.block_on(run_all()))
}

/// Today's texts.
struct Unchanged;

impl MessageFormat for Unchanged {}

/// No text at all.
struct Silent;

impl MessageFormat for Silent {
    fn expected(&self, _: &ViolationKind) -> String {
        String::new()
    }

    fn secret(&self) -> String {
        String::new()
    }

    fn line(&self, _: &str, _: Option<&str>, _: &str) -> String {
        String::new()
    }

    fn refusal(&self, _: &str, _: &[String], _: usize) -> String {
        String::new()
    }
}

/// Texts that each contradict the violation.
struct Misleading;

impl MessageFormat for Misleading {
    fn expected(&self, kind: &ViolationKind) -> String {
        match kind {
            ViolationKind::Unknown(_) => "missing, expected any value".to_owned(),
            ViolationKind::Missing { .. } => "unknown property; did you mean `x`?".to_owned(),
            _ => "unknown property: nothing (one of: `a`; sent twice or null)".to_owned(),
        }
    }

    fn secret(&self) -> String {
        "null".to_owned()
    }
}

/// Texts that tell all that is left of a violation after its redaction.
struct Revealing;

impl MessageFormat for Revealing {
    fn expected(&self, kind: &ViolationKind) -> String {
        format!("{kind:?}")
    }
}

#[test]
fn no_behaviour_and_no_redaction_depends_on_the_text_of_a_message() {
    let (behaviours, outputs, seen) = run_all_with(&Unchanged);
    assert!(!seen.contains(SECRET), "{seen}");
    assert_eq!(behaviours.iter().filter(|behaviour| behaviour.starts_with("true")).count(), RUN, "{behaviours:#?}");
    for (name, format) in
        [("silent", &Silent as &dyn MessageFormat), ("misleading", &Misleading), ("revealing", &Revealing)]
    {
        let (same, other_outputs, seen) = run_all_with(format);
        assert_eq!(same, behaviours, "{name}");
        assert!(!seen.contains(SECRET), "{name}: {seen}");
        let changed = outputs.iter().zip(&other_outputs).filter(|(one, other)| one != other).count();
        assert_eq!(changed, CALLS.len() - RUN, "{name}: each message is another, and no output: {other_outputs:#?}");
    }
}

/// The control of the test above: values that are not secret are in the texts.
#[test]
fn values_that_are_not_secret_are_repeated() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let output = runtime.block_on(async {
        let tools = tools(Arc::default());
        tools.call(ToolCall::from_text("wording.all", r#"{"pins": [], "order": "sideways"}"#)).await.output
    });
    assert!(output.contains(r#"`order`: got "sideways", expected one of "up", "down""#), "{output}");
}

#[test]
fn an_error_says_by_its_kind_what_is_wrong() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let kinds = |tool: &'static str, text: &'static str| {
        let result = runtime.block_on(async { tools(Arc::default()).call(ToolCall::from_text(tool, text)).await });
        let error = result.error.unwrap();
        assert_eq!(error.kind, ErrorKind::InvalidArguments, "{text}");
        error.arguments.into_iter().map(|error| (error.path, error.kind)).collect::<Vec<_>>()
    };
    let expected = |path: &str, kind: ArgumentErrorKind| vec![(path.to_owned(), kind)];
    let all = |text| kinds("wording.all", text);
    assert_eq!(all(r#"{"pins": []"#), expected("", ArgumentErrorKind::Malformed));
    assert_eq!(all("[1]"), expected("", ArgumentErrorKind::NotAnObject));
    assert_eq!(all("{}"), expected("pins", ArgumentErrorKind::Missing));
    let suggestions = vec!["count".to_owned()];
    assert_eq!(all(r#"{"pins": [], "cout": 1}"#), expected("cout", ArgumentErrorKind::Unknown { suggestions }));
    assert_eq!(all(r#"{"pins": [], "pins": []}"#), expected("pins", ArgumentErrorKind::Duplicate));
    let invalid = |constraint| ArgumentErrorKind::Invalid { constraint };
    assert_eq!(all(r#"{"pins": [], "count": 0}"#), expected("count", invalid(Constraint::Range)));
    assert_eq!(all(r#"{"pins": [], "token": "long"}"#), expected("token", invalid(Constraint::Length)));
    assert_eq!(all(r#"{"pins": ["1", "x"]}"#), expected("pins", invalid(Constraint::Decoding)));
    // Repeated items are repaired, unless something else is wrong with the list.
    let repeated = kinds("whole", r#"{"list": [1, 1, "x"]}"#);
    assert!(repeated.contains(&("list[1]".to_owned(), invalid(Constraint::UniqueItems))), "{repeated:?}");
    assert_eq!(kinds("whole", r#"{"note": "x"}"#), expected("list", ArgumentErrorKind::Missing));
}
