//! The journal page.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use serde::Deserialize;
use tool_journal::SqliteJournal;
use tool_runtime::journal::{self, Journal, JournalDecision, JournalEntry, JournalError};

use super::SiteState;
use super::full_output::{full_output, output_excerpt, plain};
use super::layout::{SitePage, page};
use super::link::link;
use crate::clock::format_duration;
use crate::listing::clip;

/// Maximum number of calls per page.
const CALLS: u32 = 100;

/// Maximum number of queries per page when a filter by state applies.
const LOOKS: usize = 100;

/// Maximum number of characters shown of a result.
const SHOWN: usize = 4000;

const STATES: [&str; 6] = ["done", "failed", "refused", "not run", "running", "unknown"];

/// Query parameters of the journal page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct JournalFilter {
    tool: String,
    conversation: String,
    state: String,
    before: Option<u64>,
    /// Shows only the result of this entry.
    output: Option<u64>,
}

pub(super) async fn show(State(site): State<SiteState>, Query(filter): Query<JournalFilter>) -> Response {
    if let Some(sequence) = filter.output {
        return output(&site, sequence).await;
    }
    let content = match filter.find(&site.journal).await {
        Err(error) => html! { h1 { "Journal" } p.notice { (error) } },
        Ok(found) => table(&filter, &found),
    };
    page(SitePage::Journal, "Journal", html! {}, None, content).into_response()
}

/// Returns the full output of a call as text.
async fn output(site: &SiteState, sequence: u64) -> Response {
    let query = journal::EntryQuery::newest(1).before(sequence.saturating_add(1));
    let entries = site.journal.entries(query).await.unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.sequence == sequence);
    let result = entry.and_then(|entry| Some((entry, &finished(entry)?.result)));
    plain(
        result.and_then(|(entry, result)| full_output(site.tools.dispatcher(), entry.conversation.as_deref(), result)),
    )
}

/// The calls of a page.
struct EntryPage {
    entries: Vec<JournalEntry>,
    /// The entry before which older ones may follow.
    older: Option<u64>,
}

impl JournalFilter {
    /// Queries until the page is full: calls with a given state can be far apart.
    async fn find(&self, journal: &SqliteJournal) -> Result<EntryPage, JournalError> {
        let mut query = journal::EntryQuery::newest(CALLS);
        query.tool = Some(self.tool.clone()).filter(|tool| !tool.is_empty());
        query.conversation = Some(self.conversation.clone()).filter(|conversation| !conversation.is_empty());
        query.before = self.before;
        let mut entries = Vec::new();
        for _ in 0..LOOKS {
            let looked_at = journal.entries(query.clone()).await?;
            let last = looked_at.last().map(|entry| entry.sequence).filter(|_| looked_at.len() == CALLS as usize);
            entries.extend(looked_at.into_iter().filter(|entry| self.state.is_empty() || state(entry).0 == self.state));
            if entries.len() >= CALLS as usize {
                entries.truncate(CALLS as usize);
                return Ok(EntryPage { older: entries.last().map(|entry| entry.sequence), entries });
            }
            query.before = last;
            if last.is_none() {
                break;
            }
        }
        Ok(EntryPage { entries, older: query.before })
    }
}

fn table(filter: &JournalFilter, EntryPage { entries, older }: &EntryPage) -> Markup {
    html! {
        h1 { "Journal" }
        form.filters role="search" method="get" action="/journal" {
            label { span { "Tool" } input name="tool" value=(filter.tool); }
            label { span { "Conversation" } input name="conversation" value=(filter.conversation); }
            label { span { "State" }
                select name="state" {
                    option value="" { "all" }
                    @for state in STATES {
                        option selected[state == filter.state] { (state) }
                    }
                }
            }
            button { "Show" }
        }
        (latencies(entries))
        h2 { "Calls" }
        @if entries.is_empty() { p.quiet { "No calls." } } @else {
            div.boxed tabindex="0" role="region" aria-label="Calls" {
                table {
                    thead { tr { th { "Tool" } th { "State" } th { "When (UTC)" } th.number { "Took" } th { "Decided" } th { "Arguments and answer" } } }
                    tbody { @for entry in entries { (row(entry)) } }
                }
            }
        }
        @if let Some(last) = older {
            @let older = [
                ("before", last.to_string()), ("tool", filter.tool.clone()),
                ("conversation", filter.conversation.clone()), ("state", filter.state.clone()),
            ];
            p { a href=(link("/journal", &older.each_ref().map(|(name, value)| (*name, value.as_str())))) { "Older calls" } }
        }
    }
}

