//! Encoding of a conversation for a provider.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};
use tool_runtime::ToolDefinition;
use tool_runtime::dialect::{NameClash, ProviderResult, ToolOffer};

use super::protocol::{PastCall, Protocol};
use crate::{AssistantMessage, CallResult, Message, ModelRequest};

/// Replaces an empty message, which providers reject.
const EMPTY_MESSAGE: &str = "(nothing)";

/// Returns the tools of a request. If none are offered, those of earlier calls, with empty definitions.
pub(super) fn tools(protocol: &dyn Protocol, request: &ModelRequest<'_>) -> Result<ToolOffer, NameClash> {
    if let Some(tools) = request.tools {
        return tools.offer(protocol.dialect());
    }
    let unknown = ToolDefinition::default();
    let called = request.messages.iter().flat_map(|message| match message {
        Message::Assistant(said) => said.calls.as_slice(),
        _ => &[],
    });
    // Different names that a model made up may have the same encoding.
    let names: BTreeMap<String, &str> =
        called.map(|call| (unoffered_name(protocol, &call.name), call.name.as_str())).collect();
    protocol.dialect().offer(names.into_values().map(|name| (name, &unknown)))
}

/// Returns the encoded name of a tool that is not offered.
fn unoffered_name(protocol: &dyn Protocol, name: &str) -> String {
    let offer = protocol.dialect().offer([(name, &ToolDefinition::default())]);
    offer.ok().and_then(|offer| offer.encoded(name).map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// Encodes the messages of a conversation for the model with this name.
pub(super) fn messages<'a>(
    protocol: &'a dyn Protocol,
    tools: &'a ToolOffer,
    model: &'a str,
    messages: &'a [Message],
) -> Vec<Value> {
    let mut history = HistoryEncoder {
        protocol,
        tools,
        model,
        written: Vec::with_capacity(messages.len()),
        said: Vec::new(),
        pending_ids: Vec::new(),
        used: HashSet::new(),
    };
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { text } => history.user(text),
            Message::Assistant(said) => history.assistant(at, said),
            Message::Tools { results } => history.results(results),
        }
    }
    history.flush();
    history.written
}

/// A writer of the encoded messages.
struct HistoryEncoder<'a> {
    protocol: &'a dyn Protocol,
    tools: &'a ToolOffer,
    model: &'a str,
    written: Vec<Value>,
    /// Texts of the user that are not written yet. Consecutive ones, as a failed run leaves them, become one message:
    /// the chat templates of many models require alternating roles.
    said: Vec<&'a str>,
    /// The provider's ids of the last calls.
    pending_ids: Vec<String>,
    /// All call ids in use.
    used: HashSet<String>,
}

impl<'a> HistoryEncoder<'a> {
    fn user(&mut self, text: &'a str) {
        self.said.push(if text.trim().is_empty() { EMPTY_MESSAGE } else { text });
    }

    fn flush(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.is_empty() {
            self.written.push(self.protocol.user(&said.join("\n\n")));
        }
    }

    fn assistant(&mut self, at: usize, said: &AssistantMessage) {
        let own = said.opaque.as_ref().filter(|_| said.model == self.model);
        // The provider's own ids.
        let mut given =
            own.and_then(Value::as_array).map(|turn| self.protocol.ids(turn)).unwrap_or_default().into_iter();
        let calls: Vec<PastCall<'_>> = said
            .calls
            .iter()
            .enumerate()
            .map(|(number, call)| PastCall {
                id: self.id(given.next(), at, number),
                name: self.encoded(&call.name),
                arguments: if is_object(&call.arguments) { &call.arguments } else { "{}" },
            })
            .collect();
        let text = if said.text.trim().is_empty() { "" } else { &said.text };
        let turn = match own.and_then(|turn| self.protocol.resend(turn, &calls)) {
            Some(turn) => turn,
            None if text.is_empty() && calls.is_empty() => return,
            None => vec![self.protocol.assistant(text, &calls)],
        };
        self.pending_ids = self.protocol.ids(&turn);
        self.flush();
        self.written.extend(turn);
    }

    /// Returns the provider's id of a call. The provider's own id is kept because formats differ, unless another call
    /// already has it: some providers count from 0 in every response.
    fn id(&mut self, given: Option<String>, at: usize, number: usize) -> String {
        let given = given.filter(|id| !id.is_empty() && !self.used.contains(id));
        let id = given.unwrap_or_else(|| format!("call_{at}_{number}"));
        self.used.insert(id.clone());
        id
    }

    /// Writes results. They are in the order of their calls, which determines the ids.
    fn results(&mut self, results: &[CallResult]) {
        let mut ids = std::mem::take(&mut self.pending_ids).into_iter();
        let answers: Vec<ProviderResult> = results
            .iter()
            .map(|result| ProviderResult {
                id: ids.next().unwrap_or_else(|| result.id.clone()),
                name: match self.tools.encoded(&result.name) {
                    Some(_) => result.name.clone(),
                    None => unoffered_name(self.protocol, &result.name),
                },
                output: result.result.output.clone(),
                success: result.result.success,
            })
            .collect();
        self.flush();
        self.written.extend(self.tools.results(&answers));
    }

    /// Returns the encoded name of a tool. A tool that is not offered, or never existed, needs a valid name, too.
    fn encoded(&self, name: &str) -> String {
        self.tools.encoded(name).map_or_else(|| unoffered_name(self.protocol, name), str::to_owned)
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}
