//! What stands between a call and its handler: consent, dry runs, records, turns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision, Pending};
use tool_runtime::journal::{Journal, MemoryJournal, Query, State};
use tool_runtime::{
    CancellationToken, Confirm, Context, Deadline, Dispatcher, Effect, ErrorKind, HandlerError, Limit, Limiter,
    Manifest, Policy, Progress, Question, Spill, ToolCall, ToolResult, Update, Verdict, What, tool,
};

static ERASED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Erase a host.
#[tool(name = "pipeline.erase", sensitive)]
async fn erase(host: String, #[arg(secret)] password: Option<String>) -> String {
    let _ = password;
    ERASED.lock().unwrap().push(host.clone());
    format!("erased {host}")
}

/// Count up.
#[tool(name = "pipeline.count")]
async fn count(by: u32, #[inject] counter: &Arc<AtomicUsize>) -> usize {
    counter.fetch_add(by as usize, Ordering::SeqCst) + by as usize
}

/// Wait, alone.
#[tool(name = "pipeline.alone", sequential)]
async fn alone(#[inject] log: &Log) -> usize {
    log.enter("alone");
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.leave("alone")
}

/// Wait beside others.
#[tool(name = "pipeline.beside")]
async fn beside(#[inject] log: &Log) -> usize {
    log.enter("beside");
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.leave("beside")
}

/// What the handler knows.
#[tool(name = "pipeline.facts")]
async fn facts(
    #[inject] context: &Context,
    #[inject] deadline: Deadline,
    #[inject] token: CancellationToken,
) -> String {
    assert!(!token.is_cancelled());
    let left = deadline.remaining().is_some_and(|left| left > Duration::from_secs(3));
    format!("{:?} {:?} {:?} {left}", context.conversation(), context.call_id(), context.chat())
}

/// Wait until the call is stopped.
#[tool(name = "pipeline.listen")]
async fn listen(#[inject] token: CancellationToken, #[inject] log: &Log) {
    let log = log.clone();
    tokio::spawn(async move {
        token.cancelled().await;
        log.enter("stopped");
    });
    std::future::pending::<()>().await;
}

/// Say a lot.
#[tool(name = "pipeline.long")]
fn long(lines: usize) -> String {
    "\u{1b}[31mred\u{1b}[0m line\n".repeat(lines)
}

/// Rename a host.
#[tool(name = "pipeline.rename", sensitive, preview = "would_rename")]
fn rename(from: String, to: String) -> String {
    ERASED.lock().unwrap().push(from.clone());
    format!("{from} is {to}")
}

fn would_rename(from: String, to: String) -> Effect {
    Effect::Command(format!("hostnamectl rename {from} {to}"))
}

/// Be stuck on a thread.
#[tool(name = "pipeline.stuck", blocking)]
fn stuck() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Report and answer.
#[tool(name = "pipeline.report")]
async fn report(#[inject] progress: &Progress) -> &'static str {
    progress.report(json!({"done": 1}));
    "done"
}

/// Never be content.
#[tool(name = "pipeline.again")]
async fn again(host: String) -> Result<String, HandlerError> {
    if host == "one" { Ok(host) } else { Err(HandlerError::retry("Name one host.")) }
}

/// Who is in, and how many there were at most.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>, Arc<AtomicUsize>);

impl Log {
    fn enter(&self, who: &'static str) {
        self.0.lock().unwrap().push(who);
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    fn leave(&self, _: &'static str) -> usize {
        self.1.fetch_sub(1, Ordering::SeqCst)
    }
}

fn builder() -> tool_runtime::Builder {
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| name.starts_with("pipeline.")).map(|(n, t)| (n.to_owned(), t.clone())).collect();
    Dispatcher::builder().manifest(ours).value("counter", Arc::new(AtomicUsize::new(0))).value("log", Log::default())
}

fn erased(host: &str) -> usize {
    ERASED.lock().unwrap().iter().filter(|known| *known == host).count()
}

async fn erase_on(tools: &Dispatcher, host: &str) -> ToolResult {
    tools.call(ToolCall::new("pipeline.erase", json!({"host": host}))).await
}

fn kind(result: &ToolResult) -> ErrorKind {
    result.error.as_ref().unwrap_or_else(|| panic!("{result:?}")).kind
}

