//! Observation of a call: its events and its tracing span.

use std::any::TypeId;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tracing::Span;

use crate::dispatch::{BoundTool, CallValue};
use crate::events::{EventKind, Events, WatchedCall};
use crate::handler_failure::TARGET;
use crate::inject::InjectedValue;
use crate::tool_result::EXPIRES;
use crate::{ErrorKind, Progress, ToolCall, ToolResult};

/// Returns `true` if a tracing subscriber is interested in the spans of calls.
#[inline]
pub(crate) fn is_traced() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// Returns the name of the tool. The name of an unknown tool comes from the model and may have any length, so it is cut.
fn shown_name(call: &ToolCall<'_>, tool: Option<&BoundTool>) -> String {
    tool.map_or(call.name(), |tool| &tool.name).chars().take(128).collect()
}

/// Creates the span of a call, with OpenTelemetry's attributes for generative models.
fn call_span(call: &ToolCall<'_>, tool: Option<&BoundTool>) -> Span {
    let shown = shown_name(call, tool);
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {shown}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = shown,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.description = tool.map(BoundTool::description),
        gen_ai.tool.call.id = call.call_id(),
        gen_ai.conversation.id = call.conversation_id(),
        gen_ai.tool.call.arguments = tracing::field::Empty,
        error.r#type = tracing::field::Empty,
    )
}

/// Reports the start and the end of a call to subscribers and to its span.
///
/// A call ends with [`finish`](Self::finish). Dropping the observer without it, as happens when the call is dropped,
/// reports the result of [`set_result`](Self::set_result), or a cancellation. So every start has exactly one end.
pub(crate) struct CallObserver {
    watched: Option<WatchedCall>,
    pub(crate) span: Span,
    since: Instant,
    has_started: bool,
    /// The fields of the event that is logged at the end, if anything is.
    logged: Option<LoggedCall>,
    /// The end to report; `None` once it is reported.
    end: Option<CallEnd>,
}

struct LoggedCall {
    tool: String,
    call_id: Option<String>,
    conversation: Option<String>,
}

impl LoggedCall {
    fn new(call: &ToolCall<'_>, tool: Option<&BoundTool>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            tool: shown_name(call, tool),
            call_id: owned(call.call_id()),
            conversation: owned(call.conversation_id()),
        }
    }

    fn log(&self, span: &Span, outcome: &str, duration: Duration) {
        let Self { tool, call_id, conversation } = self;
        let duration_ms = duration.as_secs_f64() * 1e3;
        tracing::info!(target: TARGET, parent: span, tool, outcome, duration_ms, call_id, conversation, "call finished");
    }
}

enum CallEnd {
    Finished { success: bool, kind: Option<ErrorKind> },
    Pending { expires: SystemTime },
}

impl CallObserver {
    pub(crate) fn new(watched: Option<WatchedCall>, call: &ToolCall<'_>, tool: Option<&BoundTool>) -> Self {
        let end = Some(CallEnd::Finished { success: false, kind: Some(ErrorKind::Cancelled) });
        let span = call_span(call, tool);
        let logged = (!span.is_disabled()).then(|| LoggedCall::new(call, tool));
        Self { watched, span, since: Instant::now(), has_started: false, logged, end }
    }

    /// Reports the start and the end of a call that is rejected before it takes either path.
    #[cold]
    pub(crate) fn report_rejected(events: &Events, call: &ToolCall<'_>, tool: Option<&BoundTool>, result: &ToolResult) {
        let watched = events.watch(call);
        if watched.is_some() || is_traced() {
            Self::new(watched, call, tool).finish(result);
        }
    }

    /// Reports that the call starts.
    pub(crate) fn start(&mut self, arguments: impl FnOnce() -> Value) {
        self.has_started = true;
        if let Some(watched) = &self.watched {
            watched.send(EventKind::Started { arguments: arguments() });
        }
    }

    /// Reports that the call starts, with arguments that may be invalid.
    pub(crate) fn start_with_text(&mut self, text: &str, tool: &BoundTool) {
        self.start(|| {
            serde_json::from_str(text).map_or(Value::Null, |value| tool.schemas().redaction().redact(&value))
        });
    }

