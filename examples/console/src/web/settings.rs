//! The settings page.

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use tool_runtime::Policy;

use super::layout::{SitePage, page};
use super::{SiteState, inline_code};
use crate::settings::Extension;

/// The submitted form of a switch.
#[derive(Deserialize)]
pub(super) struct SwitchForm {
    extension: Extension,
    on: bool,
}

pub(super) async fn show(State(site): State<SiteState>) -> Markup {
    render(&site, None)
}

pub(super) async fn switch(State(site): State<SiteState>, Form(switch): Form<SwitchForm>) -> Response {
    // Run in a task, so that a browser that disconnects does not interrupt the change.
    let applying = tokio::spawn({
        let site = site.clone();
        async move {
            site.settings.switch(switch.extension, switch.on).map_err(|error| error.to_string())?;
            // Apply the change now, so that the response shows its result.
            site.tools.apply(&site.settings.get()).await.map_err(|error| error.to_string())
        }
    });
    let applied = applying.await.unwrap_or_else(|error| Err(error.to_string()));
    match applied {
        Ok(()) => Redirect::to("/settings").into_response(),
        Err(problem) => render(&site, Some(&problem)).into_response(),
    }
}

fn render(site: &SiteState, problem: Option<&str>) -> Markup {
    let settings = site.settings.get();
    let content = html! {
        h1 { "Settings" }
        @if let Some(problem) = problem { p.notice role="alert" { (problem) } }
        ul.switches {
            @for extension in Extension::ALL {
                @let on = settings.has(extension);
                @let option = site.settings.enabled_by(extension);
                li {
                    form method="post" action="/settings" {
                        input type="hidden" name="extension" value=(extension.name());
                        input type="hidden" name="on" value=(!on);
                        button type="submit" role="switch" aria-checked=(on) aria-label=(extension.name())
                            disabled[option.is_some()] { span {} }
                    }
                    div {
                        strong { (extension.name()) }
                        @if extension.is_powerful() { " " span.flag.warn { "powerful" } }
                        p { (inline_code(extension.about())) }
                        @if let Some(option) = option {
                            p { "Enabled by " code { (option) } ": start the console without it to use this switch." }
                        }
                        @for tool in extension.tools().iter().filter(|tool| on && site.tools.is_unusable(tool)) {
                            p { code { (tool) } " is not offered: " (inline_code(missing(tool))) }
                        }
                        @if let Some(failure) = site.failures.last(extension) {
                            p.notice role="status" { "The last run failed: " (failure) }
                        }
                    }
                }
            }
        }
        h2 { "Approvals" }
        p { (inline_code(approvals(&site.tools.policy().policy))) }
        @if site.tools.policy().dry_run {
            p.notice role="status" { "Dry run (" code { "--dry-run" } "): calls are described, and none runs." }
        }
        @if site.access.token().is_some() {
            h2 { "Access" }
            form.buttons method="post" action="/logout" { button type="submit" { "Log out" } }
        }
        h2 { "File" }
        pre.whole { (serde_json::to_string_pretty(&site.settings.stored()).unwrap_or_default()) }
    };
    page(SitePage::Settings, "Settings", html! {}, None, content)
}

/// Describes what a built-in tool needs.
fn missing(tool: &str) -> &'static str {
    match tool {
        "web_search" => "start the console with `BRAVE_API_KEY` or `SEARXNG_URL`.",
        _ => "it is not supported on this system.",
    }
}

/// Describes the calls that need approval.
fn approvals(policy: &Policy) -> &'static str {
    match policy {
        Policy::Yolo => "Every call runs without your approval: the console runs with `--policy yolo`.",
        Policy::ConfirmAll => "Every call waits for your approval: the console runs with `--policy confirm-all`.",
        _ => "Calls of tools marked \"asks first\" wait for your approval; `--policy` changes that.",
    }
}