fn answering(decision: Decision) -> impl Confirm {
    confirm::from_fn(move |_| {
        let decision = decision.clone();
        async move { decision }
    })
}

#[tokio::test]
async fn without_somebody_to_ask_what_is_sensitive_is_refused() {
    let tools = builder().build().unwrap();
    let result = erase_on(&tools, "nobody").await;
    assert_eq!(kind(&result), ErrorKind::Refused);
    assert!(result.output.contains("nobody to ask"), "{}", result.output);
    assert_eq!(erased("nobody"), 0);
    // What is not sensitive runs.
    assert!(tools.call(ToolCall::new("pipeline.count", json!({"by": 2}))).await.success);
    let bold = builder().policy(Policy::Yolo).build().unwrap();
    assert!(erase_on(&bold, "yolo").await.success);
}

#[tokio::test]
async fn each_decision_does_what_it_says() {
    for (decision, host, expected, runs) in [
        (Decision::Run, "d-run", None, 1),
        (Decision::Refuse(Some("not today".into())), "d-refuse", Some(ErrorKind::Refused), 0),
        (Decision::Abort, "d-abort", Some(ErrorKind::Aborted), 0),
    ] {
        let tools = builder().confirm(answering(decision)).build().unwrap();
        let result = erase_on(&tools, host).await;
        assert_eq!(result.error.as_ref().map(|error| error.kind), expected, "{result:?}");
        assert_eq!(erased(host), runs, "{host}");
    }
    let tools = builder().confirm(answering(Decision::Edit(json!({"host": "d-edited"})))).build().unwrap();
    let result = erase_on(&tools, "d-original").await;
    assert_eq!(result.output, "erased d-edited");
    assert_eq!((erased("d-original"), erased("d-edited")), (0, 1));
    let tools = builder().confirm(answering(Decision::Edit(json!({"hots": 1})))).build().unwrap();
    let result = erase_on(&tools, "d-wrong").await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert!(result.output.starts_with("The edited arguments are wrong."), "{}", result.output);
}

