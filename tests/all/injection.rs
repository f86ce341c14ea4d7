//! Providers, values, services and per-call values; scopes that finish with the right outcome; what `build()` reports.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_runtime::{
    BuildError, Builder, CancellationToken, Dispatcher, ErrorKind, InjectError, Manifest, Outcome, Scope, ToolCall,
    tool, tool_class,
};

/// The tools of this file whose handler contains `part`.
fn only(part: &str) -> Manifest {
    let mut tools = Manifest::default();
    for (name, tool) in Manifest::linked().iter() {
        if tool.handler.contains("::injection::") && tool.handler.contains(part) {
            tools.insert(name, tool.clone());
        }
    }
    assert!(!tools.is_empty(), "no tool with {part:?}");
    tools
}

fn tools(part: &str) -> Builder {
    Dispatcher::builder().manifest(only(part))
}

/// A session as an application has it: shared inside a call, ended once.
#[derive(Clone)]
struct Session {
    id: usize,
    log: Arc<Mutex<Vec<String>>>,
}

impl Session {
    fn write(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(format!("{}: {}", self.id, what.into()));
    }
}

#[derive(Clone)]
struct Repository {
    session: Session,
}

#[derive(Clone)]
struct CurrentUser(&'static str);

/// Not `Clone`, like a database transaction.
struct Transaction {
    written: Vec<String>,
}

struct Store {
    repository: Repository,
}

#[tool_class(prefix = "store")]
impl Store {
    pub fn new(repository: Repository) -> Self {
        repository.session.write("new");
        Self { repository }
    }

    /// Saves a text.
    pub async fn save(&self, text: &str, session: &Session) -> usize {
        session.write(format!("save {text}"));
        self.repository.session.id
    }

    pub async fn fail(&self) -> Result<(), String> {
        self.repository.session.write("fail");
        Err("it went wrong".to_owned())
    }

    pub async fn panic(&self) {
        self.repository.session.write("panic");
        panic!("at the disco");
    }

    pub async fn hang(&self) {
        self.repository.session.write("hang");
        std::future::pending::<()>().await;
    }

    #[tool(blocking)]
    pub fn block(&self, milliseconds: u64) -> &'static str {
        std::thread::sleep(Duration::from_millis(milliseconds));
        self.repository.session.write("unblocked");
        "done"
    }
}

