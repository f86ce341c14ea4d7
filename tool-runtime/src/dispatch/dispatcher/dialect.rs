//! The tools in a provider's form, and the answers to the calls of its models.

use tool_dialect::{Answer, Form, Malformed, NameClash, Report, Requested};

use crate::dispatch::Dispatcher;
use crate::{ToolCall, ToolResult};

impl Dispatcher {
    /// The tools on offer in a provider's form: their definitions, and the way back from its calls to the tools.
    ///
    /// As long as the tools stay the same it is made once; to have it again costs a clone.
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
    /// // What the provider answers, as text.
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
    /// When two tools have one name for the provider; the error names both.
    pub fn offer(&self, form: impl Into<Form>) -> Result<tool_dialect::Offer, NameClash> {
        self.with_offer(|offer| offer.in_form(form.into()))
    }

    /// What a provider's form cannot say of the tools on offer, and which of its limits they exceed.
    #[must_use]
    pub fn report(&self, form: impl Into<Form>) -> Report {
        let definitions = self.definitions();
        form.into().report(definitions.iter().map(|(name, tool)| (&**name, &**tool)))
    }

    /// Runs the calls of a provider's response side by side, and answers each, in their order; those that made no sense
    /// too. For results as a whole, for values that come with a call or for a call's channel there is
    /// [`call_all`](Self::call_all): a [`Requested`] call is also a [`ToolCall`].
    pub async fn answers(
        &self,
        conversation: &str,
        calls: impl IntoIterator<Item = Result<Requested, Malformed>>,
    ) -> Vec<Answer> {
        let calls: Vec<_> = calls.into_iter().collect();
        let understood = calls.iter().flatten().map(|call| ToolCall::from(call.clone()).conversation(conversation));
        let mut results = self.call_all(understood).await.into_iter();
        let answer = |call| match call {
            Err(malformed) => Malformed::answer(&malformed),
            Ok(call) => answered(call, results.next()),
        };
        calls.into_iter().map(answer).collect()
    }
}

fn answered(call: Requested, result: Option<ToolResult>) -> Answer {
    match result {
        Some(result) if result.success => call.succeeded(result.output),
        Some(result) => call.failed(result.output),
        None => call.failed("The call was lost."),
    }
}

impl From<Requested> for ToolCall<'_> {
    fn from(call: Requested) -> Self {
        let has_id = !call.id.is_empty();
        let mut made = Self::from_text(call.name, call.arguments);
        if has_id {
            made = made.id(call.id);
        }
        made
    }
}
