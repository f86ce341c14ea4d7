//! The span of a call, in OpenTelemetry's words for generative models.

use tracing::Span;

use crate::ToolCall;
use crate::dispatch::BoundTool;

/// Where the spans of calls belong.
const TARGET: &str = "tool_runtime::call";

/// Whether somebody looks at the spans of calls.
#[inline]
pub(crate) fn has_subscriber() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// The span of a call. A model may make up the name of a tool, of any length.
pub(crate) fn span_of(call: &ToolCall<'_>, tool: Option<&BoundTool>) -> Span {
    let name = tool.map_or(call.name(), |tool| &tool.name);
    let shown: String = name.chars().take(128).collect();
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

#[cfg(test)]
mod tests {
    use tracing::Instrument;

    use crate::confirm::{self, Decision};
    use crate::testing::SpanRecorder;
    use crate::{CallOutcome, Dispatcher, Effect, RuntimeTool, ToolCall, tool, tool_class};

    #[tokio::test]
    async fn the_calls_of_a_turn_keep_their_parent() {
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

    /// Logs wherever the application's own code runs.
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
    async fn what_is_logged_for_a_call_is_in_its_span() {
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
            // The preview has its own.
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
