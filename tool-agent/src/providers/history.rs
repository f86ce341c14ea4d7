//! A conversation in a provider's form.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};
use tool_runtime::ToolDefinition;
use tool_runtime::dialect::{Answer, NameClash, Offer};

use super::protocol::{Past, Protocol};
use crate::{Assistant, CallResult, Message, Request};

/// What stands for a message without a word: no provider takes an empty one, and the conversation could not go on.
const NOTHING: &str = "(nothing)";

/// The tools of a request. Where none are offered, those that were called before, by their names alone.
pub(super) fn tools(protocol: &dyn Protocol, request: &Request<'_>) -> Result<Offer, NameClash> {
    if let Some(tools) = request.tools {
        return tools.offer(protocol.dialect());
    }
    let unknown = ToolDefinition::default();
    let called = request.messages.iter().flat_map(|message| match message {
        Message::Assistant(said) => said.calls.as_slice(),
        _ => &[],
    });
    // Two names that a model has made up may be one for the provider.
    let names: BTreeMap<String, &str> = called.map(|call| (alone(protocol, &call.name), call.name.as_str())).collect();
    protocol.dialect().offer(names.into_values().map(|name| (name, &unknown)))
}

/// What a provider calls a tool that it is not offered.
fn alone(protocol: &dyn Protocol, name: &str) -> String {
    let offer = protocol.dialect().offer([(name, &ToolDefinition::default())]);
    offer.ok().and_then(|offer| offer.encoded(name).map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// The messages of a conversation, for a model of this name.
pub(super) fn messages<'a>(
    protocol: &'a dyn Protocol,
    tools: &'a Offer,
    model: &'a str,
    messages: &'a [Message],
) -> Vec<Value> {
    let mut history = History {
        protocol,
        tools,
        model,
        written: Vec::with_capacity(messages.len()),
        said: Vec::new(),
        awaited: Vec::new(),
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

struct History<'a> {
    protocol: &'a dyn Protocol,
    tools: &'a Offer,
    model: &'a str,
    written: Vec<Value>,
    /// Texts of the user that are not written yet. Several in a row, as a failed run leaves them, become one message:
    /// the chat templates of many models refuse a conversation in which the roles do not alternate.
    said: Vec<&'a str>,
    /// What the provider calls the calls that were written last.
    awaited: Vec<String>,
    /// What it calls all calls that were written.
    used: HashSet<String>,
}

impl<'a> History<'a> {
    fn user(&mut self, text: &'a str) {
        self.said.push(if text.trim().is_empty() { NOTHING } else { text });
    }

    fn flush(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.is_empty() {
            self.written.push(self.protocol.user(&said.join("\n\n")));
        }
    }

    fn assistant(&mut self, at: usize, said: &Assistant) {
        let own = said.opaque.as_ref().filter(|_| said.model == self.model);
        // What the provider itself has called them.
        let mut given =
            own.and_then(Value::as_array).map(|turn| self.protocol.ids(turn)).unwrap_or_default().into_iter();
        let calls: Vec<Past<'_>> = said
            .calls
            .iter()
            .enumerate()
            .map(|(number, call)| Past {
                id: self.id(given.next(), at, number),
                name: self.encoded(&call.name),
                arguments: if is_object(&call.arguments) { &call.arguments } else { "{}" },
            })
            .collect();
        let text = if said.text.trim().is_empty() { "" } else { &said.text };
        let turn = match own.and_then(|turn| self.protocol.again(turn, &calls)) {
            Some(turn) => turn,
            None if text.is_empty() && calls.is_empty() => return,
            None => vec![self.protocol.assistant(text, &calls)],
        };
        self.awaited = self.protocol.ids(&turn);
        self.flush();
        self.written.extend(turn);
    }

    /// What the provider is to call a call. Each has its own idea of what an id looks like, so that it gets its own back,
    /// unless another call has that already: some count from 0 in every answer.
    fn id(&mut self, given: Option<String>, at: usize, number: usize) -> String {
        let given = given.filter(|id| !id.is_empty() && !self.used.contains(id));
        let id = given.unwrap_or_else(|| format!("call_{at}_{number}"));
        self.used.insert(id.clone());
        id
    }

    /// Results are in the order of their calls, which is how they find the ids.
    fn results(&mut self, results: &[CallResult]) {
        let mut ids = std::mem::take(&mut self.awaited).into_iter();
        let answers: Vec<Answer> = results
            .iter()
            .map(|result| Answer {
                id: ids.next().unwrap_or_else(|| result.id.clone()),
                name: match self.tools.encoded(&result.name) {
                    Some(_) => result.name.clone(),
                    None => alone(self.protocol, &result.name),
                },
                output: result.result.output.clone(),
                success: result.result.success,
            })
            .collect();
        self.flush();
        self.written.extend(self.tools.results(&answers));
    }

    /// What the provider calls a tool. One that is not on offer, or that there never was, needs a name that it takes, too.
    fn encoded(&self, name: &str) -> String {
        self.tools.encoded(name).map_or_else(|| alone(self.protocol, name), str::to_owned)
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}
