//! The arguments that a user is shown, the journal records and the handler receives are the same, for every decision.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_runtime::confirm::{self, Confirm, Decision, Deferred, PolicyVerdict, Question};
use tool_runtime::events::{EventKind, Update};
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, EntryState, FinishedCall, Journal, JournalDecision, JournalEntry,
    JournalError, JournalErrorKind, MemoryJournal, StartedCall,
};
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{
    Builder, CancellationToken, Context, Dispatcher, ErrorKind, Manifest, Policy, ToolCall, ToolResult, tool,
};

/// The values that reached the handlers, by conversation. Tests run concurrently, so each uses its own.
static RAN: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

fn runs(conversation: &str) -> Vec<String> {
    let ran = RAN.lock().unwrap();
    ran.iter().filter(|(of, _)| of == conversation).map(|(_, what)| what.clone()).collect()
}

fn ran(context: &Context, what: String) -> String {
    RAN.lock().unwrap().push((context.conversation().unwrap_or_default().to_owned(), what.clone()));
    what
}

/// Take a large number.
#[tool(name = "decisions.big")]
async fn big(number: u128, #[inject] context: &Context) -> String {
    ran(context, number.to_string())
}

/// Take a number.
#[tool(name = "decisions.ratio")]
async fn ratio(number: f64, #[inject] context: &Context) -> String {
    ran(context, format!("{number:?}"))
}

/// Take anything.
#[tool(name = "decisions.anything")]
async fn anything(value: Value, #[inject] context: &Context) -> String {
    ran(context, value.to_string())
}

/// Reply to the sender.
#[tool(name = "decisions.reply", sensitive)]
async fn reply(text: String, #[arg(secret)] key: Option<String>, #[inject] context: &Context) -> String {
    let _ = key;
    ran(context, format!("{text} to {:?} in {:?}", context.chat(), context.channel()))
}

/// Count.
#[tool(name = "decisions.count", sensitive)]
async fn count(by: u32, #[inject] context: &Context) -> String {
    ran(context, by.to_string())
}

/// Keep the newest.
#[tool(name = "decisions.keep", sensitive)]
async fn keep(#[arg(default = 10)] newest: u32, of: Option<String>, #[inject] context: &Context) -> String {
    let _ = of;
    ran(context, newest.to_string())
}

/// Wait until the call is stopped.
#[tool(name = "decisions.wait")]
async fn wait() {
    std::future::pending::<()>().await;
}

fn builder() -> Builder {
    let linked = Manifest::linked();
    let ours = linked.iter().filter(|(name, _)| name.starts_with("decisions."));
    Dispatcher::builder().manifest(ours.map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<Manifest>())
}

