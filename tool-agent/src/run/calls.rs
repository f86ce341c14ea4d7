//! The calls of one response.

use std::sync::Arc;

use serde_json::Value;
use tool_runtime::arguments::redact;
use tool_runtime::{Call, Dispatcher, ErrorKind, Progress, ToolCall, ToolResult};

use super::CallSettings;
use super::live_run::LiveRun;
use super::open_calls::OpenCalls;
use crate::history;
use crate::{AgentEvent, ModelCall, RunEnding};

impl LiveRun {
    /// Runs the calls of the last response concurrently and adds their results to the history.
    pub(super) async fn call(&mut self) -> Result<(), RunEnding> {
        // Calls are saved before they run, so that they can be recovered after a crash.
        self.save().await?;
        let tools = self.tools();
        let calls = history::open_calls(&self.state.history);
        let open = OpenCalls::new(calls.iter().enumerate().map(|(at, call)| (at, &*call.id, &*call.name)), false);
        for call in calls {
            self.send(|| started_event(call, &tools));
        }
        let admission = self.parent.budget.take_calls(calls.len(), self.stop_reason);
        let mut admitted = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            match admission.refusal(at, call) {
                Some(result) => open.calls[at].finish(&self.guard.events, result),
                None => admitted.push(tool_call(call, &self.conversation.shared.id, &self.settings)),
            }
        }
        let turn = tools.call_all(admitted);
        let turn = match self.conversation.agent.inner.concurrency {
            Some(concurrency) => turn.concurrency(concurrency),
            None => turn,
        };
        self.open = Some(open.clone());
        let (prepare, on_result) = (self.prepare(&open), self.on_result(&open));
        let mut turn = turn.each(prepare).on_result(on_result).into_future();
        let why = tokio::select! {
            biased;
            _ = &mut turn => None,
            why = self.stop.wait() => Some(why),
        };
        if why.is_some() {
            // Cancelled calls report their own results, which does not take long.
            self.stop.token.cancel();
            turn.await;
        }
        self.complete_history();
        self.save().await?;
        let results = history::last_results(&self.state.history);
        if let Some(why) = why {
            return Err(why.into());
        }
        if results.iter().any(|result| kind(&result.result) == Some(ErrorKind::Aborted)) {
            return Err(RunEnding::Aborted);
        }
        if let Some(reached) = admission.reached {
            return Err(RunEnding::Limit(reached));
        }
        match history::pending_count(&self.state.history) {
            0 => Ok(()),
            waiting => Err(RunEnding::Waiting(waiting)),
        }
    }

    /// Returns the function that configures each call of a turn.
    pub(super) fn prepare(&self, open: &Arc<OpenCalls>) -> impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + use<> {
        let (open, token, settings) = (open.clone(), self.stop.token.clone(), self.settings.clone());
        let events = self.guard.events.clone();
        move |call| {
            let (open, events) = (open.clone(), events.clone());
            let id = call.request().call_id().unwrap_or_default();
            let at = open.calls.iter().position(|open_call| *open_call.id == *id);
            let progress = Progress::to(move |progress| {
                if let Some(call) = at.and_then(|at| open.calls.get(at)) {
                    call.report(&events, progress);
                }
            });
            let call = call.cancel(token.clone()).with(progress);
            let call = match &settings.confirm {
                Some(confirm) => call.confirm(confirm.clone()),
                None => call,
            };
            let call = match &settings.counts_for {
                Some(conversation) => call.counts_for(conversation),
                None => call,
            };
            match &settings.prepare {
                Some(prepare) => prepare(call),
                None => call,
            }
        }
    }

    /// Returns the function that takes each result. Indices count admitted calls only: refused ones already have a
    /// result.
    fn on_result(&self, open: &Arc<OpenCalls>) -> impl Fn(usize, &ToolResult) + Send + Sync + use<> {
        let admitted: Vec<usize> = (0..open.calls.len()).filter(|at| open.calls[*at].is_open()).collect();
        let (open, events) = (open.clone(), self.guard.events.clone());
        move |index, result| {
            if let Some(call) = admitted.get(index).and_then(|at| open.calls.get(*at)) {
                call.finish(&events, result.clone());
            }
        }
    }
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

fn tool_call<'a>(call: &'a ModelCall, conversation: &'a str, settings: &'a CallSettings) -> ToolCall<'a> {
    let tool_call = ToolCall::from_text(&call.name, &call.arguments).id(&call.id).conversation(conversation);
    match &settings.channel {
        Some((channel, chat)) => tool_call.channel(channel, chat),
        None => tool_call,
    }
}

fn started_event(call: &ModelCall, tools: &Dispatcher) -> AgentEvent {
    let definition = tools.definition(&call.name);
    let arguments = definition.and_then(|definition| {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        Some(redact(&arguments, &definition))
    });
    let (id, tool) = (call.id.as_str().into(), call.name.as_str().into());
    AgentEvent::CallStarted { id, tool, arguments: arguments.unwrap_or(Value::Null) }
}
