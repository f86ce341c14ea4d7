//! The settings page.

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::SiteState;
use super::layout::{SitePage, page};
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
                li {
                    form method="post" action="/settings" {
                        input type="hidden" name="extension" value=(extension.name());
                        input type="hidden" name="on" value=(!on);
                        button type="submit" role="switch" aria-checked=(on) aria-label=(extension.name()) { span {} }
                    }
                    div {
                        strong { (extension.name()) }
                        p { (extension.about()) }
                        @if let Some(failure) = site.failures.last(extension) {
                            p.notice role="status" { "The last run failed: " (failure) }
                        }
                    }
                }
            }
        }
        @if site.access.token().is_some() {
            h2 { "Access" }
            form.buttons method="post" action="/logout" { button type="submit" { "Log out" } }
        }
        h2 { "File" }
        pre.whole { (serde_json::to_string_pretty(&settings).unwrap_or_default()) }
    };
    page(SitePage::Settings, "Settings", html! {}, None, content)
}