/// A policy about an argument cannot be bypassed by omitting the argument.
#[tokio::test]
async fn omitted_arguments_are_shown_with_their_defaults() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (by_policy, by_person) = (seen.clone(), seen.clone());
    let policy = Policy::custom(move |_, _, arguments| {
        by_policy.lock().unwrap().push(arguments.clone());
        if arguments["newest"].as_u64() > Some(5) { PolicyVerdict::Ask } else { PolicyVerdict::Run }
    });
    let asked = confirm::from_fn(move |question: Question| {
        by_person.lock().unwrap().push(question.arguments);
        async { Decision::Run }
    });
    let tools = builder().policy(policy).confirm(asked).build().unwrap();
    let keep = |arguments| tools.call(ToolCall::new("decisions.keep", arguments).conversation("left out"));
    assert_eq!(keep(json!({})).await.output, "10");
    assert_eq!(*seen.lock().unwrap(), [json!({"newest": 10}), json!({"newest": 10})]);
    keep(json!({"newest": 3, "of": "all"})).await;
    assert_eq!(seen.lock().unwrap()[2..], [json!({"newest": 3, "of": "all"})]);
    assert_eq!(runs("left out"), ["10", "3"]);
    assert!(keep(json!({})).dry_run().await.output.contains(r#"{"newest":10}"#));
}

fn kind(result: &ToolResult) -> ErrorKind {
    result.error.as_ref().unwrap_or_else(|| panic!("{result:?}")).kind
}

/// Always makes the same decision, and keeps the questions.
#[derive(Clone)]
struct RecordingConfirmer(Arc<Mutex<Vec<Question>>>, Decision);

impl RecordingConfirmer {
    fn new(decision: Decision) -> Self {
        Self(Arc::default(), decision)
    }

    fn confirm(&self) -> impl Confirm + use<> {
        let Self(asked, decision) = self.clone();
        confirm::from_fn(move |question| {
            asked.lock().unwrap().push(question);
            let decision = decision.clone();
            async move { decision }
        })
    }

    fn questions(&self) -> Vec<Question> {
        self.0.lock().unwrap().clone()
    }
}

async fn decisions(journal: &dyn Journal) -> Vec<(String, EntryState)> {
    let entries = journal.entries(EntryQuery::newest(100)).await.unwrap();
    entries
        .into_iter()
        .map(|entry| (entry.decision.map(|decision| decision.to_string()).unwrap_or_default(), entry.state))
        .collect()
}

async fn noted(journal: &dyn Journal) -> Vec<String> {
    let decisions = decisions(journal).await.into_iter();
    decisions.filter(|(_, state)| *state == EntryState::Noted).map(|(decision, _)| decision).collect()
}

/// Numbers that a handler might distinguish from what users are shown, and how they are shown.
const NUMBERS: [(&str, &str); 5] = [
    ("18446744073709551617", "1.8446744073709552e+19"),
    ("0.1000000000000000055511151231257827", "0.1"),
    ("1E3", "1000.0"),
    ("-0", "-0.0"),
    ("47.11", "47.11"),
];

#[tokio::test]
async fn a_number_is_the_same_when_asked_recorded_and_run() {
    for (number, shown) in NUMBERS {
        for (tool, argument) in [("decisions.ratio", "number"), ("decisions.anything", "value")] {
            let conversation = format!("{tool} {number}");
            let asked = RecordingConfirmer::new(Decision::Run);
            let journal = Arc::new(MemoryJournal::new());
            let tools =
                builder().policy(Policy::ConfirmAll).confirm(asked.confirm()).journal(journal.clone()).build().unwrap();
            let text = format!("{{\"{argument}\": {number}}}");
            let call = || ToolCall::from_text(tool, text.clone()).id("1").conversation(conversation.clone());
            assert!(tools.call(call()).await.success, "{text}");
            let question = asked.questions().remove(0);
            let of_question = question.arguments[argument].to_string();
            let recorded = journal.entries(EntryQuery::newest(1)).await.unwrap()[0].arguments[argument].to_string();
            assert_eq!([&*of_question, &*recorded], [shown, shown], "{text}");
            // Approved later, it is the same call, and would run the same.
            assert_eq!(tools.approve(question.clone()).await.metadata.get("replayed"), Some(&json!(true)));
            let unrecorded = builder().policy(Policy::ConfirmAll).build().unwrap();
            assert!(unrecorded.approve(question).await.success);
            let float = format!("{:?}", shown.parse::<f64>().unwrap());
            let expected = if tool == "decisions.ratio" { float } else { shown.to_owned() };
            assert_eq!(runs(&conversation), [expected.clone(), expected], "{text}");
        }
    }
}

/// If a question cannot distinguish two numbers, a call with either does not run.
#[tokio::test]
async fn an_integer_that_cannot_be_shown_does_not_run() {
    let numbers = ["340282366920938463463374607431768211455", "340282366920938463463374607431768211454"];
    let [first, second] = numbers.map(|number| serde_json::from_str::<Value>(number).unwrap());
    assert_eq!(first, second, "the control: they are shown, and recorded, as one");

    let call = |number: &str, conversation: &'static str| {
        ToolCall::from_text("decisions.big", format!("{{\"number\": {number}}}")).id("1").conversation(conversation)
    };
    let asked = RecordingConfirmer::new(Decision::Run);
    let asking = builder().policy(Policy::ConfirmAll).confirm(asked.confirm()).build().unwrap();
    let recording = builder().journal(MemoryJournal::new()).build().unwrap();
    for tools in [&asking, &recording] {
        for number in numbers {
            let result = tools.call(call(number, "big")).await;
            assert_eq!(kind(&result), ErrorKind::InvalidArguments);
            assert!(result.output.contains("more digits than can be shown"), "{}", result.output);
        }
        assert!(tools.call(call("18446744073709551615", "big")).await.success, "64 bits can be shown");
    }
    assert_eq!((runs("big").len(), asked.questions().len()), (2, 1));

    // Observers do not depend on how numbers are shown.
    let watched = builder().build().unwrap();
    let mut events = watched.events().subscribe();
    for number in numbers {
        assert_eq!(watched.call(call(number, "big, watched")).await.output, number);
    }
    assert!(events.try_next().is_some());
}