#[tokio::test]
async fn what_is_asked_is_mended_and_is_what_runs() {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = asked.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        seen.lock().unwrap().push(question.arguments.clone());
        async { Decision::Run }
    });
    let tools = builder().policy(Policy::ConfirmAll).confirm(confirm).build().unwrap();
    let result = tools.call(ToolCall::from_text("pipeline.count", r#"{"by": "3"}"#)).await;
    assert_eq!(result.output, "3");
    assert_eq!(*asked.lock().unwrap(), [json!({"by": 3})]);
    assert_eq!(result.metadata.get("repairs").unwrap()[0]["path"], "by");
    // What is wrong is never asked about.
    let result = tools.call(ToolCall::from_text("pipeline.count", r#"{"by": "three"}"#)).await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_policy_can_look_at_the_arguments() {
    let policy = Policy::custom(|_, _, arguments| match arguments["by"].as_u64() {
        Some(0..10) => Verdict::Run,
        Some(10..100) => Verdict::Ask,
        _ => Verdict::Refuse("that is too much".into()),
    });
    let tools = builder().policy(policy).confirm(answering(Decision::Refuse(None))).build().unwrap();
    let count = async |by: u32| tools.call(ToolCall::new("pipeline.count", json!({"by": by}))).await;
    assert!(count(5).await.success);
    assert!(count(50).await.output.contains("was refused"));
    assert!(count(500).await.output.contains("too much"));
}

#[tokio::test]
async fn a_call_can_wait_for_consent() {
    let questions: Arc<Mutex<Vec<Question>>> = Arc::default();
    let kept = questions.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        kept.lock().unwrap().push(question);
        async { Decision::Pending(Pending::new("token-1", std::time::SystemTime::now() + Duration::from_secs(60))) }
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let call = ToolCall::new("pipeline.erase", json!({"host": "later"})).id("call_1").conversation("chat");
    let calls = [call, ToolCall::new("pipeline.count", json!({"by": 1}))];
    let results = tools.call_all(calls).await;
    assert_eq!(kind(&results[0]), ErrorKind::Pending);
    assert_eq!(results[0].metadata.get("token"), Some(&json!("token-1")));
    assert!(results[1].success, "others go on");
    assert_eq!(erased("later"), 0);

    let question = questions.lock().unwrap().pop().unwrap();
    assert_eq!((question.call_id.as_deref(), question.conversation.as_deref()), (Some("call_1"), Some("chat")));
    // Consent to something else does not count.
    let mut other = question.clone();
    let mut definition = tool_runtime::ToolDefinition::clone(&other.definition);
    definition.description = "Look at a host.".into();
    other.definition = Arc::new(definition);
    assert_eq!(kind(&tools.approve(other).await), ErrorKind::Refused);
    assert_eq!(erased("later"), 0);
    assert_eq!(tools.approve(question.clone()).await.output, "erased later");
    assert_eq!(tools.approve_with(question, json!({"host": "edited later"})).await.output, "erased edited later");
}

#[tokio::test]
async fn a_dry_run_runs_nothing_and_asks_nobody() {
    let tools = builder().dry_run(true).build().unwrap();
    let call = ToolCall::new("pipeline.erase", json!({"host": "dry", "password": "hush"}));
    let result = tools.call(call).await;
    assert!(result.success && result.output.contains("would run"), "{}", result.output);
    assert!(!result.output.contains("hush"), "{}", result.output);
    assert_eq!(erased("dry"), 0);
    assert_eq!(kind(&tools.call(ToolCall::new("pipeline.erase", json!({}))).await), ErrorKind::InvalidArguments);
    let tools = builder().build().unwrap();
    assert!(tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).dry_run().await.output.contains("would run"));
    assert_eq!(tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await.output, "1");
}

#[tokio::test]
async fn a_call_on_record_does_not_run_again() {
    let journal = Arc::new(MemoryJournal::new());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let confirm = confirm::from_fn(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Decision::Run }
    });
    let tools = builder().journal(journal.clone()).confirm(confirm).build().unwrap();
    let call =
        || ToolCall::new("pipeline.erase", json!({"host": "once", "password": "hush"})).id("1").conversation("c");
    let first = tools.call(call()).await;
    let again = tools.call(call()).await;
    assert_eq!((first.output.as_str(), again.output.as_str()), ("erased once", "erased once"));
    assert_eq!(again.metadata.get("replayed"), Some(&json!(true)));
    assert_eq!((erased("once"), asked.load(Ordering::SeqCst)), (1, 1));
    let entries = journal.entries(Query::newest(10)).await.unwrap();
    assert!(matches!(entries[0].state, State::Finished(_)));
    assert_eq!(entries[0].decision.as_deref(), Some("confirmed"));
    assert!(!format!("{entries:?}").contains("hush"));
}

