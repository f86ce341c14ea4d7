//! A dispatcher for the fixtures of `../src`, and helpers to call them.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tool_runtime::arguments::ArgumentError;
use tool_runtime::inject::InjectError;
use tool_runtime::{Builder, Dispatcher, ErrorKind, Manifest, Policy, ToolCall, ToolResult};
use tool_tests::backends::{
    ArchivedOrders, Clock, Log, MemoryOrders, NotedOrders, OrderService, PoliteGreeter, PriceApi, SmallShop, StockApi,
    StoppedClock, Transaction, Window, foreign,
};
use tool_tests::classes::{Reluctant, ReluctantTrait};
use tool_tests::conversions::{Foreign, Repository as Requests, Runs};
use tool_tests::generics::foreign::Parser;
use tool_tests::generics::{Percent, Survey};
use tool_tests::options::{Repository, Session};
use tool_tests::receivers::SharedService;

/// The manifest of the fixtures only: other tests register tools of their own in this binary.
pub fn manifest() -> &'static Manifest {
    static MANIFEST: OnceLock<Manifest> = OnceLock::new();
    MANIFEST.get_or_init(|| of_handlers(&Manifest::linked(), "tool_tests::"))
}

/// The manifest of one theme, which is a module of the fixtures.
pub fn theme(name: &str) -> Manifest {
    of_handlers(manifest(), &format!("tool_tests::{name}::"))
}

fn of_handlers(manifest: &Manifest, prefix: &str) -> Manifest {
    let tools = manifest.iter().filter(|(_, tool)| tool.handler.starts_with(prefix));
    tools.map(|(name, tool)| (name.to_owned(), tool.clone())).collect()
}

/// Returns a builder with everything that the fixtures need.
pub fn builder() -> Builder {
    Dispatcher::builder()
        .manifest(manifest().clone())
        // Approval is tested elsewhere.
        .policy(Policy::Yolo)
        .service(SharedService { name: "shared".to_owned() })
        .service(MemoryOrders::with([1, 2]))
        .service(Arc::new(ArchivedOrders(MemoryOrders::with([3]))))
        .service(PoliteGreeter)
        .service(Reluctant)
        .service(Arc::new(Reluctant) as Arc<dyn ReluctantTrait>)
        .service(Requests::default())
        .service(Arc::new(Requests::default()) as Arc<dyn Runs>)
        .service(Foreign)
        .service(Arc::new(SmallShop) as Arc<dyn StockApi>)
        .service(Arc::new(SmallShop) as Arc<dyn PriceApi>)
        .service(OrderService { repository: MemoryOrders::with([1, 2]) })
        .service(OrderService { repository: NotedOrders(MemoryOrders::with([1])) })
        .service(Window::<_, 3>(MemoryOrders::with([1])))
        .service(std::collections::BTreeSet::from([1_u32, 2]))
        .service_mut(foreign::Replica::<foreign::Memory>::default())
        .provide("transaction", |_| async { Ok::<_, InjectError>(Transaction::default()) })
        .value("book_prefix", "insert ".to_owned())
        .value("clock", Arc::new(StoppedClock(7)) as Arc<dyn Clock>)
        .provide("log", |_| async { Ok::<_, InjectError>(Box::new(Vec::new()) as Box<dyn Log>) })
        .value("ping_host", "1.1.1.1".to_owned())
        .value("number", 42_u64)
        .service(Survey)
        .service(Parser)
        .value("percent", Percent(8))
        .provide("session", |_| async { Ok::<_, InjectError>(Session("session")) })
        .provide("repository", |_| async { Ok::<_, InjectError>(Repository("repository")) })
}

/// The dispatcher that most tests share. Repair is disabled, so that tests see what is rejected.
pub fn tools() -> &'static Dispatcher {
    static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    TOOLS.get_or_init(|| builder().repair(false).build().unwrap_or_else(|error| panic!("{error}")))
}

/// A dispatcher with default settings, where repair is enabled.
pub fn repairing() -> &'static Dispatcher {
    static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    TOOLS.get_or_init(|| builder().build().unwrap_or_else(|error| panic!("{error}")))
}

/// Calls a fixture with the arguments as a model writes them.
pub fn call(name: &str, text: &str) -> ToolResult {
    call_on(tools(), name, text)
}

/// Same as [`call`], on another dispatcher.
pub fn call_on(tools: &Dispatcher, name: &str, text: &str) -> ToolResult {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().expect("a runtime"));
    runtime.block_on(tools.call(ToolCall::from_text(name, text)))
}

/// Returns the output of a call that must succeed.
#[track_caller]
pub fn output(name: &str, arguments: Value) -> String {
    let result = call(name, &arguments.to_string());
    assert!(result.success, "{name} {arguments}: {}", result.output);
    assert_eq!(result.error, None, "{name} {arguments}");
    let repairs = result.metadata.get("repairs").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    assert_eq!(tools().validate(name, &arguments).map(|repairs| json!(repairs)), Ok(repairs), "{name} {arguments}");
    result.output
}

/// Returns the violations of a call that must be rejected.
///
/// Checks the form of the error: kind, tool name, a line per argument, and the same text as output. `validate` must return
/// the same error.
#[track_caller]
pub fn refused(name: &str, text: &str) -> Vec<ArgumentError> {
    refused_on(tools(), name, text)
}

/// Same as [`refused`], on another dispatcher.
#[track_caller]
pub fn refused_on(tools: &Dispatcher, name: &str, text: &str) -> Vec<ArgumentError> {
    let result = call_on(tools, name, text);
    assert_eq!(tools.validate(name, text).err(), result.error);
    check_refusal(name, text, result)
}

#[track_caller]
fn check_refusal(name: &str, text: &str, result: ToolResult) -> Vec<ArgumentError> {
    let shown: String = text.chars().take(200).collect();
    assert!(!result.success, "{name} {shown}: accepted as {}", result.output);
    let error = result.error.expect("a failure has an error");
    assert_eq!(error.kind, ErrorKind::InvalidArguments, "{name} {shown}: {error}");
    assert_eq!(result.output, error.message, "the model reads the error");
    assert!(error.message.contains(&format!("`{name}`")), "names the tool: {error}");
    assert!(!error.arguments.is_empty(), "says what is wrong: {error}");
    for argument in &error.arguments {
        assert!(error.message.contains(&argument.to_string()), "{argument:?} is not in {error}");
        assert!(!argument.expected.is_empty(), "{argument:?} says nothing");
    }
    error.arguments
}

/// The paths of the violations.
pub fn paths(errors: &[ArgumentError]) -> Vec<&str> {
    errors.iter().map(|error| error.path.as_str()).collect()
}

/// The manifest of one fixture.
pub fn only(name: &str) -> Manifest {
    let tools = manifest().iter().filter(|(known, _)| *known == name);
    tools.map(|(name, tool)| (name.to_owned(), tool.clone())).collect()
}
