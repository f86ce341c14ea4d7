//! The model reads an error without its causes, and the log has the whole chain.
//!
//! Each tool fails with a cause that contains a secret. The secret may be in the log, and nowhere else.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::Context as _;
use serde_json::json;
use sqlx::Connection;
use tool_runtime::events::{EventKind, Update};
use tool_runtime::inject::InjectError;
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, FinishedCall, Journal, JournalDecision, JournalEntry, JournalError,
    JournalErrorKind, MemoryJournal, StartedCall,
};
use tool_runtime::{
    Builder, CallOutcome, Dispatcher, HandlerError, Manifest, RuntimeTool, Scope, ToolCall, ToolResult, tool,
    tool_class,
};

/// Part of every cause.
const SECRET: &str = "password=hunter2";

fn cause() -> std::io::Error {
    std::io::Error::other(format!("{SECRET} host=db1"))
}

#[derive(Debug, thiserror::Error)]
enum StockError {
    #[error("the stock cannot be read")]
    Storage(#[source] std::io::Error),
    #[error("the stock cannot be read: {0}")]
    Repeats(#[source] std::io::Error),
}

/// Fails with anyhow.
#[tool(name = "failing.anyhow")]
fn with_anyhow() -> anyhow::Result<u32> {
    Err(cause()).context("the database failed")
}

/// Fails with thiserror.
#[tool(name = "failing.thiserror")]
async fn with_thiserror() -> Result<u32, StockError> {
    Err(StockError::Storage(cause()))
}

/// Fails with an error whose text repeats its cause.
#[tool(name = "failing.repeats")]
fn repeats() -> Result<u32, StockError> {
    Err(StockError::Repeats(std::io::Error::other("disk 7 is full")))
}

/// Fails with a boxed error.
#[tool(name = "failing.boxed")]
fn boxed() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Err(StockError::Storage(cause()).into())
}

/// Fails with `HandlerError` by the operator `?`.
#[tool(name = "failing.question_mark")]
fn question_mark() -> Result<u32, HandlerError> {
    Err(StockError::Storage(cause()))?
}

/// Fails in the database.
#[tool(name = "failing.sqlx")]
async fn with_sqlx() -> Result<i64, sqlx::Error> {
    let mut connection = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::query_scalar("SELECT id FROM orders").fetch_one(&mut connection).await
}

/// An error that can only be displayed.
struct Displayed;

impl std::fmt::Display for Displayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the printer is off")
    }
}

/// Fails with an error that is not an `Error`.
#[tool(name = "failing.displayed")]
fn displayed() -> Result<u32, Displayed> {
    Err(Displayed)
}

/// Fails with a boxed error that cannot be sent to other threads.
#[tool(name = "failing.not_send")]
fn not_send() -> Result<u32, Box<dyn std::error::Error>> {
    Err(StockError::Storage(cause()).into())
}

/// Fails with an error that other parts of the program share.
#[tool(name = "failing.shared")]
fn shared() -> Result<u32, Arc<dyn std::error::Error>> {
    Err(Arc::new(StockError::Storage(cause())))
}

/// An error that borrows from the arguments.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a part")]
struct ParseError<'a> {
    text: &'a str,
    source: std::io::Error,
}

/// Fails with an error that borrows.
#[tool(name = "failing.borrowed")]
fn borrowed(text: &str) -> Result<&str, ParseError<'_>> {
    Err(ParseError { text, source: cause() })
}

type ParsedAs<'a, T> = Result<T, ParseError<'a>>;

/// Fails with an error that borrows, by an alias.
#[tool(name = "failing.alias")]
fn alias(text: &str) -> ParsedAs<'_, u32> {
    Err(ParseError { text, source: cause() })
}

/// Fails on a thread that may block.
#[tool(name = "failing.blocking", blocking)]
fn blocks() -> Result<u32, StockError> {
    Err(StockError::Storage(cause()))
}

/// Fails in the middle of a stream.
#[tool(name = "failing.stream")]
fn streams() -> impl tokio_stream::Stream<Item = Result<u32, StockError>> {
    tokio_stream::iter([Ok(1), Err(StockError::Storage(cause()))])
}