/// Providers for [`Store`], which write down what happens to the sessions.
fn store(log: &Arc<Mutex<Vec<String>>>) -> Dispatcher {
    let (started, ended) = (log.clone(), log.clone());
    let count = Arc::new(AtomicUsize::new(0));
    tools("::Store::")
        .provide("session", move |_| {
            let log = started.clone();
            let id = count.fetch_add(1, Ordering::SeqCst);
            async move {
                log.lock().unwrap().push(format!("{id}: begin"));
                Ok::<_, String>(Session { id, log })
            }
        })
        .finish("session", move |session: Session, outcome| {
            let log = ended.clone();
            async move {
                let end = if outcome.is_success() { "commit".to_owned() } else { format!("rollback {outcome:?}") };
                log.lock().unwrap().push(format!("{}: {end}", session.id));
            }
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .build()
        .unwrap()
}

fn lines(log: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    log.lock().unwrap().drain(..).collect()
}

#[tokio::test]
async fn a_provider_runs_once_per_call_and_its_value_is_finished_with_the_outcome() {
    let log = Arc::default();
    let tools = store(&log);

    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!((result.success, result.output.as_str()), (true, "0"));
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: save a", "0: commit"]);

    let result = tools.call(ToolCall::new("store.fail", json!({}))).await;
    assert_eq!((result.success, result.output.as_str()), (false, "it went wrong"));
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: fail", "1: rollback Failed"]);

    let result = tools.call(ToolCall::new("store.panic", json!({}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Panicked);
    assert_eq!(result.output, "`store.panic` panicked: at the disco");
    assert_eq!(lines(&log), ["2: begin", "2: new", "2: panic", "2: rollback Panicked"]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_and_a_cancellation_roll_back() {
    let log = Arc::default();
    let tools = store(&log);

    let result = tools.call(ToolCall::new("store.hang", json!({}))).timeout(Duration::from_secs(2)).await;
    assert_eq!(result.output, "`store.hang` did not finish within 2s and was stopped.");
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: hang", "0: rollback TimedOut"]);

    let token = CancellationToken::new();
    let call = tools.call(ToolCall::new("store.hang", json!({}))).cancel(token.clone());
    let (result, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: hang", "1: rollback Cancelled"]);
}

#[tokio::test]
async fn a_dropped_call_is_finished_in_the_background() {
    let log = Arc::default();
    let tools = store(&log);
    let call = tools.call(ToolCall::new("store.hang", json!({})));
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    for _ in 0..100 {
        if log.lock().unwrap().iter().any(|line| line.contains("rollback")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(lines(&log), ["0: begin", "0: new", "0: hang", "0: rollback Cancelled"]);
}

#[tokio::test]
async fn wrong_arguments_open_no_session() {
    let log = Arc::default();
    let tools = store(&log);
    let result = tools.call(ToolCall::new("store.save", json!({"text": 5}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::InvalidArguments);
    assert!(lines(&log).is_empty());
}

#[tokio::test]
async fn a_blocking_handler_past_its_deadline_keeps_its_scope_until_it_ends() {
    let log = Arc::default();
    let tools = store(&log);
    let call = ToolCall::new("store.block", json!({"milliseconds": 300}));
    let result = tools.call(call).timeout(Duration::from_millis(30)).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::OutcomeUnknown);
    assert!(result.output.contains("may still take effect"), "{}", result.output);
    assert_eq!(lines(&log), ["0: begin", "0: new"]);
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(lines(&log), ["0: unblocked", "0: rollback TimedOut"]);

    let result = tools.call(ToolCall::new("store.block", json!({"milliseconds": 1}))).await;
    assert_eq!(result.output, "done");
    assert_eq!(lines(&log), ["1: begin", "1: new", "1: unblocked", "1: commit"]);
}

#[tokio::test]
async fn calls_at_once_share_nothing() {
    let log = Arc::default();
    let tools = store(&log);
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { tools.call(ToolCall::new("store.save", json!({"text": "x"}))).await.output })
        })
        .collect();
    let mut ids = Vec::new();
    for call in calls {
        ids.push(call.await.unwrap().parse::<usize>().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
    assert_eq!(lines(&log).iter().filter(|line| line.ends_with("commit")).count(), 50);
}

/// Lends a transaction for writing, beside a user and a fixed text.
#[tool(name = "ledger.write")]
async fn ledger_write(
    text: String,
    #[inject] transaction: &mut Transaction,
    #[inject] user: &CurrentUser,
    #[inject] ledger_name: &str,
) -> String {
    transaction.written.push(text);
    tokio::task::yield_now().await;
    format!("{} wrote to {ledger_name}: {:?}", user.0, transaction.written)
}

fn ledger(ends: &Arc<Mutex<Vec<String>>>, fail_commit: bool) -> Builder {
    let ends = ends.clone();
    tools("::ledger_write")
        .provide("transaction", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .finish("transaction", move |transaction: Transaction, outcome: Outcome| {
            let ends = ends.clone();
            async move {
                ends.lock().unwrap().push(format!("{outcome:?} {:?}", transaction.written));
                if fail_commit { Err("disk full") } else { Ok(()) }
            }
        })
        .per_call::<CurrentUser>()
        .value("ledger_name", String::from("main"))
}

#[tokio::test]
async fn a_value_lent_for_writing_comes_back_to_be_finished() {
    let ends = Arc::default();
    let tools = ledger(&ends, false).build().unwrap();
    let call = ToolCall::new("ledger.write", json!({"text": "a"}));
    let result = tools.call(call.clone()).with(CurrentUser("ada")).await;
    assert_eq!(result.output, r#"ada wrote to main: ["a"]"#);
    assert_eq!(lines(&ends), [r#"Success ["a"]"#]);

    let result = tools.call(call).await;
    assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Injection);
    assert!(result.output.contains("no `CurrentUser` came with the call"), "{}", result.output);
    assert_eq!(lines(&ends), ["Failed []"]);
}

#[tokio::test]
async fn a_failed_commit_makes_the_call_a_failure() {
    let ends = Arc::default();
    let tools = ledger(&ends, true).build().unwrap();
    let result = tools.call(ToolCall::new("ledger.write", json!({"text": "a"}))).with(CurrentUser("ada")).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Finish);
    assert!(result.output.contains("disk full"), "{}", result.output);
}

/// Moves a value out that cannot be cloned.
#[tool(name = "moved.out")]
fn moved_out(#[inject] transaction: Transaction) -> usize {
    transaction.written.len()
}

#[tokio::test]
async fn a_value_that_is_not_clone_is_moved_to_its_only_owner() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: vec!["x".into()] }) };
    let tools = tools("::moved_out").provide("transaction", make).build().unwrap();
    assert_eq!(tools.call(ToolCall::from_text("moved.out", "")).await.output, "1");
    assert_eq!(tools.call(ToolCall::from_text("moved.out", "{}")).await.output, "1");
}

/// Takes a service of the application in two forms.
#[tool(name = "service.twice")]
fn service_twice(#[inject] one: &Counter, #[inject] other: Arc<Counter>) -> usize {
    one.0.fetch_add(1, Ordering::SeqCst);
    other.0.fetch_add(1, Ordering::SeqCst) + 1
}

#[derive(Default)]
struct Counter(AtomicUsize);

#[tool_class(manual)]
impl Counter {
    /// Counts one up.
    pub fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Counts one up, by `Arc`.
    pub async fn up_arc(self: Arc<Self>) -> usize {
        tokio::task::yield_now().await;
        self.up()
    }
}

#[tokio::test]
async fn a_service_is_shared_by_all_calls_and_can_be_injected() {
    let tools = tools("::service_twice").service(Counter::default()).build().unwrap();
    assert_eq!(tools.call(ToolCall::new("service.twice", json!({}))).await.output, "2");
    assert_eq!(tools.call(ToolCall::new("service.twice", json!({}))).await.output, "4");
    assert_eq!(tools.call(ToolCall::new("counter.up", json!({}))).await.output, "5");
    assert_eq!(tools.call(ToolCall::new("counter.up_arc", json!({}))).await.output, "6");
}

#[test]
fn a_manual_class_is_offered_only_with_its_service() {
    assert!(Manifest::linked().get("counter.up").is_none());
    let with = tools("::service_twice").service(Counter::default()).build().unwrap();
    assert!(with.definition("counter.up").is_some());
}

struct Draft {
    words: Vec<String>,
}

#[tool_class]
impl Draft {
    pub async fn new(#[inject] opening: &str) -> Result<Self, String> {
        tokio::task::yield_now().await;
        if opening.is_empty() {
            return Err("nothing to begin with".to_owned());
        }
        Ok(Self { words: vec![opening.to_owned()] })
    }

    pub fn append(&mut self, word: String) -> String {
        self.words.push(word);
        self.words.join(" ")
    }

    pub fn consume(self) -> usize {
        self.words.len()
    }

    pub fn shared(self: Arc<Self>) -> usize {
        self.words.len()
    }
}

#[tokio::test]
async fn an_async_fallible_constructor_makes_an_instance_for_each_call() {
    let good = tools("::Draft::").value("opening", String::from("Once")).build().unwrap();
    for _ in 0..2 {
        assert_eq!(good.call(ToolCall::new("draft.append", json!({"word": "upon"}))).await.output, "Once upon");
    }
    assert_eq!(good.call(ToolCall::new("draft.consume", json!({}))).await.output, "1");
    assert_eq!(good.call(ToolCall::new("draft.shared", json!({}))).await.output, "1");

    let bad = tools("::Draft::").value("opening", String::new()).build().unwrap();
    let result = bad.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.output, "`draft.consume` did not run: `Draft::new` failed: nothing to begin with.");
}

#[test]
fn a_shared_instance_is_not_lent_for_writing_nor_taken() {
    let error = tools("::Draft::").service(Draft { words: Vec::new() }).build().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`draft.append`: it takes `&mut self`, but all calls share the `Draft`"), "{text}");
    assert!(text.contains("`draft.consume`: it takes `self`"), "{text}");
    assert_eq!(error.problems().len(), 2, "{text}");
}

/// Wants what nobody provides.
#[tool(name = "needy.one")]
fn needy(session: &Session, #[inject] user: CurrentUser, #[inject] names: &[String]) -> usize {
    let _ = (session, user);
    names.len()
}

/// Wants two at once.
#[tool(name = "greedy.two")]
fn greedy(#[inject] one: &mut Transaction, #[inject] other: &mut Transaction) -> usize {
    one.written.len() + other.written.len()
}

fn problems(error: BuildError) -> Vec<String> {
    error.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn build_reports_all_that_is_missing_or_of_the_wrong_type() {
    let error = tools("needy").value("session", 5_u8).build().unwrap_err();
    let problems = problems(error);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(
        problems[0].contains("the parameter `session` of type `Session`: the value \"session\" is a `u8`"),
        "{}",
        problems[0]
    );
    assert!(
        problems[1].contains("the parameter `user` of type `CurrentUser`: nothing of type `CurrentUser` is provided")
    );
    assert!(problems[1].contains(".per_call::<CurrentUser>()"));
    assert!(problems[2].contains("`names` of type `Vec<String>`"), "{}", problems[2]);
}

#[test]
fn two_that_want_one_value_for_writing_are_an_error() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: Vec::new() }) };
    let error = tools("greedy").provide("transaction", make).build().unwrap_err();
    let problems = problems(error);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].contains("the parameters `one` and `other` want the same value, the provider \"transaction\""));
}

#[test]
fn a_shared_value_is_not_lent_for_writing() {
    let error =
        tools("greedy").value("one", Transaction { written: Vec::new() }).value("other", 1).build().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`one: &mut Transaction` cannot be had: all calls share the value \"one\""), "{text}");
    assert!(text.contains("the value \"other\" is a `i32`"), "{text}");
}

