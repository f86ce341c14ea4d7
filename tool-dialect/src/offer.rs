//! The tools offered to one provider: definitions, names, calls, results.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::ToolDefinition;

use crate::arguments::OptionalArguments;
use crate::definition::returns_object;
use crate::schema::IgnoredLosses;
use crate::{
    Dialect, DialectForm, MalformedCall, NameClash, ProviderResult, RequestedCall, ResponseError, arguments, plan, wire,
};

/// A set of tools in one provider's format: their definitions, and the decoding of calls and encoding of results.
///
/// Build it once per set of tools and keep it: the definitions are not rebuilt, and a clone is a clone of an [`Arc`].
///
/// ```
/// use serde_json::json;
/// use tool_dialect::Dialect;
/// use tool_model::Manifest;
///
/// let manifest = Manifest::from_json(
///     r#"{"math.add": {
///       "description": "Add two numbers.", "handler": "app::add",
///       "arguments": {"a": {"type": "integer", "required": true}, "b": {"type": "integer", "required": true}}
///     }}"#,
/// )?;
/// let offer = Dialect::OpenAiChat.offer(manifest.iter())?;
/// let request = json!({"model": "gpt", "messages": [], "tools": offer.definitions()});
/// assert_eq!(request["tools"][0]["function"]["name"], "math__add");
///
/// // The provider's response, as text.
/// let response = r#"{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 1, \"b\": 2}"}}
/// ]}}]}"#;
/// let mut results = Vec::new();
/// for call in offer.calls(response)? {
///     results.push(match call {
///         Ok(call) => {
///             assert_eq!((call.name.as_str(), call.arguments.as_str()), ("math.add", r#"{"a": 1, "b": 2}"#));
///             call.succeeded("3")
///         }
///         Err(malformed) => malformed.to_result(),
///     });
/// }
/// assert_eq!(offer.results(&results), [json!({"role": "tool", "tool_call_id": "call_1", "content": "3"})]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolOffer {
    inner: Arc<OfferState>,
}

#[derive(Debug)]
struct OfferState {
    form: DialectForm,
    text: Arc<str>,
    value: OnceLock<Value>,
    /// Sorted by name.
    tools: Vec<OfferedTool>,
    /// Indices into `tools`, sorted by encoded name.
    by_encoded: Vec<usize>,
}

/// Everything needed to decode the calls of one tool.
#[derive(Debug)]
struct OfferedTool {
    name: String,
    encoded: String,
    /// The renamed arguments: own name and provider's name.
    renamed: Vec<(String, String)>,
    strict: bool,
    /// The parts for which the model writes `null` instead of leaving them out.
    optional: Option<OptionalArguments>,
    has_output_schema: bool,
}

impl DialectForm {
    /// Returns the tools in this form, sorted by name. A stable order keeps prompt caches valid.
    ///
    /// The names are the ones the tools are offered under, after any renaming by the caller.
    ///
    /// # Errors
    /// If two tools have the same encoded name; the error names both.
    pub fn offer<'a>(
        self,
        tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>,
    ) -> Result<ToolOffer, NameClash> {
        let (planned, mut clashes) = plan::plan(self, tools);
        if !clashes.is_empty() {
            return Err(clashes.swap_remove(0));
        }
        let written = plan::write::<IgnoredLosses>(self, &planned);
        let text = wire::listed(self.dialect, written.iter().map(|tool| tool.definition.text.as_str()));
        let tools: Vec<OfferedTool> = planned
            .into_iter()
            .zip(&written)
            .map(|(tool, written)| OfferedTool {
                name: tool.name.to_owned(),
                encoded: tool.encoded.into_owned(),
                renamed: tool.renamed,
                strict: written.strict,
                optional: (written.strict && arguments::writes_null_for_missing(self.dialect))
                    .then(|| arguments::optional_arguments(tool.tool))
                    .flatten(),
                has_output_schema: self.dialect == Dialect::Mcp && returns_object(tool.tool),
            })
            .collect();
        let mut by_encoded: Vec<usize> = (0..tools.len()).collect();
        by_encoded.sort_unstable_by_key(|&at| &tools[at].encoded);
        let inner = OfferState { form: self, text: text.into(), value: OnceLock::new(), tools, by_encoded };
        Ok(ToolOffer { inner: Arc::new(inner) })
    }
}

impl ToolOffer {
    /// Returns the dialect and strictness of this offer.
    #[must_use]
    pub fn form(&self) -> DialectForm {
        self.inner.form
    }