/// Says that a call does not help.
#[tool(name = "failing.fatal")]
fn fatal() -> Result<u32, HandlerError> {
    Err(HandlerError::fatal("the shop is closed").caused_by(cause()))
}

/// Panics with the `Debug` form of an error.
#[tool(name = "failing.panic")]
fn panics() -> u32 {
    let read: Result<u32, std::io::Error> = std::hint::black_box(Err(cause()));
    read.unwrap()
}

#[derive(Clone)]
struct Session;

/// Needs a session.
#[tool(name = "failing.provider")]
async fn needs_session(#[inject] session: &Session) -> &'static str {
    let Session = session;
    "ok"
}

struct Account;

/// Needs an account.
#[tool(name = "failing.explicit")]
async fn needs_account(#[inject] account: &Account) -> &'static str {
    let Account = account;
    "ok"
}

struct Ticket;

/// Needs a ticket.
#[tool(name = "failing.question_mark_provider")]
async fn needs_ticket(#[inject] ticket: &Ticket) -> &'static str {
    let Ticket = ticket;
    "ok"
}

struct Transaction;

/// Needs a commit.
#[tool(name = "failing.commit")]
async fn needs_commit(#[inject] transaction: &Transaction) -> &'static str {
    let Transaction = transaction;
    "ok"
}

struct Opened;

#[tool_class(prefix = "failing", per_call)]
impl Opened {
    fn new() -> Result<Self, std::io::Error> {
        Err(cause())
    }

    /// Needs an instance.
    pub fn constructor(&self) -> u32 {
        1
    }
}

fn tools(journal: impl Journal) -> Builder {
    let own = Manifest::linked();
    let own = own.iter().filter(|(_, tool)| tool.handler.contains("::error_texts::"));
    Dispatcher::builder()
        .manifest(own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<Manifest>())
        .journal(journal)
        .provide("session", |_| async { Err::<Session, _>(cause()) })
        .provide("account", |_| async { Err::<Account, _>(HandlerError::fatal("log in first")) })
        .provide("ticket", |_| async {
            Err::<(), _>(cause())?;
            Ok::<_, HandlerError>(Ticket)
        })
        .tool(RuntimeTool::scoped("failing.scope", "Asks its scope.", |(), scope: Scope| async move {
            let Session = scope.get("session").await?;
            Ok::<_, InjectError>("ok")
        }))
        .provide("transaction", |_| async { Ok::<_, std::io::Error>(Transaction) })
        .finish("transaction", |_: Transaction, outcome: CallOutcome| async move {
            if outcome.is_success() { Err(cause()) } else { Ok(()) }
        })
}

/// Collects the log as `tracing_subscriber::fmt` writes it.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap())).unwrap()
    }

    fn record(&self) -> tracing::subscriber::DefaultGuard {
        self.record_from(tracing::Level::INFO)
    }

    pub(crate) fn record_from(&self, level: tracing::Level) -> tracing::subscriber::DefaultGuard {
        // As long as there is only one subscriber, tracing asks only that of the current thread: a test on a thread without
        // one would disable an event for all threads.
        static SECOND: OnceLock<tracing::Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default()));
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_max_level(level);
        tracing::subscriber::set_default(subscriber.with_writer(move || writer.clone()).finish())
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn call(tools: &Dispatcher, name: &str) -> ToolResult {
    let arguments = match name {
        "borrowed" | "alias" => json!({"text": "bolt"}),
        _ => json!({}),
    };
    tools.call(ToolCall::new(format!("failing.{name}"), arguments).conversation("c1").id(name)).await
}