#[test]
fn a_value_that_is_moved_out_cannot_be_finished() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: Vec::new() }) };
    let error = tools("::moved_out")
        .provide("transaction", make)
        .finish("transaction", |_: Transaction, _| async {})
        .finish("sesion", |_: Session, _| async {})
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`.finish(..)` wants it back"), "{text}");
    assert!(text.contains("`.finish(\"sesion\", ..)` has no provider of that name"), "{text}");
}

#[test]
fn a_type_that_is_provided_twice_is_found_by_name_only() {
    let error = tools("::moved_out")
        .provide("first", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .provide("second", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .build()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`Transaction` is provided more than once: the provider \"first\", the provider \"second\"")
    );
}

#[tokio::test]
async fn a_circle_of_providers_is_named() {
    let tools = tools("::Store::save")
        .provide("session", |scope: Scope| async move {
            scope.get::<Repository>("repository").await.map(|repository| repository.session)
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .build()
        .unwrap();
    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Injection);
    assert!(result.output.contains("in a circle: session -> repository -> session"), "{}", result.output);

    let error = tools.check().await.unwrap_err();
    assert!(error.to_string().contains("in a circle"), "{error}");
}

#[tokio::test]
async fn providers_that_ask_at_once_get_the_same_value() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let tools = tools("::Draft::consume")
        .provide("base", move |_| {
            let count = count.clone();
            async move {
                tokio::task::yield_now().await;
                Ok::<_, String>(count.fetch_add(1, Ordering::SeqCst))
            }
        })
        .provide("opening", |scope: Scope| async move {
            let (one, other) = tokio::join!(scope.get::<usize>("base"), scope.get::<usize>("base"));
            Ok::<_, InjectError>(format!("{}{}", one?, other?))
        })
        .build()
        .unwrap();
    assert!(tools.call(ToolCall::new("draft.consume", json!({}))).await.success);
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn check_finds_what_closures_hide_and_rolls_back() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Store::save")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 0, log: Arc::default() }) })
        .finish("session", move |_: Session, outcome| {
            log.lock().unwrap().push(format!("{outcome:?}"));
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("sesion").await? })
        })
        .provide("odd", |scope: Scope| async move { scope.get::<u8>("session").await })
        .build()
        .unwrap();
    let error = tools.check().await.unwrap_err().to_string();
    assert!(error.contains("nothing is provided as \"sesion\"; did you mean \"session\"?"), "{error}");
    assert!(error.contains("\"session\" is a all::injection::Session, not a u8"), "{error}");
    assert_eq!(lines(&ends), ["Cancelled"]);
}