#[tokio::test]
async fn a_call_approved_later_keeps_its_origin() {
    let asked = RecordingConfirmer::new(Decision::Refuse(None));
    let tools = builder().confirm(asked.confirm()).build().unwrap();
    let call = ToolCall::new("decisions.reply", json!({"text": "hello"})).conversation("whence").channel("mail", "42");
    tools.call(call).await;
    let question = asked.questions().remove(0);
    assert_eq!((question.channel.as_deref(), question.chat.as_deref()), (Some("mail"), Some("42")));
    // As a page would send it back.
    let question: Question = serde_json::from_value(json!(question)).unwrap();
    assert_eq!(tools.approve(question).await.output, r#"hello to Some("42") in Some("mail")"#);
}

/// The journal identifies a call approved later by the arguments as sent, as it does for a repeated call.
#[tokio::test]
async fn an_approved_call_is_identified_by_the_arguments_as_sent() {
    let asked = RecordingConfirmer::new(Decision::Refuse(None));
    let tools = builder().confirm(asked.confirm()).journal(MemoryJournal::new()).build().unwrap();
    let keep = |arguments| tools.call(ToolCall::new("decisions.keep", arguments).id("1").conversation("sent"));
    assert_eq!(kind(&keep(json!({})).await), ErrorKind::Refused);
    let question = asked.questions().remove(0);
    assert_eq!((&question.arguments, &*question.defaults), (&json!({"newest": 10}), &["newest".to_owned()][..]));
    // As a page would send it back.
    let question: Question = serde_json::from_value(json!(question)).unwrap();
    assert!(tools.approve(question.clone()).await.success);
    for again in [tools.approve(question).await, keep(json!({})).await] {
        assert_eq!(again.metadata.get("replayed"), Some(&json!(true)), "{again:?}");
    }
    assert_eq!(kind(&keep(json!({"newest": 10})).await), ErrorKind::Refused, "the control: another was sent");
    assert_eq!(runs("sent"), ["10"]);
}

#[tokio::test]
async fn edited_arguments_are_validated_but_not_repaired() {
    for edit in [json!({"by": "3"}), json!({"by": 3.0}), json!({"by": 3, "to": 1}), json!({}), json!([3])] {
        let asked = RecordingConfirmer::new(Decision::Edit(edit.clone()));
        let journal = Arc::new(MemoryJournal::new());
        let tools = builder().confirm(asked.confirm()).journal(journal.clone()).build().unwrap();
        let call = || ToolCall::new("decisions.count", json!({"by": "1"})).conversation("edit");
        let result = tools.call(call()).await;
        assert_eq!(kind(&result), ErrorKind::InvalidArguments, "{edit}");
        assert!(result.output.starts_with("The edited arguments are invalid."), "{}", result.output);
        // Also when edited later.
        let question = asked.questions().remove(0);
        assert_eq!(question.arguments, json!({"by": 1}), "a model's arguments are repaired");
        let result = tools.approve_with(question, edit.clone()).await;
        assert_eq!(kind(&result), ErrorKind::InvalidArguments, "{edit}");
        assert_eq!(noted(&*journal).await, ["wrong edit", "wrong edit"]);
    }
    assert!(runs("edit").is_empty());
}

#[tokio::test]
async fn every_decision_is_recorded() {
    let (asked, journal) = (RecordingConfirmer::new(Decision::Refuse(None)), Arc::new(MemoryJournal::new()));
    let tools = builder().confirm(asked.confirm()).journal(journal.clone()).build().unwrap();
    let call = |by: u32| ToolCall::new("decisions.count", json!({"by": by})).conversation("recorded");
    tools.call(call(1)).await;
    let question = asked.questions().remove(0);
    assert_eq!(kind(&tools.refuse(&question, Some("not now")).await), ErrorKind::Refused);
    assert_eq!(kind(&tools.abort(&question).await), ErrorKind::Aborted);
    assert_eq!(noted(&*journal).await, ["aborted", "refused", "refused"]);
    assert!(tools.approve(question.clone()).await.success);
    assert!(tools.approve_with(question.clone(), json!({"by": 2})).await.success);
    let ended: Vec<_> = decisions(&*journal).await.into_iter().map(|(decision, _)| decision).collect();
    assert_eq!(ended[..2], ["edited", "confirmed"]);

    let mut other = question;
    other.definition = Arc::default();
    assert_eq!(kind(&tools.approve(other).await), ErrorKind::Refused);
    assert_eq!(noted(&*journal).await[0], "changed since asked");

    let record = async |builder: Builder, first_too: bool| {
        let journal = Arc::new(MemoryJournal::new());
        let tools = builder.journal(journal.clone()).build().unwrap();
        if first_too {
            tools.call(call(1)).await;
        }
        (tools.call(call(2)).await, noted(&*journal).await)
    };
    let (result, noted) = record(builder(), false).await;
    assert_eq!((kind(&result), noted), (ErrorKind::Refused, vec!["nobody to ask".to_owned()]));
    let limited = builder().policy(Policy::Yolo).limit(Limiter::new().tool("decisions.count", Limit::total(1)));
    let (result, noted) = record(limited, true).await;
    assert_eq!((kind(&result), noted), (ErrorKind::RateLimited, vec!["rate limited".to_owned()]));
    assert!(result.output.ends_with("It cannot be called any more."), "{}", result.output);

    let journal = Arc::new(MemoryJournal::new());
    let busy = builder().policy(Policy::Yolo).concurrency(1, 0).journal(journal.clone()).build().unwrap();
    let mut waiting = Box::pin(busy.call(ToolCall::new("decisions.wait", json!({}))).into_future());
    assert!(poll_once(&mut waiting).await.is_none(), "it waits");
    assert_eq!(kind(&busy.call(call(1)).await), ErrorKind::Busy);
    assert_eq!(self::noted(&*journal).await, ["busy"]);
}

/// Polls a future until it would wait.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = tokio::task::yield_now() => None,
    }
}

