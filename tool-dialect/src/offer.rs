//! Tools in one provider's form: definitions, names, calls, results.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::ToolDefinition;

use crate::definition::returns_object;
use crate::restore::Omissible;
use crate::schema::Silent;
use crate::{Answer, Dialect, Form, Malformed, NameClash, Requested, ResponseError, plan, restore, wire};

/// Tools as a model of one provider is offered them, and the way back: which tool a call means, and how its result is
/// returned.
///
/// It is made once for a set of tools and kept: the definitions are not built again, and a clone costs a clone of an
/// [`Arc`].
///
/// ```
/// use serde_json::json;
/// use tool_dialect::{Answer, Dialect};
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
/// // What the provider answers, as text.
/// let response = r#"{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 1, \"b\": 2}"}}
/// ]}}]}"#;
/// let mut answers = Vec::new();
/// for call in offer.calls(response)? {
///     answers.push(match call {
///         Ok(call) => {
///             assert_eq!((call.name.as_str(), call.arguments.as_str()), ("math.add", r#"{"a": 1, "b": 2}"#));
///             call.succeeded("3")
///         }
///         Err(malformed) => malformed.answer(),
///     });
/// }
/// assert_eq!(offer.results(&answers), [json!({"role": "tool", "tool_call_id": "call_1", "content": "3"})]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Offer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    form: Form,
    text: Arc<str>,
    value: OnceLock<Value>,
    /// Sorted by name.
    tools: Vec<Offered>,
    /// The places of the tools, sorted by the names that the provider knows.
    by_encoded: Vec<usize>,
}

/// What is remembered of one tool, to read its calls.
#[derive(Debug)]
struct Offered {
    name: String,
    encoded: String,
    /// The arguments that the provider knows under another name: own name and the other.
    renamed: Vec<(String, String)>,
    strict: bool,
    /// What a model writes `null` for that it would leave out.
    omissible: Option<Omissible>,
    has_output_schema: bool,
}

impl Form {
    /// Tools in this form, sorted by name whatever their order was: a list that changes its order from run to run
    /// spoils every prompt cache.
    ///
    /// The names are those that the tools are offered under; the caller may have renamed them.
    ///
    /// # Errors
    /// When two tools have one name for the provider; the error names both.
    pub fn offer<'a>(self, tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>) -> Result<Offer, NameClash> {
        let (planned, mut clashes) = plan::plan(self, tools);
        if !clashes.is_empty() {
            return Err(clashes.swap_remove(0));
        }
        let written = plan::write::<Silent>(self, &planned);
        let text = wire::listed(self.dialect, written.iter().map(|tool| tool.definition.text.as_str()));
        let tools: Vec<Offered> = planned
            .into_iter()
            .zip(&written)
            .map(|(tool, written)| Offered {
                name: tool.name.to_owned(),
                encoded: tool.encoded.into_owned(),
                renamed: tool.renamed,
                strict: written.strict,
                omissible: (written.strict && restore::is_needed(self.dialect))
                    .then(|| restore::omissible(tool.tool))
                    .flatten(),
                has_output_schema: self.dialect == Dialect::Mcp && returns_object(tool.tool),
            })
            .collect();
        let mut by_encoded: Vec<usize> = (0..tools.len()).collect();
        by_encoded.sort_unstable_by_key(|&at| &tools[at].encoded);
        let inner = Inner { form: self, text: text.into(), value: OnceLock::new(), tools, by_encoded };
        Ok(Offer { inner: Arc::new(inner) })
    }
}

impl Offer {
    /// Whose form it is.
    #[must_use]
    pub fn form(&self) -> Form {
        self.inner.form
    }

    /// The definitions as a JSON value: what goes under `tools` in a request. For Bedrock that is
    /// `toolConfig.tools`, for MCP the `tools` of the result of `tools/list`.
    #[must_use]
    pub fn definitions(&self) -> &Value {
        self.inner.value.get_or_init(|| {
            serde_json::from_str(&self.inner.text).unwrap_or_else(|error| unreachable!("we have written it: {error}"))
        })
    }

