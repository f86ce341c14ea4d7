//! A call as a card: what was asked for, what came of it, and what a person can do about it.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use tool_runtime::{Question, ToolResult};

use super::diff::{changes, effect};
use super::icon::icon;
use crate::listing::clip;

/// How much of an answer is shown; the rest is a matter for the journal.
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
    /// It waits, and this page does not know for what: it was decided on elsewhere, or is too old.
    Lost,
    Ended {
        result: &'a ToolResult,
        took: Option<Duration>,
    },
}

impl Card<'_> {
    pub(super) fn render(&self) -> Markup {
        let (state, words) = self.state.name();
        let took = match &self.state {
            CardState::Ended { took: Some(took), .. } => format!("{:.1} ms", took.as_secs_f64() * 1000.0),
            _ => String::new(),
        };
        html! {
            details.card data-call=(self.id) data-state=(state) open[matches!(self.state, CardState::Pending { .. })] {
                summary {
                    (icon(self.tool))
                    span.tool { (self.tool) }
                    span.arguments { (clip(&self.arguments.to_string(), 120)) }
                    span.took { (took) }
                    span class={ "flag " (self.state.look()) } { (words) }
                }
                h3.quiet { "Input" }
                pre tabindex="0" { (serde_json::to_string_pretty(self.arguments).unwrap_or_default()) }
                p.progress aria-live="polite" {}
                (self.body())
            }
        }
    }

    fn body(&self) -> Markup {
        match &self.state {
            CardState::Running | CardState::Lost => html! {},
            CardState::Pending { token, question } => html! {
                @if let Some(preview) = &question.preview { (effect(preview)) }
                (decision(token, question))
            },
            CardState::Ended { result, .. } => html! {
                (changes(result))
                h3.quiet { (if result.success { "Output" } else { "What the model was told" }) }
                pre tabindex="0" { (clip(&result.output, SHOWN)) }
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
            Self::Ended { result, .. } if result.success => ("done", "done"),
            Self::Ended { .. } => ("failed", "failed"),
        }
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
