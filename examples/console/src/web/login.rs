//! The login page. A browser exchanges the token for a session cookie, which scripts cannot read.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

use super::SiteState;
use super::access::Access;
use super::layout::head;
use super::sessions::cookie;

/// Lifetime of the cookie in seconds: 30 days.
const KEPT: u32 = 30 * 24 * 60 * 60;

/// The submitted login form.
#[derive(Deserialize)]
pub(super) struct LoginForm {
    token: String,
}

pub(super) async fn show() -> Markup {
    render(None)
}

pub(super) async fn log_in(State(access): State<Access>, headers: HeaderMap, Form(shown): Form<LoginForm>) -> Response {
    match access.token() {
        None => Redirect::to("/").into_response(),
        Some(token) if token.matches(shown.token.trim()) => match access.sessions.begin() {
            Ok(id) => {
                // End the old session: the browser forgets its cookie and could not log out of it any more.
                access.sessions.end(&headers);
                leave_with(&headers, &id, KEPT)
            }
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        },
        Some(_) => (StatusCode::UNAUTHORIZED, render(Some("The token is invalid."))).into_response(),
    }
}

pub(super) async fn log_out(State(site): State<SiteState>, headers: HeaderMap) -> Response {
    site.access.sessions.end(&headers);
    leave_with(&headers, "", 0)
}

/// Redirects with a session cookie. It is `SameSite=Strict`, so that links on other sites do not send it, and `Secure`
/// behind an HTTPS proxy.
fn leave_with(headers: &HeaderMap, id: &str, seconds: u32) -> Response {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let secure = if origin.is_some_and(|origin| origin.starts_with("https://")) { "; Secure" } else { "" };
    let name = cookie(headers);
    let cookie = format!("{name}={id}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

fn render(problem: Option<&str>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head("Log in", None, Some("login.js")))
            body.alone {
                main {
                    img src="/assets/icon.svg" alt="" width="48" height="48";
                    h1 { "Console" }
                    p.quiet { "Enter the token that the console printed when it started, or that its operator has set." }
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