    /// Returns the definitions as a JSON value, for the `tools` of a request. For Bedrock this is `toolConfig.tools`,
    /// for MCP the `tools` in the result of `tools/list`.
    #[must_use]
    pub fn definitions(&self) -> &Value {
        self.inner.value.get_or_init(|| {
            serde_json::from_str(&self.inner.text).unwrap_or_else(|error| unreachable!("we have written it: {error}"))
        })
    }

    /// Returns the definitions as compact JSON, with the same bytes on every run.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.inner.text)
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.tools.len()
    }

    /// Returns `true` if there are no tools. Most providers reject an empty list: omit `tools` in that case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.tools.is_empty()
    }

    /// Returns the provider's name of a tool, or `None` if the tool is not offered.
    #[must_use]
    pub fn encoded(&self, name: &str) -> Option<&str> {
        self.by_name(name).map(|tool| tool.encoded.as_str())
    }

    /// Returns the tool that a provider's name refers to. Unknown names are returned unchanged; running the call then
    /// reports an unknown tool.
    #[must_use]
    pub fn decoded<'a>(&'a self, encoded: &'a str) -> &'a str {
        self.by_provider_name(encoded).map_or(encoded, |tool| &tool.name)
    }

    /// Returns `true` if the provider enforces the schema of this tool.
    #[must_use]
    pub fn is_strict(&self, name: &str) -> bool {
        self.by_name(name).is_some_and(|tool| tool.strict)
    }

    /// Returns the calls in a provider's response, in order.
    ///
    /// `response` is the whole body or the message in it. Arguments stay the text that the model wrote. A malformed
    /// call is an entry of its own that can be answered; the other calls still run.
    ///
    /// # Errors
    /// If the text is not JSON or not a response of this provider. A response without calls is an empty list.
    pub fn calls(&self, response: &str) -> Result<Vec<Result<RequestedCall, MalformedCall>>, ResponseError> {
        let found = wire::calls(self.inner.form.dialect, response)?;
        Ok(found.into_iter().map(|call| self.decode_call(call)).collect())
    }

    /// Like [`calls`](Self::calls), for a parsed response.
    ///
    /// # Errors
    /// If the value is not a response of this provider.
    pub fn calls_in(&self, response: &Value) -> Result<Vec<Result<RequestedCall, MalformedCall>>, ResponseError> {
        self.calls(&response.to_string())
    }

    /// Decodes the name and the arguments of a call.
    pub(crate) fn decode_call(
        &self,
        call: Result<RequestedCall, MalformedCall>,
    ) -> Result<RequestedCall, MalformedCall> {
        let mut call = call.map_err(|mut malformed| {
            malformed.name = malformed.name.map(|name| self.decoded(&name).to_owned());
            malformed
        })?;
        if let Some(tool) = self.by_provider_name(&call.name) {
            call.name.clone_from(&tool.name);
            if !tool.renamed.is_empty() {
                call.arguments = arguments::restore_names(call.arguments, &tool.renamed);
            }
            if let Some(optional) = &tool.optional {
                call.arguments = arguments::remove_nulls(call.arguments, optional);
            }
        }
        Ok(call)
    }

    /// Returns the model's own turn: the messages to append to the conversation before the results. Empty for MCP.
    ///
    /// # Errors
    /// If the text is not a response of this provider.
    pub fn turn(&self, response: &str) -> Result<Vec<Value>, ResponseError> {
        wire::turn(self.inner.form.dialect, response)
    }

    /// Returns the messages that carry the results, to be appended to the conversation. Pass all results of a turn
    /// together: most providers require them in one message.
    ///
    /// For MCP each message is the response to one `tools/call`.
    #[must_use]
    pub fn results(&self, results: &[ProviderResult]) -> Vec<Value> {
        let named = results.iter().map(|result| {
            let tool = self.by_name(&result.name);
            wire::EncodedResult {
                result,
                name: tool.map_or(result.name.as_str(), |tool| &tool.encoded),
                structured: tool.is_some_and(|tool| tool.has_output_schema),
            }
        });
        wire::results(self.inner.form.dialect, named.collect())
    }

    fn by_name(&self, name: &str) -> Option<&OfferedTool> {
        let tools = &self.inner.tools;
        tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok().map(|at| &tools[at])
    }

    /// Finds a tool by the provider's name, falling back to its own name.
    fn by_provider_name(&self, encoded: &str) -> Option<&OfferedTool> {
        let tools = &self.inner.tools;
        let found = self.inner.by_encoded.binary_search_by(|&at| tools[at].encoded.as_str().cmp(encoded));
        found.map_or_else(|_| self.by_name(encoded), |at| Some(&tools[self.inner.by_encoded[at]]))
    }
}
