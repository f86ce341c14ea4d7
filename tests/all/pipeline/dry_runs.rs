//! Dry runs and previews.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision, Question};
use tool_runtime::events::{EventKind, Update};
use tool_runtime::{Context, Dispatcher, Effect, ErrorKind, Manifest, Progress, Selection, ToolCall, tool, tool_class};

use super::{ERASED, builder, erased, kind};

/// Rename a host.
#[tool(name = "pipeline.rename", sensitive, preview = "would_rename")]
fn rename(from: String, to: String) -> String {
    ERASED.lock().unwrap().push(from.clone());
    format!("{from} is {to}")
}

fn would_rename(from: String, to: String) -> Effect {
    Effect::Command(format!("hostnamectl rename {from} {to}"))
}

#[tokio::test]
async fn a_dry_run_runs_nothing_and_asks_no_question() {
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

pub struct Housekeeping;

#[tool_class(prefix = "pipeline")]
impl Housekeeping {
    /// Tidy up.
    #[tool(preview = "would_tidy")]
    pub fn tidy() {}

    pub fn would_tidy(#[inject] tools: &Dispatcher, #[inject] context: &Context) -> Effect {
        Effect::Text(format!("{} of {}", context.tool(), tools.definitions().len()))
    }
}

/// Also if the preview injects more facts than its tool, and if the tool is renamed.
#[tokio::test]
async fn a_preview_can_inject_the_facts_of_its_call() {
    let tools = builder().build().unwrap();
    let one = tools.select(Selection::new().names(["pipeline.tidy"]).rename("pipeline.tidy", "tidy")).unwrap();
    let effect = one.call(ToolCall::new("tidy", json!({}))).preview().await.unwrap();
    assert_eq!(effect, Some(Effect::Text("pipeline.tidy of 1".to_owned())));
    let dry = one.call(ToolCall::new("tidy", json!({}))).dry_run().await;
    assert_eq!(dry.metadata.get("preview"), Some(&json!({"text": "pipeline.tidy of 1"})));
}

/// Stay as long as it takes.
#[tool(name = "pipeline.looked_at", sensitive, preview = "look")]
async fn looked_at(#[inject] progress: &Progress) -> &'static str {
    progress.report(1);
    "looked at"
}

async fn look(progress: &Progress) -> Effect {
    progress.report("a preview is not heard");
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_preview_has_the_timeout_of_its_call_and_reports_no_progress() {
    let asked: Arc<Mutex<Vec<Option<Value>>>> = Arc::default();
    let seen = asked.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        seen.lock().unwrap().push(question.preview);
        async { Decision::Run }
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let mut events = tools.events().subscribe();
    let result = tools.call(ToolCall::new("pipeline.looked_at", json!({}))).timeout(Duration::from_secs(1)).await;
    assert_eq!(result.output, "looked at", "the preview does not use up the timeout of the call");
    let preview = asked.lock().unwrap().pop().flatten().unwrap();
    assert!(preview.as_str().unwrap().contains("did not finish within 1s"), "{preview}");
    let mut reports = Vec::new();
    while let Some(Update::Event(event)) = events.try_next() {
        if let EventKind::Progress { progress } = &event.kind {
            reports.push(progress.clone());
        }
    }
    assert_eq!(reports, [json!(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_preview_needs_a_permit() {
    let tools = builder().concurrency(1, 0).build().unwrap();
    let call = || ToolCall::new("pipeline.rename", json!({"from": "a", "to": "b"}));
    let listen = tools.call(ToolCall::new("pipeline.listen", json!({}))).timeout(Duration::from_secs(1));
    let (_, preview) = tokio::join!(listen, async {
        tokio::task::yield_now().await;
        tools.call(call()).preview().await
    });
    assert_eq!(preview.unwrap_err().kind, ErrorKind::Busy);
    assert!(tools.call(call()).preview().await.unwrap().is_some());
}

/// Belongs to one call, and cannot be copied.
struct Ticket(u32);

/// Use up a ticket.
#[tool(name = "ticket.use", sensitive, preview = "would_use")]
fn use_ticket(#[inject] ticket: Ticket) -> u32 {
    ticket.0
}

fn would_use(ticket: Ticket) -> Effect {
    Effect::Text(format!("use ticket {}", ticket.0))
}

#[test]
fn a_preview_cannot_move_out_per_call_values() {
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(n, _)| *n == "ticket.use").map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let error = Dispatcher::builder().manifest(ours).per_call::<Ticket>().build().unwrap_err().to_string();
    assert!(error.contains("its preview: `ticket` came with the call") && error.contains("take `&Ticket`"), "{error}");
}
