//! The record of calls, as a page.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Query, State};
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use serde::Deserialize;
use tool_runtime::journal::{self, Entry, Journal};

use super::Site;
use super::layout::{Place, page};
use super::link::link;
use crate::clock::took;
use crate::listing::clip;

/// How many calls a page has.
const CALLS: u32 = 100;

/// Which calls are listed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Filter {
    tool: String,
    conversation: String,
    state: String,
    before: Option<u64>,
}

pub(super) async fn show(State(site): State<Site>, Query(filter): Query<Filter>) -> Markup {
    let mut query = journal::Query::newest(CALLS);
    if !filter.tool.is_empty() {
        query = query.tool(&filter.tool);
    }
    if !filter.conversation.is_empty() {
        query = query.conversation(&filter.conversation);
    }
    query.before = filter.before;
    let content = match site.journal.entries(query).await {
        Err(error) => html! { h1 { "Journal" } p.notice { (error) } },
        Ok(entries) => table(&filter, &entries),
    };
    page(Place::Journal, "Journal", html! {}, None, content)
}

fn table(filter: &Filter, entries: &[Entry]) -> Markup {
    let shown: Vec<&Entry> =
        entries.iter().filter(|entry| filter.state.is_empty() || state(entry).0 == filter.state).collect();
    html! {
        h1 { "Journal" }
        form.filters role="search" method="get" action="/journal" {
            label { span { "Tool" } input name="tool" value=(filter.tool); }
            label { span { "Conversation" } input name="conversation" value=(filter.conversation); }
            label { span { "State" }
                select name="state" {
                    option value="" { "all" }
                    @for state in ["done", "failed", "not run", "running", "unknown"] {
                        option selected[state == filter.state] { (state) }
                    }
                }
            }
            button { "Show" }
        }
        (latencies(entries))
        h2 { "Calls" }
        @if shown.is_empty() { p.quiet { "No calls." } } @else {
            div.boxed tabindex="0" role="region" aria-label="Calls" {
                table {
                    thead { tr { th { "Tool" } th { "State" } th { "When (UTC)" } th.number { "Took" } th { "Decided" } th { "Arguments and answer" } } }
                    tbody { @for entry in shown { (row(entry)) } }
                }
            }
        }
        @if let Some(last) = entries.last().filter(|_| entries.len() == CALLS as usize) {
            @let older = [
                ("before", last.sequence.to_string()), ("tool", filter.tool.clone()),
                ("conversation", filter.conversation.clone()), ("state", filter.state.clone()),
            ];
            p { a href=(link("/journal", &older.each_ref().map(|(name, value)| (*name, value.as_str())))) { "Older calls" } }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    let (name, class) = state(entry);
    let took = finished(entry).map(|finished| took(finished.duration));
    html! {
        tr {
            td.name { a href={ "/tools/" (entry.tool) } { (entry.tool) } }
            td { span class={ "flag " (class) } { (name) } }
            td { time { (DateTime::<Utc>::from(entry.at).format("%Y-%m-%d %H:%M:%S")) } }
            td.number { (took.unwrap_or_default()) }
            td data-label="decided" { (entry.decision.as_deref().unwrap_or("–")) }
            td.wide {
                details {
                    summary { code { (clip(&entry.arguments.to_string(), 60)) } }
                    pre { (entry.arguments.to_string()) }
                    @if let Some(conversation) = &entry.conversation {
                        p { a href=(link("/journal", &[("conversation", conversation)])) { "All calls of this conversation" } }
                    }
                    @if let Some(finished) = finished(entry) { pre { (clip(&finished.result.output, 4000)) } }
                }
            }
        }
    }
}

/// The state in a word, with how it looks.
fn state(entry: &Entry) -> (&'static str, &'static str) {
    match &entry.state {
        journal::State::Noted => ("not run", "warn"),
        journal::State::Running => ("running", ""),
        journal::State::Unfinished => ("unknown", "bad"),
        journal::State::Finished(finished) if finished.result.success => ("done", "calm"),
        journal::State::Finished(_) => ("failed", "bad"),
    }
}

fn finished(entry: &Entry) -> Option<&journal::Finished> {
    match &entry.state {
        journal::State::Finished(finished) => Some(finished),
        _ => None,
    }
}

/// What the lines of a plot stand for.
const STEPS: [&str; 7] = ["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s"];

/// A plot for each tool: a dot for each call, further right the longer it took, each step ten times as long.
fn latencies(entries: &[Entry]) -> Markup {
    let mut tools: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for entry in entries {
        if let Some(finished) = finished(entry) {
            tools.entry(&entry.tool).or_default().push(finished.duration);
        }
    }
    html! {
        @if !tools.is_empty() {
            h2 { "How long calls took" }
            div.boxed tabindex="0" role="region" aria-label="How long calls took" {
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
                                td.number data-label="median" { (took(times[times.len() / 2])) }
                                td.number data-label="longest" { (took(times[times.len() - 1])) }
                                td.wide { (plot(times)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where so many steps are, from the left.
fn at(steps: f64) -> String {
    format!("{:.2}%", (steps * 100.0 / (STEPS.len() - 1) as f64).clamp(0.0, 100.0))
}

fn scale() -> Markup {
    html! {
        svg.plot role="img" aria-label="How long each call took, each line ten times as long" {
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
