use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::confirm::{self, Decision, Question};
use crate::journal::{EntryQuery, EntryState, Journal, MemoryJournal};
use crate::limits::{Limit, Limiter};
use crate::output::Spill;
use crate::{Dispatcher, ErrorKind, HandlerError, Progress, RuntimeTool, Scope, ToolCall, ToolError, ToolResult};

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The item to order.
    item: String,
    #[schemars(range(min = 1, max = 9))]
    count: Option<u32>,
    #[serde(default)]
    express: bool,
}

fn order() -> RuntimeTool {
    RuntimeTool::new("shop.order", "Order something.", |order: Order| async move {
        format!("{} x {} {}", order.count.unwrap_or(1), order.item, order.express)
    })
}

fn with(tool: RuntimeTool) -> Dispatcher {
    Dispatcher::builder().tool(tool).build().unwrap()
}

async fn answer(tools: &Dispatcher, arguments: &'static str) -> ToolResult {
    let definitions = tools.definitions();
    tools.call(ToolCall::from_text(definitions[0].0.to_string(), arguments)).await
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

#[tokio::test]
async fn arguments_are_validated_and_repaired() {
    let tools = with(order());
    assert_eq!(answer(&tools, r#"{"item": "tea", "count": null}"#).await.output, "1 x tea false");
    let repaired = answer(&tools, r#"{"item": "tea", "count": "3", "express": null}"#).await;
    assert_eq!(repaired.output, "3 x tea false");
    assert_eq!(repaired.metadata.get("repairs").unwrap().as_array().unwrap().len(), 2);
    let wrong = answer(&tools, r#"{"count": 10, "express": "soon", "itme": "tea", "count": 3}"#).await;
    assert_eq!(
        wrong.output,
        "Invalid arguments for `shop.order`:\n\
         - `count`: got 10, expected integer between 1 and 9\n\
         - `express`: got \"soon\", expected boolean\n\
         - `itme`: unknown argument; did you mean `item`?\n\
         - `count`: sent twice; send it once\n\
         - `item`: missing, expected string"
    );
    let twice = with(RuntimeTool::from_schema("x", "", &json!({"properties": {"a": {}}}), |_, _| async {}));
    let twice = answer(&twice, r#"{"a": {"b": {"c": 1, "c": 2}}}"#).await;
    assert!(twice.output.contains("duplicate key"), "{}", twice.output);
}

#[tokio::test]
async fn rejects_arguments_that_only_the_type_rejects_before_confirming() {
    #[derive(Deserialize, JsonSchema)]
    struct At {
        #[schemars(with = "String")]
        at: std::net::IpAddr,
        #[schemars(extend("writeOnly" = true))]
        key: Option<String>,
    }
    let tool = RuntimeTool::new("x.at", "", |at: At| async move { format!("{} {}", at.at, at.key.is_some()) });
    let tools = with(tool.sensitive());
    let result = answer(&tools, r#"{"at": "nowhere", "key": "hunter2"}"#).await;
    assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments));
    assert_eq!(result.output, "Invalid arguments for `x.at`:\n- `at`: cannot be read: invalid IP address syntax");
    assert_eq!(kind(&answer(&tools, r#"{"at": "::1"}"#).await), Some(ErrorKind::Refused), "nobody can be asked");
}

#[tokio::test]
async fn argument_errors_never_contain_nested_secrets() {
    let account = json!({"type": "object", "properties": {
        "user": {"type": "string"}, "key": {"type": "string", "minLength": 8, "writeOnly": true}}});
    let of = |arguments: Value| {
        let schema = json!({"properties": arguments, "not": {"required": ["both", "account"]}});
        with(RuntimeTool::from_schema("x", "", &schema, |_, _| async {}).repair(false))
    };
    let tools = of(json!({"account": account, "host": {"type": "integer"}, "both": {}}));
    for (text, words) in [
        (r#"{"account": {"key": "hunter2"}}"#, "`account.key`: got a secret, expected string of at least 8"),
        (r#"{"account": {"user": ["hunter2"]}}"#, "`account.user`: got a secret, expected string"),
        (r#"{"account": "hunter2"}"#, "`account`: got a secret, expected object"),
        (r#"{"account": {"key": "1234hunter2"}, "both": 1}"#, "object other than object with"),
        (r#"["hunter2"]"#, "a JSON object"),
        (r#"{"account": {"key": hunter2"#, "line 1, column"),
        (r#"{"account" "hunter2"}"#, "line 1, column 12"),
    ] {
        let result = answer(&tools, text).await;
        assert!(result.output.contains(words), "{}", result.output);
        assert!(!format!("{result:?}").contains("hunter2"), "{result:?}");
    }
    assert!(answer(&tools, r#"{"host": "nowhere"}"#).await.output.contains("nowhere"), "it has no secret");
    let plain = of(json!({"host": {"type": "integer"}}));
    for text in [r#"["nowhere"]"#, r#"{"host": ,nowhere}"#] {
        assert!(answer(&plain, text).await.output.contains("nowhere"), "none of its arguments has one");
    }
}

#[tokio::test]
async fn validates_keywords_of_the_whole_object() {
    let schema = json!({"properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "oneOf": [{"required": ["id"]}, {"required": ["name"]}]});
    let tools = with(RuntimeTool::from_schema("x.find", "", &schema, |found, _| async { Value::Object(found) }));
    assert_eq!(answer(&tools, r#"{"id": 1}"#).await.output, r#"{"id":1}"#);
    assert_eq!(kind(&answer(&tools, r#"{"id": 1, "name": "x"}"#).await), Some(ErrorKind::InvalidArguments));
    assert_eq!(kind(&answer(&tools, "{}").await), Some(ErrorKind::InvalidArguments));
}

#[tokio::test]
async fn runtime_tools_are_confirmed_limited_and_recorded() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let operator = {
        let asked = asked.clone();
        move |question: Question| {
            asked.lock().unwrap().push(question.arguments);
            async { Decision::Run }
        }
    };
    let tools = Dispatcher::builder()
        .tool(order().sensitive())
        .confirm(confirm::from_fn(operator))
        .journal(MemoryJournal::new())
        .limit(Limiter::new().tool("shop.order", Limit::per_minute(1)))
        .spill(Spill::over(1_000))
        .build()
        .unwrap();
    let mut events = tools.events().subscribe();
    let call = |arguments, id| ToolCall::from_text("shop.order", arguments).conversation("c").id(id);
    let dry = tools.call(call(r#"{"item": "tea"}"#, "0")).dry_run().await;
    assert!(dry.success && asked.lock().unwrap().is_empty(), "{dry:?}");
    let done = tools.call(call(r#"{"item": "tea", "count": "2"}"#, "1")).await;
    assert_eq!(
        (done.output.as_str(), asked.lock().unwrap().as_slice()),
        ("2 x tea false", &[json!({"item": "tea", "count": 2, "express": false})][..])
    );
    let again = tools.call(call(r#"{"item": "tea", "count": "2"}"#, "1")).await;
    assert_eq!(again.metadata.get("replayed"), Some(&json!(true)));
    let limited = tools.call(call(r#"{"item": "tea"}"#, "2")).await;
    assert_eq!(kind(&limited), Some(ErrorKind::RateLimited));
    assert!(
        matches!(events.next().await, Some(crate::events::Update::Event(event)) if event.call.tool == "shop.order")
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_sees_its_scope_and_is_cancelled() {
    let stopped = Arc::new(Mutex::new(None));
    let seen = stopped.clone();
    let tool = RuntimeTool::scoped("x.wait", "", move |(): (), scope: Scope| {
        let seen = seen.clone();
        async move {
            let context = scope.context().clone();
            scope.progress().report(json!({"remaining": scope.deadline().remaining()}));
            let token = scope.cancellation().clone();
            tokio::spawn(async move {
                token.cancelled().await;
                *seen.lock().unwrap() = Some(context);
            });
            std::future::pending::<()>().await;
        }
    });
    let tools = with(tool.timeout(Duration::from_secs(5)));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let call =
        ToolCall::from_text("x.wait", "").id("7").conversation("c").channel("mail", "ada").trace_parent("00-1-2-01");
    let result = tools.call(call).with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    tokio::task::yield_now().await;
    let context = stopped.lock().unwrap().take().expect("the handler was stopped");
    assert_eq!((context.tool(), context.call_id(), context.conversation()), ("x.wait", Some("7"), Some("c")));
    assert_eq!((context.channel(), context.chat()), (Some("mail"), Some("ada")));
    assert_eq!(context.trace_parent(), Some("00-1-2-01"));
    assert_eq!(heard.lock().unwrap()[0]["remaining"]["secs"], 5);
}

#[tokio::test]
async fn a_returned_tool_result_is_sanitized_and_otherwise_unchanged() {
    let tool = RuntimeTool::from_schema(
        "x.remote",
        "",
        &json!({"properties": {"fail": {"type": "boolean"}}}),
        |arguments: Map<String, Value>, _| async move {
            if arguments.contains_key("fail") {
                let mut error = ToolError::new(ErrorKind::OutcomeUnknown, "the line\u{1b}[31m went dead");
                error.arguments = Vec::new();
                return Ok::<_, String>(ToolResult::failure(error));
            }
            let mut result = ToolResult::success("fine\u{1b}[0m".to_owned());
            result.metadata.insert("structured", json!({"a": 1}));
            Ok(result)
        },
    );
    let tools = with(tool);
    let fine = answer(&tools, "{}").await;
    assert_eq!((fine.output.as_str(), fine.metadata.get("structured")), ("fine", Some(&json!({"a": 1}))));
    let failed = answer(&tools, r#"{"fail": true}"#).await;
    assert_eq!((failed.output.as_str(), kind(&failed)), ("the line went dead", Some(ErrorKind::OutcomeUnknown)));
    assert_eq!(failed.error.unwrap().message, "the line went dead");
}

#[tokio::test]
async fn json_results_are_safe_to_print() {
    let value = json!({"a\u{9b}": ["\u{9b}31m\u{202e}x\u{7f}\u{1b}[m", "é – \u{2026}"]});
    let result = value.clone();
    let tools = with(RuntimeTool::new("x.remote", "", move |(): ()| std::future::ready(result.clone())));
    let output = answer(&tools, "{}").await.output;
    assert_eq!(output, r#"{"a\u009b":["\u009b31m\u202ex\u007f\u001b[m","é – …"]}"#);
    assert_eq!(serde_json::from_str::<Value>(&output).unwrap(), value);
}

#[tokio::test]
async fn argument_errors_never_contain_keys_of_a_secret() {
    let schema = json!({"properties": {"vault": {"type": "object", "writeOnly": true}, "plain": {"type": "object"}}});
    let tools = with(RuntimeTool::from_schema("x.remote", "", &schema, |_, _| async { "ran" }));
    let output = answer(&tools, r#"{"vault": {"SECRET": 1, "SECRET": 2}}"#).await.output;
    assert!(output.ends_with("`vault`: duplicate key in one object; send it once"), "{output}");
    let plain = answer(&tools, r#"{"plain": {"SECRET": 1, "SECRET": 2}}"#).await.output;
    assert!(plain.contains("SECRET"), "the control: {plain}");
}

#[tokio::test]
async fn errors_and_panics_are_results() {
    #[derive(Deserialize, JsonSchema)]
    struct How {
        how: String,
    }
    let tool = RuntimeTool::new("x.fail", "", |how: How| async move {
        match how.how.as_str() {
            "retry" => Err(HandlerError::retry("name it")),
            "panic" => panic!("oh"),
            _ => Ok([1, 2]),
        }
    });
    let tools = with(tool);
    assert_eq!(kind(&answer(&tools, r#"{"how": "retry"}"#).await), Some(ErrorKind::Retry));
    assert_eq!(answer(&tools, r#"{"how": "panic"}"#).await.output, "`x.fail` panicked, which is a bug in the tool.");
    assert_eq!(answer(&tools, r#"{"how": ""}"#).await.output, "[1,2]");
}

#[test]
fn a_destructive_tool_is_sensitive_unless_it_says_otherwise() {
    let tool = || RuntimeTool::new("x.purge", "", |(): ()| async {});
    let flags = |tool: RuntimeTool| (tool.definition().destructive, tool.definition().sensitive);
    assert_eq!(flags(tool().destructive()), (true, true));
    assert_eq!(flags(tool().destructive().not_sensitive()), (true, false));
    assert_eq!(flags(tool().not_sensitive().destructive()), (true, false));
    assert_eq!(flags(tool().not_sensitive().sensitive()), (false, true));
}

#[test]
fn build_logs_its_warnings() {
    let log = crate::testing::LogRecorder::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let tool = RuntimeTool::new("x.purge", "Purge.", |(): ()| async {}).destructive();
    let tools = Dispatcher::builder().manifest(crate::Manifest::default()).tool(tool).service(7_u8).build().unwrap();
    let warnings = tools.explain().warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    for warning in warnings {
        assert!(log.text().contains(&warning.to_string()), "{}", log.text());
    }
}

#[tokio::test]
async fn a_handler_can_use_provided_values() {
    let tool = RuntimeTool::scoped("x.greet", "", |(): (), scope: Scope| async move {
        let tools: Dispatcher = scope.value().await?;
        Ok::<_, crate::inject::InjectError>(format!(
            "{} of {}",
            scope.get::<String>("greeting").await?,
            tools.definitions().len()
        ))
    });
    let tools = Dispatcher::builder().value("greeting", "Hello".to_owned()).tool(tool).build().unwrap();
    assert_eq!(answer(&tools, "{}").await.output, "Hello of 1");
}

#[tokio::test]
async fn a_per_call_value_needs_no_declaration() {
    let shown = |(): (), scope: Scope| async move { format!("{:?} {:?}", scope.given::<u8>(), scope.given::<u16>()) };
    let tools = with(RuntimeTool::scoped("x.shown", "", shown));
    let call = || tools.call(ToolCall::from_text("x.shown", "{}"));
    assert_eq!(call().with(7_u8).await.output, "Some(7) None");
    assert_eq!(call().await.output, "None None");
}

/// Returns a tool whose work continues elsewhere. Its handler requests a stop there and returns `says`.
fn elsewhere(says: Option<ErrorKind>) -> RuntimeTool {
    let handler = move |_: Map<String, Value>, scope: Scope| async move {
        scope.cancellation().cancelled().await;
        match says {
            Some(kind) => ToolResult::failure(ToolError::new(kind, "said elsewhere")),
            None => std::future::pending().await,
        }
    };
    RuntimeTool::remote("x.remote", "", &json!({}), handler).settles_within(Duration::from_secs(2))
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_reports_the_outcome_of_remote_work() {
    for (says, expected) in [(Some(ErrorKind::Failed), ErrorKind::Failed), (None, ErrorKind::OutcomeUnknown)] {
        let tools = with(elsewhere(says));
        let call = || tools.call(ToolCall::from_text("x.remote", "{}"));
        assert_eq!(kind(&call().timeout(Duration::from_secs(1)).await), Some(expected));
        let stop = crate::CancellationToken::new();
        let (result, ()) = tokio::join!(call().cancel(stop.clone()), async {
            tokio::task::yield_now().await;
            stop.cancel();
        });
        assert_eq!(kind(&result), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_of_remote_work_has_an_unknown_outcome() {
    let journal = Arc::new(MemoryJournal::new());
    let remote = elsewhere(None);
    let plain = RuntimeTool::new("x.local", "", |(): ()| std::future::pending::<()>());
    let tools = Dispatcher::builder().tool(remote).tool(plain).journal(journal.clone()).build().unwrap();
    for (name, expected) in [("x.remote", ErrorKind::OutcomeUnknown), ("x.local", ErrorKind::Cancelled)] {
        let call = tools.call(ToolCall::from_text(name, "{}"));
        assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
        let recorded = loop {
            tokio::task::yield_now().await;
            let entries = journal.entries(EntryQuery::newest(1)).await.unwrap();
            if let EntryState::Finished(finished) = &entries[0].state {
                break finished.result.clone();
            }
        };
        assert_eq!(kind(&recorded), Some(expected), "{name}");
    }
}
