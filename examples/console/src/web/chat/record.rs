//! Records the events of a run as notes for pages.

use std::collections::HashMap;

use maud::html;
use serde_json::{Value, json};
use tool_agent::{AgentEvent, AgentUpdate, Conversation, Run, RunEnding, RunOutcome};

use super::card::{Card, CardState};
use super::chats::LiveRunGuard;
use super::live::LiveRun;
use crate::listing::clip;
use crate::web::markdown;

/// Runs to the end and records text as it arrives and then rendered, and each call as a card.
pub(super) async fn record(conversation: Conversation, run: Run, over: &LiveRunGuard) {
    let mut events = run.events();
    let mut recorder =
        Recorder { conversation, live: &over.live, text: String::new(), calls: HashMap::new(), has_missed: false };
    let watch = async {
        while let Some(update) = events.next().await {
            match update {
                AgentUpdate::Event { event, .. } => recorder.note(event).await,
                AgentUpdate::Missed(events) => {
                    tracing::warn!(events, "missed events of a run");
                    recorder.has_missed = true;
                }
                _ => {}
            }
        }
    };
    let (outcome, ()) = tokio::join!(run.into_future(), watch);
    recorder.end(&outcome, over.messages().await);
}

struct Recorder<'a> {
    conversation: Conversation,
    live: &'a LiveRun,
    /// The model's text since the last card.
    text: String,
    calls: HashMap<String, StartedCard>,
    /// `true` if events were lost: the page has to be reloaded.
    has_missed: bool,
}

struct StartedCard {
    tool: String,
    arguments: Value,
}

impl Recorder<'_> {
    async fn note(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Kept => self.live.take(),
            AgentEvent::Text { text } => {
                self.live.note(&json!({"kind": "text", "text": text}));
                self.text.push_str(&text);
            }
            AgentEvent::Thinking { text } => self.live.note(&json!({"kind": "thinking", "text": text})),
            AgentEvent::Retrying { .. } => self.live.note(&json!({"kind": "retrying"})),
            AgentEvent::CallStarted { id, tool, arguments } => {
                self.live.take();
                self.flush();
                let started = StartedCard { tool: tool.to_string(), arguments };
                self.card(&id, &started, CardState::Running);
                self.calls.insert(id.to_string(), started);
            }
            AgentEvent::CallProgress { id, progress } => {
                let text = progress.as_str().map_or_else(|| progress.to_string(), str::to_owned);
                self.live.note(&json!({"kind": "progress", "id": *id, "text": clip(&text, 200)}));
            }
            AgentEvent::CallPending { id, .. } => self.pending(&id).await,
            AgentEvent::CallFinished(done) => {
                let unknown = || StartedCard { tool: done.name.clone(), arguments: Value::Null };
                let started = self.calls.remove(&done.id).unwrap_or_else(unknown);
                self.card(&done.id, &started, CardState::Ended(&done.result));
            }
            AgentEvent::TurnEnded { .. } => self.flush(),
            _ => {}
        }
    }

    async fn pending(&mut self, id: &str) {
        let waiting = self.conversation.pending_calls().await.unwrap_or_default();
        let found = waiting.iter().find(|(_, call)| call.question.call_id.as_deref() == Some(id));
        if let (Some((pending, call)), Some(started)) = (found, self.calls.get(id)) {
            self.live.ask(pending.token.as_str());
            self.card(id, started, CardState::Pending { token: pending.token.as_str(), question: &call.question });
        }
    }

    fn card(&self, id: &str, started: &StartedCard, state: CardState<'_>) {
        let card = Card { id, tool: &started.tool, arguments: &started.arguments, state };
        self.live.note(&json!({"kind": "card", "id": id, "html": card.render().into_string()}));
    }

    /// Replaces the streamed text by rendered Markdown.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.live.note(&json!({"kind": "block", "html": markdown(&text).into_string()}));
        }
    }

    /// Records the end, with the number of messages that the page has now.
    fn end(&mut self, outcome: &RunOutcome, messages: usize) {
        self.flush();
        match &outcome.ending {
            RunEnding::NotKept(error) => self.live.fail(error),
            _ => self.live.take(),
        }
        let html = match &outcome.ending {
            RunEnding::Answered | RunEnding::Waiting(_) => html! {},
            ending => html! { p.ending role="status" { (ending) } },
        };
        let (html, is_whole) = (html.into_string(), !self.has_missed);
        self.live.note(&json!({"kind": "end", "html": html, "messages": messages, "whole": is_whole}));
    }
}
