//! Where a browser is given the token, which it keeps as a cookie that no script can read.

use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

use super::access::{Access, COOKIE};

/// How long a browser keeps it, in seconds: a month.
const KEPT: u32 = 30 * 24 * 60 * 60;

/// What somebody shows.
#[derive(Deserialize)]
pub(super) struct Shown {
    token: String,
}

pub(super) async fn show() -> Markup {
    render(None)
}

pub(super) async fn log_in(State(access): State<Access>, Form(shown): Form<Shown>) -> Response {
    match access.token() {
        None => Redirect::to("/").into_response(),
        Some(token) if token.is(shown.token.trim()) => leave_with(token.text(), KEPT),
        Some(_) => (StatusCode::UNAUTHORIZED, render(Some("This is not the token of this console."))).into_response(),
    }
}

pub(super) async fn log_out() -> Response {
    leave_with("", 0)
}

/// Strict: no link on a page of others has a browser show it.
fn leave_with(token: &str, seconds: u32) -> Response {
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

fn render(problem: Option<&str>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Log in · Console" }
                link rel="stylesheet" href="/assets/style.css";
                link rel="icon" href="/assets/icon.svg";
                script type="module" src="/assets/login.js" {}
            }
            body.alone {
                main {
                    img src="/assets/icon.svg" alt="" width="48" height="48";
                    h1 { "Console" }
                    p.quiet { "This console asks for its token. Whoever has started it knows it." }
                    form #login method="post" action="/login" {
                        label for="token" { "Token" }
                        input #token type="password" name="token" required autofocus autocomplete="current-password"
                            aria-describedby=[problem.map(|_| "problem")] aria-invalid=[problem.map(|_| "true")];
                        @if let Some(problem) = problem { p.error #problem role="alert" { (problem) } }
                        button.primary type="submit" { "Log in" }
                    }
                }
            }
        }
    }
}