fn row(entry: &JournalEntry) -> Markup {
    let (name, class) = state(entry);
    let duration = finished(entry).map(|finished| format_duration(finished.duration));
    html! {
        tr {
            td.name { a href={ "/tools/" (entry.tool) } { (entry.tool) } }
            td { span class={ "flag " (class) } { (name) } }
            td { time { (DateTime::<Utc>::from(entry.at).format("%Y-%m-%d %H:%M:%S")) } }
            td.number { (duration.unwrap_or_default()) }
            td data-label="decided" { (entry.decision.as_ref().map_or("–", JournalDecision::as_str)) }
            td.wide {
                details {
                    summary { code { (clip(&entry.arguments.to_string(), 60)) } }
                    pre { (entry.arguments.to_string()) }
                    @if let Some(conversation) = &entry.conversation {
                        p { a href=(link("/journal", &[("conversation", conversation)])) { "All calls of this conversation" } }
                    }
                    @if let Some(finished) = finished(entry) {
                        (output_excerpt(&finished.result, SHOWN, &link("/journal", &[("output", &entry.sequence.to_string())])))
                    }
                }
            }
        }
    }
}

/// Returns the state of a call and its CSS class.
fn state(entry: &JournalEntry) -> (&'static str, &'static str) {
    match &entry.state {
        journal::EntryState::Noted if is_refused(entry) => ("refused", "warn"),
        journal::EntryState::Noted => ("not run", "warn"),
        journal::EntryState::Running => ("running", ""),
        journal::EntryState::Unfinished => ("unknown", "bad"),
        journal::EntryState::Finished(finished) if finished.result.success => ("done", "calm"),
        journal::EntryState::Finished(_) => ("failed", "bad"),
    }
}

/// Returns `true` if a user or a policy refused the call. Deferred, dry and rate-limited calls do not count.
fn is_refused(entry: &JournalEntry) -> bool {
    use JournalDecision::{Aborted, NobodyToAsk, Refused, RefusedByPolicy};
    matches!(entry.decision, Some(Refused | RefusedByPolicy | NobodyToAsk | Aborted))
}

fn finished(entry: &JournalEntry) -> Option<&journal::FinishedCall> {
    match &entry.state {
        journal::EntryState::Finished(finished) => Some(finished),
        _ => None,
    }
}

/// Labels of the plot's grid lines.
const STEPS: [&str; 7] = ["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s"];

/// Renders a plot per tool with a dot for each call on a logarithmic scale.
fn latencies(entries: &[JournalEntry]) -> Markup {
    let mut tools: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for entry in entries {
        if let Some(finished) = finished(entry) {
            tools.entry(&entry.tool).or_default().push(finished.duration);
        }
    }
    html! {
        @if !tools.is_empty() {
            h2 { "Durations" }
            div.boxed tabindex="0" role="region" aria-label="Durations" {
                table {
                    thead { tr {
                        th { "Tool" } th.number { "Calls" } th.number { "Median" } th.number { "Longest" }
                        th.wide { (scale()) }
                    } }
                    tbody {
                        @for (tool, times) in &mut tools {
                            @let () = times.sort_unstable();
                            tr {
                                td.name { (tool) }
                                td.number data-label="calls" { (times.len()) }
                                td.number data-label="median" { (format_duration(times[times.len() / 2])) }
                                td.number data-label="longest" { (format_duration(times[times.len() - 1])) }
                                td.wide { (plot(times)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the horizontal position of a value on the scale.
fn at(steps: f64) -> String {
    format!("{:.2}%", (steps * 100.0 / (STEPS.len() - 1) as f64).clamp(0.0, 100.0))
}

fn scale() -> Markup {
    html! {
        svg.plot role="img" aria-label="Durations of calls on a logarithmic scale" {
            @for (step, name) in STEPS.iter().enumerate() { text x=(at(step as f64)) y="75%" { (name) } }
        }
    }
}

fn plot(times: &[Duration]) -> Markup {
    let steps = |time: &Duration| (time.as_secs_f64().max(0.0001) / 0.0001).log10();
    html! {
        svg.plot aria-hidden="true" {
            @for step in 0..STEPS.len() { line x1=(at(step as f64)) x2=(at(step as f64)) y1="0" y2="100%" {} }
            @for time in times { circle cx=(at(steps(time))) cy="50%" r="4" {} }
        }
    }
}