#[tokio::test]
async fn a_dry_run_reports_the_verdict_of_the_policy() {
    let policy = Policy::custom(|_, _, arguments| match arguments["by"].as_u64() {
        Some(0..10) => PolicyVerdict::Run,
        Some(10..100) => PolicyVerdict::Ask,
        _ => PolicyVerdict::Refuse("that is too much".into()),
    });
    let asked = RecordingConfirmer::new(Decision::Run);
    let tools = builder().policy(policy).confirm(asked.confirm()).build().unwrap();
    let dry = async |by: u32| {
        tools.call(ToolCall::new("decisions.count", json!({"by": by})).conversation("dry")).dry_run().await
    };
    let (runs_at_once, asks, refused) = (dry(5).await, dry(50).await, dry(500).await);
    assert_eq!(runs_at_once.output, r#"Dry run: `decisions.count` would run with {"by":5}. Nothing was done."#);
    assert!(asks.success && asks.output.contains("would run once a user has approved it"), "{}", asks.output);
    assert_eq!([&runs_at_once, &asks].map(|result| result.metadata.get("policy").unwrap()), ["run", "ask"]);
    assert_eq!(kind(&refused), ErrorKind::Refused);
    assert_eq!(refused.output, "`decisions.count` would be refused: that is too much.");
    assert!(asked.questions().is_empty() && runs("dry").is_empty());
}

/// The token in the result of a pending call.
fn token(result: &ToolResult) -> String {
    assert_eq!(kind(result), ErrorKind::Pending);
    result.metadata.get("token").unwrap().as_str().unwrap().to_owned()
}

/// An approval is not spent by a call that could not start.
#[tokio::test]
async fn a_call_that_could_not_start_can_be_approved_again() {
    let deferred = Deferred::new([7; 32]);
    let tools =
        builder().confirm(deferred.clone()).concurrency(1, 0).journal(FailingJournal::default()).build().unwrap();
    let call = ToolCall::new("decisions.count", json!({"by": 1})).conversation("again");
    let token = token(&tools.call(call).await);
    let resume = async |arguments: Option<Value>| {
        let run = |question: Question| match arguments {
            None => tools.approve(question),
            Some(arguments) => tools.approve_with(question, arguments),
        };
        deferred.resume(&token, SystemTime::now(), run).await
    };

    let mut waiting = Box::pin(tools.call(ToolCall::new("decisions.wait", json!({}))).into_future());
    assert!(poll_once(&mut waiting).await.is_none());
    assert_eq!(kind(&resume(None).await.unwrap()), ErrorKind::Busy);
    drop(waiting);
    tokio::task::yield_now().await;
    assert_eq!(kind(&resume(Some(json!({"by": "one"}))).await.unwrap()), ErrorKind::InvalidArguments);
    assert_eq!(kind(&resume(None).await.unwrap()), ErrorKind::Journal, "the second that begins fails");
    assert!(runs("again").is_empty());
    assert!(resume(None).await.unwrap().success);
    assert!(resume(None).await.is_err(), "now it is used up");
    assert_eq!(runs("again"), ["1"]);
}

/// A journal that fails to record the start of the second call.
#[derive(Default)]
struct FailingJournal(MemoryJournal, std::sync::atomic::AtomicUsize);

impl Journal for FailingJournal {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        if self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            return Box::pin(async { Err(JournalError::new(JournalErrorKind::Unavailable, "the disk is full")) });
        }
        self.0.begin(call)
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.finish(key, finished)
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.0.entries(query)
    }
}

