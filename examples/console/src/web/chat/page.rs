//! The page of a conversation.

use maud::{Markup, html};
use serde_json::Value;
use tool_agent::{AssistantMessage, CallResult, ConversationSummary, Message, Mode};
use tool_runtime::confirm::{PendingApproval, PendingCall, PolicyArguments};
use tool_runtime::{ErrorKind, Policy};

use super::card::{Card, CardState};
use super::chats::ConversationView;
use super::{icon, list};
use crate::web::layout::{self, SitePage};
use crate::web::link::link;
use crate::web::markdown;

/// Example messages. The offline demo model understands them too.
const EXAMPLES: [&str; 4] = [
    "How is this machine?",
    "Which processes use the most memory?",
    "List the files of the workspace",
    r#"write_file path="hello.md" content="Hello.""#,
];

pub(super) fn render(
    id: &str,
    view: &ConversationView,
    recent: &[ConversationSummary],
    policy: &PolicyArguments,
    is_on: bool,
) -> Markup {
    let first = view.messages.iter().find_map(|message| match message {
        Message::User { text } => Some(text),
        _ => None,
    });
    let content = html! {
        div.columns {
            (list::render(recent, id))
            section.talk aria-label="Conversation" {
                div.head {
                    button.drawer type="button" popovertarget="conversations" aria-label="Conversations" { (icon::list()) }
                    h1 #title { (first.map_or_else(|| "New conversation".to_owned(), |first| list::title(first))) }
                    a href=(link("/journal", &[("conversation", id)])) { "Its calls" }
                }
                @if !is_on {
                    p.notice { "The extension " code { "ai_chat" } " is off: nothing can be said. " a href="/settings" { "Settings" } }
                }
                @if policy.dry_run { p.notice { "Dry run: calls are described, and none runs." } }
                @if view.messages.is_empty() && view.run.is_none() { (welcome(&policy.policy, is_on)) }
                div.chat #chat data-id=(id) data-seen=(view.messages.len()) data-unended=[view.run] role="log" aria-label="Messages" {
                    @for (index, message) in view.messages.iter().enumerate() {
                        @let results = match view.messages.get(index + 1) { Some(Message::Tools { results }) => results.as_slice(), _ => &[] };
                        (said(message, results, &view.waiting))
                    }
                }
                (composer(view.run.is_some(), is_on))
            }
        }
    };
    layout::page(SitePage::Chat, "Chat", modes(view.mode), Some("chat.js"), content)
}

/// Renders the input for a message.
fn composer(is_live: bool, is_on: bool) -> Markup {
    html! {
        div.composer {
            p.error #problem role="alert" {}
            form.say #say {
                textarea #text name="text" rows="1" placeholder="Ask about this machine"
                    aria-label="Say something" required disabled[!is_on] autofocus {}
                button type="button" #stop hidden[!is_live] { (icon::stop()) "Stop" }
                button.primary type="submit" disabled aria-label="Send" title="Send" { (icon::send()) }
            }
        }
    }
}

/// Renders the mode switch in the header.
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

/// Renders the placeholder of an empty conversation.
fn welcome(policy: &Policy, is_on: bool) -> Markup {
    let asks = match policy {
        Policy::Yolo => "Every call runs without asking you.",
        Policy::ConfirmAll => "Every call asks you first.",
        _ => "Whatever changes something asks you first.",
    };
    html! {
        div.welcome {
            p.lead { "Ask how this machine is, what runs on it, or have a file of the workspace changed. " (asks) }
            @if is_on {
                div.examples role="group" aria-label="Examples" {
                    @for example in EXAMPLES { button type="button" { (example) } }
                }
            }
        }
    }
}

fn said(message: &Message, results: &[CallResult], waiting: &[(PendingApproval, PendingCall)]) -> Markup {
    match message {
        Message::User { text } => html! { div.said { (text) } },
        Message::Assistant(assistant) => answer(assistant, results, waiting),
        _ => html! {},
    }
}

fn answer(assistant: &AssistantMessage, results: &[CallResult], waiting: &[(PendingApproval, PendingCall)]) -> Markup {
    html! {
        @if !assistant.thinking.trim().is_empty() { (thinking(&assistant.thinking)) }
        @if !assistant.text.trim().is_empty() { div.answer { (markdown(&assistant.text)) } }
        @for call in &assistant.calls {
            @let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()));
            @let result = results.iter().find(|result| result.id == call.id).map(|result| &result.result);
            @let asked = waiting.iter().find(|(_, waiting)| waiting.question.call_id.as_deref() == Some(&call.id));
            @let state = match (result, asked) {
                (_, Some((pending, waiting))) => CardState::Pending { token: pending.token.as_str(), question: &waiting.question },
                (Some(result), None) if is_pending(result) => CardState::Lost,
                (Some(result), None) => CardState::Ended(result),
                (None, None) => CardState::Lost,
            };
            (Card { id: &call.id, tool: &call.name, arguments: &arguments, state }.render())
        }
    }
}

/// Renders the model's reasoning, collapsed.
fn thinking(text: &str) -> Markup {
    html! { details.thinking { summary { "Thinking" } div { (text) } } }
}

fn is_pending(result: &tool_runtime::ToolResult) -> bool {
    result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Pending)
}