    /// Forwards the handler's progress to the subscribers, in addition to the listener that came with the call.
    pub(crate) fn forward_progress(&self, values: &mut Vec<CallValue>) {
        let Some(watched) = self.watched.clone() else { return };
        let is_progress = |value: &CallValue| value.type_id == TypeId::of::<Progress>();
        let own = values.iter().find(|value| is_progress(value));
        let own = own.and_then(|value| InjectedValue::Slot(value.slot.clone()).cloned::<Progress>().ok());
        values.retain(|value| !is_progress(value));
        values.push(CallValue::new(Progress::to(move |progress| {
            if let Some(own) = &own {
                own.report(&progress);
            }
            watched.send(EventKind::Progress { progress });
        })));
    }

    /// Sets the result to report, in case the observer is dropped before [`finish`](Self::finish).
    pub(crate) fn set_result(&mut self, result: &ToolResult) {
        let kind = result.error.as_ref().map(|error| error.kind);
        // The metadata may come from another program and hold anything.
        let expires = result.metadata.get(EXPIRES).and_then(Value::as_u64).map(Duration::from_millis);
        let expires = expires.and_then(|expires| SystemTime::UNIX_EPOCH.checked_add(expires));
        self.end = Some(match (kind, expires) {
            (Some(ErrorKind::Pending), Some(expires)) => CallEnd::Pending { expires },
            _ => CallEnd::Finished { success: result.success, kind },
        });
    }

    /// Reports the end of the call.
    pub(crate) fn finish(mut self, result: &ToolResult) {
        self.set_result(result);
        self.report_end();
    }

    fn report_end(&mut self) {
        let Some(end) = self.end.take() else { return };
        if !self.has_started {
            self.start(|| Value::Null);
        }
        let duration = self.since.elapsed();
        let (kind, event) = match end {
            CallEnd::Pending { expires } => (Some(ErrorKind::Pending), EventKind::Pending { expires }),
            CallEnd::Finished { success, kind } => (kind, EventKind::Finished { success, kind, duration }),
        };
        if let Some(kind) = kind {
            self.span.record("error.type", kind.as_str());
        }
        if let Some(logged) = self.logged.take() {
            logged.log(&self.span, kind.map_or("success", ErrorKind::as_str), duration);
        }
        if let Some(watched) = &self.watched {
            watched.send(event);
        }
    }
}

impl Drop for CallObserver {
    fn drop(&mut self) {
        self.report_end();
    }
}

#[cfg(test)]
mod tests {
    use tracing::Instrument;

    use super::*;
    use crate::confirm::{self, Decision};
    use crate::events::Update;
    use crate::testing::SpanRecorder;
    use crate::{CallOutcome, Dispatcher, Effect, RuntimeTool, ToolError, tool, tool_class};

    /// Returns the event with which a pending call ends.
    fn pending_end(expires: Value) -> EventKind {
        let events = Events::default();
        let mut subscriber = events.subscribe();
        let mut result = ToolResult::failure(ToolError::new(ErrorKind::Pending, "waits"));
        result.metadata.insert(EXPIRES, expires);
        CallObserver::report_rejected(&events, &ToolCall::from_text("t", "{}"), None, &result);
        let mut next = || match subscriber.try_next() {
            Some(Update::Event(event)) => event.kind.clone(),
            other => panic!("{other:?}"),
        };
        assert!(matches!(next(), EventKind::Started { .. }));
        next()
    }

    #[test]
    fn ignores_an_expiry_that_is_no_time() {
        assert_eq!(
            pending_end(7.into()),
            EventKind::Pending { expires: SystemTime::UNIX_EPOCH + Duration::from_millis(7) }
        );
        for none in [Value::from("soon"), Value::from(-7), Value::Null] {
            let ended = pending_end(none);
            assert!(matches!(ended, EventKind::Finished { kind: Some(ErrorKind::Pending), .. }), "{ended:?}");
        }
    }

