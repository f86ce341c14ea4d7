//! Cards that show a call, its result and the buttons to approve it.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use tool_runtime::ToolResult;
use tool_runtime::confirm::Question;

use super::diff::{changes, effect};
use super::icon;
use crate::clock;
use crate::listing::clip;
use crate::web::full_output::output_excerpt;
use crate::web::link::link;
use crate::web::markdown;

/// Maximum number of characters shown of a result. The full text has its own page.
const SHOWN: usize = 100_000;

pub(super) struct Card<'a> {
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) state: CardState<'a>,
}

pub(super) enum CardState<'a> {
    Running,
    Pending {
        token: &'a str,
        question: &'a Question,
    },
    /// The call is pending, but its question is unknown: it was decided in another place, or has expired.
    Lost,
    Ended(&'a ToolResult),
}

impl Card<'_> {
    pub(super) fn render(&self) -> Markup {
        let (state, words) = self.state.name();
        html! {
            details.card data-call=(self.id) data-state=(state) open[matches!(self.state, CardState::Pending { .. }) || self.message().is_some()] {
                summary {
                    (icon::tool(self.tool))
                    span.tool { (self.tool) }
                    span.arguments { @if !is_empty(self.arguments) { (clip(&self.arguments.to_string(), 120)) } }
                    @if let Some(duration) = self.state.duration() { span.took { (duration) } }
                    span class={ "flag " (self.state.look()) } { (words) }
                }
                @if let Some(message) = self.message() { div.answer { (markdown(message)) } }
                h3.quiet { "Input" }
                pre tabindex="0" { (serde_json::to_string_pretty(self.arguments).unwrap_or_default()) }
                p.progress aria-live="polite" {}
                (self.body())
            }
        }
    }

    /// Returns the text of a message that the model has sent with the tool `message`.
    fn message(&self) -> Option<&str> {
        let is_sent = matches!(self.state, CardState::Ended(result) if result.success);
        self.arguments["content"].as_str().filter(|_| is_sent && self.tool == "message")
    }

    fn body(&self) -> Markup {
        match &self.state {
            CardState::Running | CardState::Lost => html! {},
            CardState::Pending { token, question } => html! {
                @if let Some(preview) = &question.preview { (effect(preview)) }
                (decision(token, question))
            },
            CardState::Ended(result) => html! {
                (changes(result))
                h3.quiet { (if result.success { "Output" } else { "Error for the model" }) }
                (output_excerpt(result, SHOWN, &link("", &[("output", self.id)])))
            },
        }
    }
}

impl CardState<'_> {
    fn name(&self) -> (&'static str, &'static str) {
        match self {
            Self::Running => ("running", "running"),
            Self::Pending { .. } => ("pending", "waits for you"),
            Self::Lost => ("lost", "not decided"),
            Self::Ended(result) if result.success => ("done", "done"),
            Self::Ended(_) => ("failed", "failed"),
        }
    }

    /// Returns the duration of the call from its result, so that it stays the same when the page is reloaded.
    fn duration(&self) -> Option<String> {
        let Self::Ended(result) = self else { return None };
        let milliseconds = result.metadata.get("milliseconds")?.as_f64()?;
        Some(clock::format_duration(Duration::try_from_secs_f64(milliseconds / 1e3).ok()?))
    }

    fn look(&self) -> &'static str {
        match self.name().0 {
            "done" => "calm",
            "failed" => "bad",
            "pending" => "warn",
            _ => "",
        }
    }
}

fn is_empty(arguments: &Value) -> bool {
    arguments.as_object().is_some_and(serde_json::Map::is_empty)
}

fn decision(token: &str, question: &Question) -> Markup {
    html! {
        form.decide data-token=(token) {
            details {
                summary { "Edit the arguments" }
                label { span.quiet { "Arguments, as JSON" } textarea name="edited" rows="6" spellcheck="false" { (question.to_edit()) } }
                button type="submit" value="edit" { "Run as edited" }
            }
            label { span.quiet { "Reason, if you refuse" } input name="reason" maxlength="500"; }
            div.buttons {
                button.primary type="submit" value="run" { "Run" }
                button type="submit" value="refuse" { "Refuse" }
                button.danger type="submit" value="abort" { "Stop everything" }
            }
            p.error role="alert" {}
        }
    }
}
