//! The tools in the format of a model provider, and the results of its calls.

use tool_dialect::{DialectForm, LossReport, MalformedCall, NameClash, ProviderResult, RequestedCall};

use crate::dispatch::Dispatcher;
use crate::{ToolCall, ToolResult};

impl Dispatcher {
    /// Returns the tools in the form of a model provider: their definitions, and the mapping from its calls to the tools.
    ///
    /// The form is computed once for each change of the tools. Getting it again costs a clone.
    ///
    /// ```standalone_crate
    /// use serde_json::json;
    /// use tool_runtime::dialect::Dialect;
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// Add two numbers.
    /// #[tool(name = "math.add")]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let offer = tools.offer(Dialect::OpenAiChat)?;
    /// let request = json!({"model": "gpt", "messages": [], "tools": offer.definitions()});
    /// assert_eq!(request["tools"][0]["function"]["name"], "math__add");
    ///
    /// // The response of the provider, as text.
    /// let response = r#"{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 1, \"b\": 2}"}}
    /// ]}}]}"#;
    /// let answers = tools.answers("chat-7", offer.calls(response)?).await;
    /// assert_eq!(offer.results(&answers), [json!({"role": "tool", "tool_call_id": "call_1", "content": "3"})]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If two tools have the same name in this form; the error names both.
    pub fn offer(&self, form: impl Into<DialectForm>) -> Result<tool_dialect::ToolOffer, NameClash> {
        self.with_snapshot(|snapshot| snapshot.in_form(form.into()))
    }

    /// Returns the loss report: what the form cannot express about the tools, and which of its limits they exceed.
    #[must_use]
    pub fn report(&self, form: impl Into<DialectForm>) -> LossReport {
        let definitions = self.definitions();
        form.into().report(definitions.iter().map(|(name, tool)| (&**name, &**tool)))
    }

    /// Runs the calls of a provider's response concurrently and returns one answer per call, in their order, including
    /// malformed calls. Use [`call_all`](Self::call_all) for complete results, per-call values or a channel: a
    /// [`RequestedCall`] call converts into a [`ToolCall`].
    pub async fn answers(
        &self,
        conversation: &str,
        calls: impl IntoIterator<Item = Result<RequestedCall, MalformedCall>>,
    ) -> Vec<ProviderResult> {
        let calls: Vec<_> = calls.into_iter().collect();
        let parsed = calls.iter().flatten().map(|call| ToolCall::from(call.clone()).conversation(conversation));
        let mut results = self.call_all(parsed).await.into_iter();
        let answer = |call| match call {
            Err(malformed) => MalformedCall::to_result(&malformed),
            Ok(call) => answered(call, results.next()),
        };
        calls.into_iter().map(answer).collect()
    }
}

fn answered(call: RequestedCall, result: Option<ToolResult>) -> ProviderResult {
    match result {
        Some(result) if result.success => call.succeeded(result.output),
        Some(result) => call.failed(result.output),
        None => call.failed("The call was lost."),
    }
}

impl From<RequestedCall> for ToolCall<'_> {
    fn from(call: RequestedCall) -> Self {
        let has_id = !call.id.is_empty();
        let mut made = Self::from_text(call.name, call.arguments);
        if has_id {
            made = made.id(call.id);
        }
        made
    }
}
