//! The page of a conversation.

use maud::{Markup, html};
use serde_json::Value;
use tool_agent::{Assistant, CallResult, Message, Mode, Summary};
use tool_runtime::{ErrorKind, Pending, PendingCall};

use super::card::{Card, CardState};
use super::live::View;
use crate::web::layout::{self, Place};
use crate::web::markdown;

pub(super) fn render(id: &str, view: &View, recent: &[Summary], is_on: bool) -> Markup {
    let content = html! {
        h1.quiet { "Chat" }
        @if !is_on {
            p.notice { "The extension " code { "ai_chat" } " is off: nothing can be said. " a href="/settings" { "Settings" } }
        }
        @if view.messages.is_empty() && !view.is_live { (welcome(recent)) }
        div.chat #chat data-id=(id) data-seen=(view.messages.len()) role="log" aria-label="Conversation" {
            @for (index, message) in view.messages.iter().enumerate() {
                @let results = match view.messages.get(index + 1) { Some(Message::Tools { results }) => results.as_slice(), _ => &[] };
                (said(message, results, &view.waiting))
            }
        }
        form.say #say {
            textarea #text name="text" rows="1" placeholder="Ask about this machine, or about the files of the workspace"
                aria-label="Say something" required disabled[!is_on] autofocus {}
            button.primary type="submit" disabled { "Send" }
            button type="button" #stop hidden[!view.is_live] { "Stop" }
        }
        p.error #problem role="alert" {}
    };
    layout::page(Place::Chat, "Chat", modes(view.mode), Some("chat.js"), content)
}

/// The switch in the header.
fn modes(mode: Mode) -> Markup {
    html! {
        div.modes role="group" aria-label="What the model may do" #modes {
            @for (other, name, title) in [
                (Mode::Build, "BUILD", "The model has its tools and does what it is asked for"),
                (Mode::Plan, "PLAN", "The model has no tools and says what it would do"),
            ] {
                button type="button" value=(other.as_str()) title=(title) aria-pressed=((other == mode).to_string()) { (name) }
            }
        }
    }
}

/// What stands in the place of a conversation until something is said.
fn welcome(recent: &[Summary]) -> Markup {
    html! {
        div.welcome {
            p.lead { "Ask how this machine is, what runs on it, or have a file of the workspace changed. "
                "Whatever changes something asks you first." }
            @if !recent.is_empty() {
                nav.conversations aria-label="Conversations" {
                    h2 { "Earlier" }
                    ul {
                        @for one in recent {
                            @let changed = chrono::DateTime::<chrono::Utc>::from(one.changed);
                            li { a href={ "/chat/" (one.id) } { (changed.format("%Y-%m-%d %H:%M")) } " · " (one.messages) " messages" }
                        }
                    }
                }
            }
        }
    }
}

fn said(message: &Message, results: &[CallResult], waiting: &[(Pending, PendingCall)]) -> Markup {
    match message {
        Message::User { text } => html! { div.said { (text) } },
        Message::Assistant(assistant) => answer(assistant, results, waiting),
        _ => html! {},
    }
}

fn answer(assistant: &Assistant, results: &[CallResult], waiting: &[(Pending, PendingCall)]) -> Markup {
    html! {
        @if !assistant.text.trim().is_empty() { div.answer { (markdown(&assistant.text)) } }
        @for call in &assistant.calls {
            @let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()));
            @let result = results.iter().find(|result| result.id == call.id).map(|result| &result.result);
            @let asked = waiting.iter().find(|(_, waiting)| waiting.question.call_id.as_deref() == Some(&call.id));
            @let state = match (result, asked) {
                (_, Some((pending, waiting))) => CardState::Pending { token: pending.token.as_str(), question: &waiting.question },
                (Some(result), None) if is_pending(result) => CardState::Lost,
                (Some(result), None) => CardState::Ended { result, took: None },
                (None, None) => CardState::Lost,
            };
            (Card { id: &call.id, tool: &call.name, arguments: &arguments, state }.render())
        }
    }
}

fn is_pending(result: &tool_runtime::ToolResult) -> bool {
    result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending)
}