#[tokio::test]
async fn a_call_that_is_dropped_is_recorded_too() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder().journal(journal.clone()).build().unwrap();
    let call = ToolCall::new("pipeline.listen", json!({})).id("1").conversation("c");
    let log = Log::default();
    drop(tokio::time::timeout(Duration::from_millis(30), tools.call(call)).await);
    drop(log);
    for _ in 0..100 {
        let entries = journal.entries(Query::newest(10)).await.unwrap();
        if let State::Finished(finished) = &entries[0].state {
            assert_eq!(kind(&finished.result), ErrorKind::Cancelled);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("its end is not on record");
}

#[tokio::test]
async fn a_handler_knows_its_call() {
    let tools = builder().build().unwrap();
    let call = ToolCall::new("pipeline.facts", json!({})).id("7").conversation("c").channel("telegram", "42");
    let result = tools.call(call).timeout(Duration::from_secs(5)).await;
    assert_eq!(result.output, r#"Some("c") Some("7") Some("42") true"#);
}

#[tokio::test]
async fn a_handler_hears_that_it_is_stopped() {
    let log = Log::default();
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| *name == "pipeline.listen").map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let tools = Dispatcher::builder().manifest(ours).value("log", log.clone()).build().unwrap();
    let result = tools.call(ToolCall::new("pipeline.listen", json!({}))).timeout(Duration::from_millis(20)).await;
    assert_eq!(kind(&result), ErrorKind::TimedOut);
    for _ in 0..100 {
        if log.0.lock().unwrap().contains(&"stopped") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it was not told");
}

#[tokio::test]
async fn the_calls_of_a_turn_run_side_by_side_but_for_those_that_are_sequential() {
    let log = Log::default();
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| name.starts_with("pipeline.")).map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let tools = Dispatcher::builder()
        .manifest(ours)
        .value("counter", Arc::new(AtomicUsize::new(0)))
        .value("log", log.clone())
        .build()
        .unwrap();
    let names = ["beside", "beside", "beside", "alone", "beside", "beside"];
    let results = tools.call_all(names.map(|name| ToolCall::new(format!("pipeline.{name}"), json!({})))).await;
    // Each says how many there were when it left.
    let outputs: Vec<u32> = results.iter().map(|result| result.output.parse().unwrap()).collect();
    assert_eq!(outputs[3], 1, "{outputs:?}");
    assert_eq!(outputs[..3].iter().max(), Some(&3), "{outputs:?}");
    let order = log.0.lock().unwrap().clone();
    assert_eq!(order, ["beside", "beside", "beside", "alone", "beside", "beside"]);
    let results = tools
        .call_all(names[..3].iter().map(|name| ToolCall::new(format!("pipeline.{name}"), json!({}))))
        .concurrency(std::num::NonZeroUsize::MIN)
        .each(|call| call.timeout(Duration::from_secs(1)))
        .await;
    assert!(results.iter().all(|result| result.output == "1"), "{results:?}");
}

#[tokio::test]
async fn a_preview_is_shown_before_anything_runs() {
    let previews: Arc<Mutex<Vec<Option<Value>>>> = Arc::default();
    let seen = previews.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        seen.lock().unwrap().push(question.preview);
        async { Decision::Refuse(None) }
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let call = || ToolCall::new("pipeline.rename", json!({"from": "previewed", "to": "b"}));
    assert_eq!(kind(&tools.call(call()).await), ErrorKind::Refused);
    let expected = json!({"command": "hostnamectl rename previewed b"});
    assert_eq!(*previews.lock().unwrap(), [Some(expected.clone())]);
    let dry = tools.call(call()).dry_run().await;
    assert_eq!(dry.metadata.get("preview"), Some(&expected));
    assert_eq!(erased("previewed"), 0);
}

#[tokio::test]
async fn long_results_are_cleaned_and_shortened() {
    let tools = builder().spill(Spill::over(1_000)).build().unwrap();
    let call = |lines: usize| ToolCall::new("pipeline.long", json!({"lines": lines})).conversation("c");
    assert_eq!(tools.call(call(1)).await.output, "red line\n");
    let long = tools.call(call(5_000)).await;
    assert!(long.success && long.output.len() <= 1_000, "{}", long.output.len());
    let handle = long.metadata.get("spilled").unwrap()["handle"].as_str().unwrap().to_owned();
    let read = ToolCall::new("read_result", json!({"handle": handle, "offset": 4_000, "limit": 1})).conversation("c");
    assert!(tools.call(read).await.output.starts_with("red line\n"));
    let strange = ToolCall::new("read_result", json!({"handle": handle})).conversation("d");
    assert!(!tools.call(strange).await.success, "another conversation reads nothing");
}

#[tokio::test]
async fn limits_are_kept() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(2))).build().unwrap();
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert!(count().await.success && count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}

/// A thread that cannot be stopped counts until it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_handler_holds_its_place_beyond_its_deadline() {
    let tools = builder().concurrency(1, 0).build().unwrap();
    let stuck = tools.call(ToolCall::new("pipeline.stuck", json!({}))).timeout(Duration::from_millis(30)).await;
    assert_eq!(kind(&stuck), ErrorKind::OutcomeUnknown);
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert_eq!(kind(&count().await), ErrorKind::Busy);
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if count().await.success {
            return;
        }
    }
    panic!("its place was never given back");
}

#[tokio::test]
async fn whoever_watches_sees_it_all() {
    let tools = builder().policy(Policy::Yolo).build().unwrap();
    let mut events = tools.events().subscribe();
    tools.call(ToolCall::new("pipeline.report", json!({})).id("7")).await;
    tools.call(ToolCall::new("pipeline.erase", json!({"host": "watched", "password": "hush"}))).await;
    let mut seen = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        let name = match &event.what {
            What::Started { arguments } => format!("started {arguments}"),
            What::Progress { progress } => format!("progress {progress}"),
            What::Finished { success, .. } => format!("finished {success}"),
            other => format!("{other:?}"),
        };
        seen.push(format!("{} {name}", event.call.tool));
    }
    assert_eq!(
        seen,
        [
            "pipeline.report started {}",
            r#"pipeline.report progress {"done":1}"#,
            "pipeline.report finished true",
            r#"pipeline.erase started {"host":"watched","password":"***"}"#,
            "pipeline.erase finished true",
        ]
    );
}