    #[tokio::test]
    async fn calls_of_a_turn_keep_their_parent_span() {
        let spans = SpanRecorder::default();
        let _recording = tracing::subscriber::set_default(spans.clone());
        let tools = Dispatcher::builder().tool(RuntimeTool::new("t", "", |(): ()| async {})).build().unwrap();
        let call = || ToolCall::from_text("t", "{}");
        let calls = async {
            tools.call(call()).await;
            tools.call_all([call(), call()]).await;
        };
        calls.instrument(tracing::info_span!("turn")).await;
        let parents: Vec<_> = spans.seen("execute_tool").into_iter().map(|(_, parent)| parent).collect();
        assert_eq!(parents, [Some("turn"); 3]);
    }

    /// A service that logs from every place where application code runs.
    struct Chatty(SpanRecorder);

    #[tool_class(crate = crate, manual, prefix = "chatty")]
    impl Chatty {
        /// Say it.
        #[tool]
        async fn plain(&self) {
            tracing::info!("it: handler");
        }

        /// Say it with a value.
        #[tool(sensitive, preview = "would_say")]
        async fn provided(&self, #[inject] number: &u32) {
            tracing::info!("it: handler with {number}");
        }

        async fn would_say(&self, #[inject] number: &u32) -> Effect {
            tracing::info!("it: preview");
            Effect::Text(number.to_string())
        }

        /// Say it on another thread.
        #[tool(blocking)]
        fn blocking(&self) {
            tracing::subscriber::with_default(self.0.clone(), || tracing::info!("it: blocking handler"));
        }

        /// Say it on another thread, with a value.
        #[tool(blocking)]
        fn blocking_provided(&self, #[inject] number: &u32) {
            tracing::subscriber::with_default(self.0.clone(), || tracing::info!("it: blocking handler with {number}"));
        }

        /// Never say it.
        #[tool]
        async fn endless(&self, #[inject] number: &u32) {
            std::future::pending::<&u32>().await;
            let _ = number;
        }
    }

    async fn finish(_: u32, outcome: CallOutcome) -> Result<(), String> {
        tracing::info!("it: finish hook");
        if outcome.is_success() { Err("it: no commit".to_owned()) } else { Ok(()) }
    }

    #[tokio::test]
    async fn logs_of_a_call_are_inside_its_span() {
        let spans = SpanRecorder::default();
        let _recording = tracing::subscriber::set_default(spans.clone());
        let provide = |_| async {
            tracing::info!("it: provider");
            Ok::<_, String>(7_u32)
        };
        let agree = confirm::from_fn(|_| async {
            tracing::info!("it: question");
            Decision::Run
        });
        let builder = Dispatcher::builder().service(Chatty(spans.clone())).confirm(agree);
        let tools = builder.provide("number", provide).finish("number", finish).build().unwrap();
        for name in ["plain", "provided", "blocking", "blocking_provided"] {
            tools.call(ToolCall::from_text(format!("chatty.{name}"), "{}").id(name)).await;
        }
        let dropped = tools.call(ToolCall::from_text("chatty.endless", "{}").id("endless"));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(1), dropped).await.is_err());
        while spans.seen("finish hook").len() < 4 {
            tokio::task::yield_now().await;
        }
        let seen = spans.seen("it: ");
        for (said, count) in [
            ("it: handler", 2),
            ("it: blocking handler", 2),
            // The preview makes its own value.
            ("it: provider", 4),
            ("it: finish hook", 4),
            ("it: question", 1),
            ("it: preview", 1),
            ("a value could not be finished", 2),
        ] {
            assert_eq!(seen.iter().filter(|(text, _)| text.contains(said)).count(), count, "{said}: {seen:?}");
        }
        assert!(seen.iter().all(|(_, span)| *span == Some("execute_tool")), "{seen:?}");
        let warnings = spans.seen("a value could not be finished");
        for (warning, name) in warnings.iter().zip(["provided", "blocking_provided"]) {
            assert!(warning.0.contains(&format!("tool=\"chatty.{name}\"")), "{warning:?}");
            assert!(warning.0.contains(&format!("call_id=\"{name}\"")), "{warning:?}");
        }
    }
}