    /// The definitions as compact JSON, the same bytes from run to run.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.inner.text)
    }

    /// How many tools are offered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.tools.len()
    }

    /// Whether none is offered. Most providers refuse an empty list: leave `tools` out then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.tools.is_empty()
    }

    /// What the provider calls a tool, if it is offered.
    #[must_use]
    pub fn encoded(&self, name: &str) -> Option<&str> {
        self.named(name).map(|tool| tool.encoded.as_str())
    }

    /// Which tool the provider means by a name. A name that was not offered stays as it is: whoever runs the call
    /// says that there is no such tool.
    #[must_use]
    pub fn decoded<'a>(&'a self, encoded: &'a str) -> &'a str {
        self.meant(encoded).map_or(encoded, |tool| &tool.name)
    }

    /// Whether the provider enforces the schema of this tool.
    #[must_use]
    pub fn is_strict(&self, name: &str) -> bool {
        self.named(name).is_some_and(|tool| tool.strict)
    }

    /// The calls in a provider's response, in the order in which they stand there.
    ///
    /// The text is the whole body, or the message in it. Arguments stay the text that the model wrote. A call that
    /// makes no sense is an entry of its own that can be answered; it does not keep the others from running.
    ///
    /// # Errors
    /// When the text is not JSON, or not a response of this provider. A response without calls is an empty list.
    pub fn calls(&self, response: &str) -> Result<Vec<Result<Requested, Malformed>>, ResponseError> {
        let found = wire::calls(self.inner.form.dialect, response)?;
        Ok(found.into_iter().map(|call| self.understood(call)).collect())
    }

    /// As [`calls`](Self::calls), for a response that is a JSON value already.
    ///
    /// # Errors
    /// When it is not a response of this provider.
    pub fn calls_in(&self, response: &Value) -> Result<Vec<Result<Requested, Malformed>>, ResponseError> {
        self.calls(&response.to_string())
    }

    /// Brings a call's name and arguments back to what the tool itself calls them.
    pub(crate) fn understood(&self, call: Result<Requested, Malformed>) -> Result<Requested, Malformed> {
        let mut call = call.map_err(|mut malformed| {
            malformed.name = malformed.name.map(|name| self.decoded(&name).to_owned());
            malformed
        })?;
        if let Some(tool) = self.meant(&call.name) {
            call.name.clone_from(&tool.name);
            if !tool.renamed.is_empty() {
                call.arguments = restore::own_names(call.arguments, &tool.renamed);
            }
            if let Some(omissible) = &tool.omissible {
                call.arguments = restore::left_out(call.arguments, omissible);
            }
        }
        Ok(call)
    }

    /// The model's own turn as it goes back into the conversation, before the results: the messages to append. MCP
    /// has none.
    ///
    /// # Errors
    /// When the text is not a response of this provider.
    pub fn turn(&self, response: &str) -> Result<Vec<Value>, ResponseError> {
        wire::turn(self.inner.form.dialect, response)
    }

    /// The messages that return results, to be appended to the conversation. All results of a turn belong together:
    /// most providers want them in one message.
    ///
    /// For MCP each is the answer to one `tools/call`.
    #[must_use]
    pub fn results(&self, answers: &[Answer]) -> Vec<Value> {
        let named = answers.iter().map(|answer| {
            let tool = self.named(&answer.name);
            wire::Returned {
                answer,
                name: tool.map_or(answer.name.as_str(), |tool| &tool.encoded),
                structured: tool.is_some_and(|tool| tool.has_output_schema),
            }
        });
        wire::results(self.inner.form.dialect, named.collect())
    }

    fn named(&self, name: &str) -> Option<&Offered> {
        let tools = &self.inner.tools;
        tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok().map(|at| &tools[at])
    }

    /// The tool that a model means: by the name it was told, or else by the tool's own.
    fn meant(&self, encoded: &str) -> Option<&Offered> {
        let tools = &self.inner.tools;
        let found = self.inner.by_encoded.binary_search_by(|&at| tools[at].encoded.as_str().cmp(encoded));
        found.map_or_else(|_| self.named(encoded), |at| Some(&tools[self.inner.by_encoded[at]]))
    }
}