#[tokio::test]
async fn trying_again_has_an_end() {
    let tools = builder().retries(2).build().unwrap();
    let again = async |host: &str| {
        let call = ToolCall::new("pipeline.again", json!({"host": host})).conversation("c");
        tools.call(call).await.error.map(|error| error.kind)
    };
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
    assert_eq!(again("b").await, Some(ErrorKind::Retry));
    assert_eq!(again("c").await, Some(ErrorKind::Fatal));
    assert_eq!(again("one").await, None);
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
}

#[test]
fn calls_are_counted_and_timed() {
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let collected = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let tools = builder().build().unwrap();
            for name in ["pipeline.count", "pipeline.count", "pipeline.erase", "made.up"] {
                tools.call(ToolCall::new(name, json!({"by": 1, "host": "h"}))).await;
            }
        });
    });
    let mut seen: Vec<String> = Vec::new();
    for (key, _, _, value) in collected.snapshot().into_vec() {
        let labels: Vec<String> = key.key().labels().map(|l| format!("{}={}", l.key(), l.value())).collect();
        if let metrics_util::debugging::DebugValue::Counter(count) = value {
            seen.push(format!("{} {} {count}", key.key().name(), labels.join(" ")));
        }
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "tool_calls_total tool=pipeline.count outcome=invalid_arguments 2",
            "tool_calls_total tool=pipeline.erase outcome=invalid_arguments 1",
            "tool_calls_total tool=unknown outcome=unknown_tool 1",
        ]
    );
}

#[tokio::test]
async fn what_cannot_be_shown_does_not_run() {
    let policy = Policy::custom(|_, _, arguments| match arguments["host"].as_str() {
        Some(_) => Verdict::Refuse("no hosts".into()),
        None => Verdict::Run,
    });
    let tools = builder().policy(policy).allow_unknown_arguments().build().unwrap();
    for odd in [r#"{"host": "odd", "z": 1e999}"#, r#"{"host": "odd", "z": "\ud800"}"#, r#"{"host": "odd"}"#] {
        assert!(!tools.call(ToolCall::from_text("pipeline.erase", odd)).await.success, "{odd}");
    }
    assert_eq!(erased("odd"), 0);
}

#[tokio::test]
async fn consent_is_no_leave_to_do_what_the_policy_forbids() {
    let policy = Policy::custom(|_, _, arguments| match arguments["host"].as_str() {
        Some("production") => Verdict::Refuse("not there".into()),
        _ => Verdict::Ask,
    });
    let edit = answering(Decision::Edit(json!({"host": "production"})));
    let tools = builder().policy(policy).confirm(edit).build().unwrap();
    let result = erase_on(&tools, "staging").await;
    assert_eq!((kind(&result), erased("production")), (ErrorKind::Refused, 0));
}

#[tokio::test]
async fn an_edited_call_that_comes_again_is_known() {
    let confirm = answering(Decision::Edit(json!({"host": "edited once"})));
    let tools = builder().journal(MemoryJournal::new()).confirm(confirm).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "original"})).id("1").conversation("c");
    assert_eq!(tools.call(call()).await.output, "erased edited once");
    assert_eq!(tools.call(call()).await.metadata.get("replayed"), Some(&json!(true)));
    assert_eq!(erased("edited once"), 1);
}

#[tokio::test]
async fn an_abort_stops_the_rest_of_the_turn() {
    let tools = builder().confirm(answering(Decision::Abort)).build().unwrap();
    let calls = [
        ToolCall::new("pipeline.erase", json!({"host": "aborted"})),
        ToolCall::new("pipeline.alone", json!({})),
        ToolCall::new("pipeline.count", json!({"by": 1})),
    ];
    let results = tools.call_all(calls).concurrency(std::num::NonZeroUsize::MIN).await;
    assert!(results.iter().all(|result| kind(result) == ErrorKind::Aborted), "{results:?}");
}

#[tokio::test]
async fn what_does_not_run_does_not_count() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(1))).build().unwrap();
    let count = || tools.call(ToolCall::new("pipeline.count", json!({"by": 1})));
    assert!(count().dry_run().await.success);
    assert!(!tools.call(ToolCall::new("pipeline.count", json!({"by": "x"}))).await.success);
    assert!(count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}