/// Tool, message for the model, level of the log line, and a part of that line.
const EXPECTED: [(&str, &str, &str, &str); 20] = [
    ("anyhow", "the database failed", "WARN", "the database failed: password=hunter2 host=db1"),
    ("thiserror", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("repeats", "the stock cannot be read: disk 7 is full", "WARN", "error=the stock cannot be read: disk 7 is full\n"),
    ("boxed", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("question_mark", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    (
        "sqlx",
        "error returned from database: (code: 1) no such table: orders",
        "WARN",
        "error=error returned from database: (code: 1) no such table: orders\n",
    ),
    ("not_send", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("shared", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("borrowed", "`bolt` is not a part", "WARN", "`bolt` is not a part: password=hunter2 host=db1"),
    ("alias", "`bolt` is not a part", "WARN", "`bolt` is not a part: password=hunter2 host=db1"),
    ("blocking", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("stream", "the stock cannot be read", "WARN", "the stock cannot be read: password=hunter2 host=db1"),
    ("fatal", "the shop is closed", "WARN", "password=hunter2 host=db1"),
    ("displayed", "the printer is off", "WARN", "error=the printer is off\n"),
    ("panic", "`failing.panic` panicked, which is a bug in the tool.", "ERROR", "password=hunter2 host=db1"),
    (
        "provider",
        "`failing.provider` did not run: it is unavailable right now. Try again later.",
        "ERROR",
        "the provider \"session\" failed: password=hunter2 host=db1",
    ),
    ("explicit", "log in first", "ERROR", "the provider \"account\" failed: log in first"),
    (
        "question_mark_provider",
        "`failing.question_mark_provider` did not run: it is unavailable right now. Try again later.",
        "ERROR",
        "the provider \"ticket\" failed: password=hunter2 host=db1",
    ),
    (
        "scope",
        "`failing.scope` failed: a value that it needs is unavailable right now.",
        "WARN",
        "the provider \"session\" failed: password=hunter2 host=db1",
    ),
    (
        "commit",
        "`failing.commit` ran, but its changes could not be saved. Check before you call it again.",
        "ERROR",
        "password=hunter2 host=db1",
    ),
];

#[tokio::test]
async fn the_model_reads_the_error_and_the_log_has_the_chain() {
    let (log, journal) = (Log::default(), Arc::new(MemoryJournal::new()));
    let _recording = log.record();
    let tools = tools(journal.clone()).build().unwrap();
    let mut events = tools.events().subscribe();
    for (name, output, level, chain) in EXPECTED {
        let result = call(&tools, name).await;
        assert_eq!(result.output, output, "{name}");
        let text = log.text();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("error=")).collect();
        assert_eq!(lines.len(), 1, "{name}: {text}");
        let line = format!("{}\n", lines[0]);
        assert!(line.contains(chain) && line.contains(&format!(" {level} ")), "{name}: {line}");
        assert!(line.contains("execute_tool{"), "inside the span of the call: {line}");
        let finished: Vec<&str> = text.lines().filter(|line| line.contains("call finished")).collect();
        let [finished] = finished[..] else { panic!("{name}: {text}") };
        let outcome = result.error.as_ref().unwrap().kind.as_str();
        assert!(finished.contains(&format!("outcome=\"{outcome}\"")), "{finished}");
        assert!(finished.contains("conversation=\"c1\"") && finished.contains("duration_ms="), "{finished}");
        assert!(!finished.contains(SECRET), "{finished}");

        // The control: the secret is in the log, so that the search below can find it.
        assert_eq!(text.contains(SECRET), chain.contains(SECRET), "{text}");
        assert!(!serde_json::to_string(&result).unwrap().contains("hunter2"), "{name}: {result:?}");
    }
    let result = call(&tools, "constructor").await;
    assert_eq!(result.output, "`failing.constructor` did not run: it is unavailable right now. Try again later.");
    assert!(log.text().contains("`Opened::new` failed: password=hunter2 host=db1"));

    let mut seen = 0;
    while let Some(event) = events.try_next() {
        let Update::Event(event) = event else { panic!("{event:?}") };
        assert!(!format!("{event:?}").contains("hunter2"), "{event:?}");
        seen += usize::from(!matches!(event.kind, EventKind::Progress { .. }));
    }
    assert_eq!(seen, 2 * (EXPECTED.len() + 1), "each call has started and finished");
    let entries = format!("{:?}", journal.entries(EntryQuery::newest(50)).await.unwrap());
    assert!(entries.contains("the stock cannot be read") && !entries.contains("hunter2"), "{entries}");
}

/// Without a subscriber for spans, a call takes the fast path.
#[tokio::test]
async fn a_failure_is_logged_if_only_warnings_are() {
    let log = Log::default();
    let _recording = log.record_from(tracing::Level::WARN);
    let own = Manifest::linked();
    let own = own.iter().filter(|(name, _)| *name == "failing.thiserror");
    let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    call(&Dispatcher::builder().manifest(own).build().unwrap(), "thiserror").await;
    let text = log.text();
    assert!(text.contains("tool=\"failing.thiserror\"") && text.contains(SECRET), "{text}");
    assert!(!text.contains("execute_tool"), "the control: there is no span: {text}");
}

/// The argument is part of the error and could pretend to be another line of the log.
#[tokio::test]
async fn an_error_is_one_line_in_the_log() {
    let log = Log::default();
    let _recording = log.record();
    let tools = tools(MemoryJournal::new()).build().unwrap();
    log.text();
    tools.call(ToolCall::new("failing.borrowed", json!({"text": "x\n2026 ERROR all is lost"}))).await;
    let text = log.text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("x\\n2026 ERROR"), "{text}");
}

#[tokio::test]
async fn a_call_with_invalid_arguments_is_one_line_in_the_log() {
    let log = Log::default();
    let _recording = log.record();
    let tools = tools(MemoryJournal::new()).build().unwrap();
    log.text();
    tools.call(ToolCall::new("failing.anyhow", json!({"unknown": 1}))).await;
    let text = log.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(" INFO ") && text.contains("outcome=\"invalid_arguments\""), "{text}");
}

#[tokio::test]
async fn the_application_can_describe_errors() {
    let describe = |failed: &tool_runtime::FailedCall<'_>| {
        let io = std::iter::successors(Some(failed.error), |&error| error.source())
            .find_map(|error| error.downcast_ref::<std::io::Error>());
        match io {
            Some(_) => format!("{} {}: the disk", failed.tool, failed.kind.as_str()),
            None => format!("{}!", failed.message),
        }
    };
    let tools = tools(MemoryJournal::new()).describe_errors(describe).build().unwrap();
    for (name, expected) in [
        ("anyhow", "failing.anyhow failed: the disk"),
        ("thiserror", "failing.thiserror failed: the disk"),
        ("provider", "failing.provider injection: the disk"),
        ("commit", "failing.commit finish: the disk"),
        ("displayed", "the printer is off!"),
        ("panic", "`failing.panic` panicked, which is a bug in the tool.!"),
        ("explicit", "log in first"),
    ] {
        let result = call(&tools, name).await;
        assert_eq!(result.output, expected, "{name}");
        assert_eq!(result.error.unwrap().message, expected, "{name}");
    }
}

#[tokio::test]
async fn a_panic_while_describing_an_error_keeps_the_message() {
    let tools = tools(MemoryJournal::new()).describe_errors(|_| panic!("oops")).build().unwrap();
    assert_eq!(call(&tools, "thiserror").await.output, "the stock cannot be read");
}

/// A journal on a broken disk.
struct Broken;

fn broken<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, JournalError>> {
    Box::pin(async { Err(JournalError::new(JournalErrorKind::Unavailable, "the disk fails").caused_by(cause())) })
}

impl Journal for Broken {
    fn begin<'a>(&'a self, _: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        broken()
    }

    fn finish<'a>(&'a self, _: &'a CallKey, _: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        broken()
    }

    fn note<'a>(&'a self, _: &'a StartedCall, _: &'a JournalDecision) -> BoxFuture<'a, Result<(), JournalError>> {
        broken()
    }

    fn entries<'a>(&'a self, _: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        broken()
    }
}

#[tokio::test]
async fn the_error_of_a_journal_is_for_the_log() {
    let log = Log::default();
    let _recording = log.record();
    let result = call(&tools(Broken).build().unwrap(), "commit").await;
    assert_eq!(result.output, "`failing.commit` did not run: it is unavailable right now. Try again later.");
    let text = log.text();
    assert!(text.contains("ERROR") && text.contains("the disk fails: password=hunter2 host=db1"), "{text}");
}
