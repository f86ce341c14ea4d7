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
            self.tell(|| started(call, &tools));
        }
        let admission = self.parent.budget.take_calls(calls.len(), self.stopped_by);
        let mut admitted = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            match admission.refusal(at, call) {
                Some(result) => open.calls[at].answer(&self.end.watchers, result),
                None => admitted.push(to_make(call, &self.conversation.shared.id, &self.settings)),
            }
        }
        let turn = tools.call_all(admitted);
        let turn = match self.conversation.agent.inner.at_a_time {
            Some(at_a_time) => turn.concurrency(at_a_time),
            None => turn,
        };
        self.open = Some(open.clone());
        let (prepare, hear) = (self.prepare(&open), self.hear(&open));
        let mut turn = turn.each(prepare).heard(hear).into_future();
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
        self.settle();
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
        match history::waiting(&self.state.history) {
            0 => Ok(()),
            waiting => Err(RunEnding::Waiting(waiting)),
        }
    }

    /// Returns the function that configures each call of a turn.
    pub(super) fn prepare(&self, open: &Arc<OpenCalls>) -> impl for<'c> Fn(Call<'c>) -> Call<'c> + Send + Sync + use<> {
        let (open, token, settings) = (open.clone(), self.stop.token.clone(), self.settings.clone());
        let watchers = self.end.watchers.clone();
        move |call| {
            let (open, watchers) = (open.clone(), watchers.clone());
            let id = call.request().call_id().unwrap_or_default();
            let at = open.calls.iter().position(|begun| *begun.id == *id);
            let progress = Progress::to(move |progress| {
                if let Some(call) = at.and_then(|at| open.calls.get(at)) {
                    call.report(&watchers, progress);
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

    /// Returns the function that takes each result. Indices count admitted calls only: refused ones already have a result.
    fn hear(&self, open: &Arc<OpenCalls>) -> impl Fn(usize, &ToolResult) + Send + Sync + use<> {
        let admitted: Vec<usize> = (0..open.calls.len()).filter(|at| open.calls[*at].is_open()).collect();
        let (open, watchers) = (open.clone(), self.end.watchers.clone());
        move |index, result| {
            if let Some(call) = admitted.get(index).and_then(|at| open.calls.get(*at)) {
                call.answer(&watchers, result.clone());
            }
        }
    }
}

fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

fn to_make<'a>(call: &'a ModelCall, conversation: &'a str, settings: &'a CallSettings) -> ToolCall<'a> {
    let made = ToolCall::from_text(&call.name, &call.arguments).id(&call.id).conversation(conversation);
    match &settings.channel {
        Some((channel, chat)) => made.channel(channel, chat),
        None => made,
    }
}

fn started(call: &ModelCall, tools: &Dispatcher) -> AgentEvent {
    let definition = tools.definition(&call.name);
    let arguments = definition.and_then(|definition| {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        Some(redact(&arguments, &definition))
    });
    let (id, tool) = (call.id.as_str().into(), call.name.as_str().into());
    AgentEvent::CallStarted { id, tool, arguments: arguments.unwrap_or(Value::Null) }
}
