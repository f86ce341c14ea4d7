//! The catalogue of tools, and a page for each tool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use tool_mcp::{RemoteServers, ServerState, ServerStatus};
use tool_runtime::ToolDefinition;
use tool_runtime::dialect::Dialect;

use super::layout::{SitePage, page};
use super::link::link;
use super::{SiteState, form, inline_code};
use crate::plugins::PluginError;
use crate::settings::Extension;

/// Query parameters of the catalogue.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolFilter {
    search: String,
    category: String,
    tag: String,
}

pub(super) async fn catalogue(State(site): State<SiteState>, Query(filter): Query<ToolFilter>) -> Markup {
    let servers = site.tools.servers().await;
    let tools = site.tools.dispatcher();
    let all = tools.definitions();
    let categories: BTreeSet<&str> = all.iter().filter_map(|(_, tool)| tool.category.as_deref()).collect();
    let tags: BTreeSet<&str> = all.iter().flat_map(|(_, tool)| &tool.tags).map(String::as_str).collect();
    let found: Vec<(&str, &ToolDefinition)> =
        all.iter().map(|(name, tool)| (&**name, &**tool)).filter(|(name, tool)| filter.fits(name, tool)).collect();
    let mut groups: BTreeMap<&str, Vec<(&str, &ToolDefinition)>> = BTreeMap::new();
    for (name, tool) in &found {
        groups.entry(tool.category.as_deref().unwrap_or("other")).or_default().push((name, tool));
    }
    let is_on = site.settings.get().has(Extension::AiChat);
    let content = html! {
        h1 { "Tools" }
        @if !is_on {
            p.notice { "No tools are offered: the extension " code { "ai_chat" } " is off. " a href="/settings" { "Settings" } }
        } @else if all.is_empty() {
            p.notice { "No tools are offered: registering them failed. The log of the console has the reason." }
        } @else {
            form.filters role="search" method="get" action="/tools" {
                label.wide { span { "Search" } input type="search" name="search" value=(filter.search); }
                (one_of("Category", "category", &categories, &filter.category))
                (one_of("Tag", "tag", &tags, &filter.tag))
                button { "Show" }
            }
            p.quiet role="status" { (found.len()) " of " (all.len()) " tools" }
        }
        @for (category, tools) in &groups {
            section aria-label=(category) {
                h2 { (category) }
                ul.tools {
                    @for (name, tool) in tools {
                        li {
                            a href={ "/tools/" (name) } { (name) }
                            (flags(tool))
                            p { (inline_code(&tool.description)) }
                        }
                    }
                }
            }
        }
        @if is_on { (render_servers(&servers)) }
    };
    page(SitePage::Tools, "Tools", html! {}, None, content)
}

/// Renders the MCP servers, their problems and a button to read their configuration again.
fn render_servers(servers: &Result<Option<RemoteServers>, Arc<PluginError>>) -> Markup {
    let reload = html! {
        form.buttons method="post" action="/servers/reload" { button type="submit" { "Reload" } }
    };
    html! {
        section #servers aria-label="MCP servers" {
            h2 { "MCP servers" }
            @match servers {
                Ok(Some(servers)) => {
                    @for problem in servers.problems() { p.notice role="status" { (inline_code(&problem)) } }
                    ul.tools {
                        @for server in servers.status() { li { (render_server(&server)) } }
                    }
                    (reload)
                }
                Ok(None) => {
                    p.quiet { "The options " code { "--mcp FILE" } " and " code { "--plugins DIR" } " add the tools of MCP servers." }
                }
                Err(error) => {
                    p.notice role="status" { "No server is connected: " (inline_code(&error.to_string())) }
                    (reload)
                }
            }
        }
    }
}

fn render_server(server: &ServerStatus) -> Markup {
    let (look, state) = match &server.state {
        ServerState::Connected => ("calm", "connected"),
        ServerState::Unavailable(_) => ("bad", "not available"),
        ServerState::Closed => ("", "closed"),
        _ => ("warn", "connecting"),
    };
    html! {
        strong { (server.name) } " "
        span.flags { span class={ "flag " (look) } { (state) } }
        p {
            (server.tools.len()) (if server.tools.len() == 1 { " tool" } else { " tools" })
            @if let Some(program) = &server.implementation { " of " (program) }
        }
    }
}

/// Reads the configuration of the MCP servers again.
pub(super) async fn reload_servers(State(site): State<SiteState>) -> Redirect {
    site.tools.reload_servers().await;
    Redirect::to("/tools#servers")
}

impl ToolFilter {
    /// Returns `true` if every search word is in the name, the description or the tags.
    fn fits(&self, name: &str, tool: &ToolDefinition) -> bool {
        let text = format!("{name} {} {}", tool.description, tool.tags.join(" ")).to_lowercase();
        let has_words = self.search.to_lowercase().split_whitespace().all(|word| text.contains(word));
        has_words
            && (self.category.is_empty() || tool.category.as_deref() == Some(&self.category))
            && (self.tag.is_empty() || tool.tags.contains(&self.tag))
    }
}

fn one_of(label: &str, name: &str, all: &BTreeSet<&str>, chosen: &str) -> Markup {
    html! {
        label { span { (label) }
            select name=(name) {
                option value="" { "all" }
                @for one in all { option selected[*one == chosen] { (one) } }
            }
        }
    }
}

pub(super) async fn tool(State(site): State<SiteState>, Path(name): Path<String>) -> Response {
    let Some(tool) = site.tools.dispatcher().definition(&name) else {
        let content = html! { h1 { "No such tool" } p { "There is no tool " code { (name) } "." } };
        return (StatusCode::NOT_FOUND, page(SitePage::Tools, "No such tool", html! {}, None, content)).into_response();
    };
    let content = html! {
        p.back { a href="/tools" { "← All tools" } }
        h1.mono { (name) }
        (flags(&tool))
        p.lead { (inline_code(&tool.description)) }
        @if let Some(more) = &tool.instructions { p { (inline_code(more)) } }
        form #call data-tool=(name) data-token[site.access.token().is_some()] novalidate {
            (form::fields(&tool))
            // The buttons are enabled by the script. Without it they would only reload the page.
            div.buttons {
                button.primary type="submit" value="run" disabled { "Run" }
                button type="submit" value="dry" disabled { "Dry run" }
                button type="button" #curl disabled { "Copy as curl" }
            }
        }
        section #result aria-live="polite" aria-label="Result" hidden {}
        section #forms aria-label="Definitions" {
            h2 { "Definition per model provider" }
            div.definitions {
                div.segments role="group" aria-label="Providers" #dialects {
                    @for dialect in Dialect::ALL { button type="button" aria-pressed="false" { (dialect.name()) } }
                }
                label.check { input type="checkbox" #strict; "Strict: the provider enforces the schema" }
            }
            ul.losses #losses aria-label="Loss report" aria-live="polite" {}
            pre #definition hidden tabindex="0" aria-label="Definition" {}
        }
    };
    page(SitePage::Tools, &name, html! {}, Some("form.js"), content).into_response()
}

/// Renders the flags of a tool.
fn flags(tool: &ToolDefinition) -> Markup {
    html! {
        span.flags {
            @if tool.read_only { span.flag.calm { "reads" } }
            @if tool.sensitive { span.flag.warn { "asks first" } }
            @if tool.destructive { span.flag.bad { "destroys" } }
            @for tag in &tool.tags { a.flag href=(link("/tools", &[("tag", tag)])) { (tag) } }
        }
    }
}