#[tokio::test]
async fn a_provider_that_fails_or_panics_answers_the_call() {
    let failing =
        tools("::Draft::consume").provide("opening", |_| async { Err::<String, _>("no database") }).build().unwrap();
    let result = failing.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.output, "`draft.consume` did not run: the provider \"opening\" failed: no database.");

    let panicking = tools("::Draft::consume")
        .provide("opening", |_| async {
            if true {
                panic!("out of luck");
            }
            Ok::<String, String>(String::new())
        })
        .build()
        .unwrap();
    let result = panicking.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Injection, "the handler did not run");
    assert!(result.output.contains("the provider \"opening\" failed: it panicked: out of luck"), "{}", result.output);
    assert!(panicking.check().await.unwrap_err().to_string().contains("out of luck"));
}

#[tokio::test]
async fn a_finish_hook_that_panics_fails_the_call_and_the_others_run() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Store::save")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 7, log: Arc::default() }) })
        .finish("session", move |session: Session, outcome| {
            log.lock().unwrap().push(format!("{} {outcome:?}", session.id));
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .finish("repository", |_: Repository, _| async { assert_eq!(1, 2, "in the end") })
        .build()
        .unwrap();
    let result = tools.call(ToolCall::new("store.save", json!({"text": "a"}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Finish);
    assert!(result.output.contains("in the end"), "{}", result.output);
    assert_eq!(lines(&ends), ["7 Failed"], "to an older value, the call has failed");
}

/// Borrows one value in `new`, in the method, and twice there.
struct Lender {
    id: usize,
}

#[tool_class(prefix = "lender")]
impl Lender {
    pub fn new(session: &Session) -> Self {
        Self { id: session.id }
    }

    pub async fn twice(&self, session: &Session, #[inject] other: &Session) -> usize {
        tokio::task::yield_now().await;
        self.id + session.id + other.id
    }
}

#[tokio::test]
async fn a_value_can_be_lent_several_times_and_is_finished_once() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Lender::")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 2, log: Arc::default() }) })
        .finish("session", move |_: Session, outcome| {
            log.lock().unwrap().push(format!("{outcome:?}"));
            async {}
        })
        .build()
        .unwrap();
    assert_eq!(tools.call(ToolCall::new("lender.twice", json!({}))).await.output, "6");
    assert_eq!(lines(&ends), ["Success"]);
}

#[tokio::test]
async fn what_needs_another_value_is_finished_before_it() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let (of_session, of_repository) = (ends.clone(), ends.clone());
    let tools = tools("::Store::fail")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 0, log: Arc::default() }) })
        .finish("session", move |_: Session, _| {
            of_session.lock().unwrap().push("session".to_owned());
            async {}
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .finish("repository", move |_: Repository, _| {
            of_repository.lock().unwrap().push("repository".to_owned());
            async {}
        })
        .build()
        .unwrap();
    tools.call(ToolCall::new("store.fail", json!({}))).await;
    assert_eq!(lines(&ends), ["repository", "session"]);
}

#[tokio::test]
async fn a_scope_that_outlives_its_call_makes_nothing_more() {
    let kept: Arc<Mutex<Option<Scope>>> = Arc::default();
    let keep = kept.clone();
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let tools = tools("::Draft::consume")
        .provide("late", move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, String>(1_u8) }
        })
        .provide("opening", move |scope: Scope| {
            *keep.lock().unwrap() = Some(scope);
            async { Ok::<_, String>(String::from("Once")) }
        })
        .build()
        .unwrap();
    assert!(tools.call(ToolCall::new("draft.consume", json!({}))).await.success);
    let scope = kept.lock().unwrap().take().unwrap();
    assert_eq!(scope.get::<u8>("late").await.unwrap_err().to_string(), "the call is over");
    assert_eq!(made.load(Ordering::SeqCst), 0);
}