/// A journal that has already written the entry when it starts to wait, and returns when the test allows it.
#[derive(Clone)]
struct BlockedJournal(Arc<MemoryJournal>, Arc<Semaphore>);

impl Journal for BlockedJournal {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        Box::pin(async {
            let begun = self.0.begin(call).await;
            drop(self.1.acquire().await);
            begun
        })
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.finish(key, finished)
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.0.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.0.entries(query)
    }
}

/// A call cancelled while it is being recorded must not remain in the journal as running.
#[tokio::test]
async fn a_call_cancelled_while_being_recorded_is_recorded_as_cancelled() {
    for is_dropped in [false, true] {
        let journal = BlockedJournal(Arc::new(MemoryJournal::new()), Arc::new(Semaphore::new(0)));
        let tools = builder().policy(Policy::Yolo).journal(journal.clone()).build().unwrap();
        let stop = CancellationToken::new();
        let call = || ToolCall::new("decisions.count", json!({"by": 1})).id("1").conversation("stopped");
        let mut running = Box::pin(tools.call(call()).cancel(stop.clone()).into_future());
        assert!(poll_once(&mut running).await.is_none());
        assert_eq!(decisions(&journal).await[0].1, EntryState::Running, "the entry is written, but not yet reported");
        if !is_dropped {
            stop.cancel();
            assert_eq!(kind(&poll_once(&mut running).await.unwrap()), ErrorKind::Cancelled);
        }
        drop(running);
        journal.1.add_permits(1);
        tokio::time::timeout(Duration::from_secs(60), async {
            while decisions(&journal).await[0].1 == EntryState::Running {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        assert!(matches!(&decisions(&journal).await[0].1, EntryState::Finished(finished) if !finished.started));
        assert_eq!(runs("stopped").len(), usize::from(is_dropped), "it has not run");
        let again = tools.call(call()).await;
        assert!(again.success, "it can be made again: {again:?}");
    }
    assert_eq!(runs("stopped").len(), 2);
}

/// Events are visible to every subscriber, and the bearer of a token can run its call.
#[tokio::test]
async fn subscribers_do_not_see_the_token() {
    let tools = builder().confirm(Deferred::new([7; 32])).build().unwrap();
    let mut events = tools.events().subscribe();
    let call = ToolCall::new("decisions.reply", json!({"text": "hello", "key": "hunter2"})).conversation("watched");
    let token = token(&tools.call(call).await);
    let mut seen = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        let text = serde_json::to_string(&event).unwrap();
        assert!(!text.contains(&token) && !text.contains(&token[22..]) && !text.contains("hunter2"), "{text}");
        seen.push(matches!(event.kind, EventKind::Pending { .. }));
    }
    assert_eq!(seen, [false, true]);
}