#[test]
fn a_runtime_without_time_is_no_reason_to_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let log = Arc::default();
    let tools = store(&log);
    let token = CancellationToken::new();
    let result = runtime.block_on(async {
        let call = tools.call(ToolCall::new("store.hang", json!({}))).cancel(token.clone());
        tokio::join!(call, async { token.cancel() }).0
    });
    assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
    let call = tools.call(ToolCall::new("store.hang", json!({}))).timeout(Duration::from_millis(1));
    assert_eq!(runtime.block_on(call).error.unwrap().kind, ErrorKind::NoRuntime);
}

#[test]
fn a_blocking_handler_that_still_waits_for_a_thread_is_not_run_after_its_call() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(1).build().unwrap();
    let log = Arc::default();
    let tools = store(&log);
    runtime.block_on(async {
        let first = ToolCall::new("store.block", json!({"milliseconds": 200}));
        let second =
            tools.call(ToolCall::new("store.block", json!({"milliseconds": 0}))).timeout(Duration::from_millis(50));
        let (first, second) = tokio::join!(tools.call(first), second);
        assert_eq!(first.output, "done");
        assert_eq!(second.error.unwrap().kind, ErrorKind::TimedOut);
    });
    let lines = lines(&log);
    assert_eq!(lines.iter().filter(|line| line.ends_with("unblocked")).count(), 1, "{lines:?}");
    assert!(lines.contains(&"1: rollback TimedOut".to_owned()), "{lines:?}");
}

#[test]
fn explain_says_where_everything_comes_from() {
    let log = Arc::default();
    let text = store(&log).explain().to_string();
    let save = text.split("\nstore.").find(|part| part.starts_with("save")).unwrap();
    assert!(save.contains("instance  one for each call, from `Store::new`"), "{text}");
    assert!(save.contains("injected  repository: Repository, cloned from the provider \"repository\""), "{text}");
    assert!(save.contains("injected  session: Session, lent from the provider \"session\""), "{text}");
    assert!(text.contains("not offered: all::injection::needy is linked, but not in the manifest"), "{text}");
}
