//! The web pages and the API.

mod access;
mod assets;
mod chat;
mod form;
mod full_output;
mod inline_code;
mod journal;
mod layout;
mod link;
mod login;
mod markdown;
mod sessions;
mod settings;
mod tools;

use std::io::Write;
use std::net::SocketAddr;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tool_agent::Model;
use tool_http::{Api, SecurityHeaders, Token};
use tool_journal::SqliteJournal;
use tool_runtime::CancellationToken;

pub use self::access::{Access, AccessError};
pub use self::chat::Chats;
pub use self::markdown::markdown;

use self::inline_code::inline_code;

use crate::app::{App, OrStart, StartError};
use crate::background::Failures;
use crate::machine::MachinePaths;
use crate::model;
use crate::options::Options;
use crate::settings::SettingsFile;
use crate::tools::Tools;

/// Serves the console until it is stopped.
///
/// # Errors
/// If the console cannot start or the server fails.
pub async fn serve(options: &Options) -> Result<(), StartError> {
    let (address, port) = (options.address, options.port);
    let given = options.token();
    let access = Access::new(address, given.as_deref(), &options.names).or_start("invalid access options")?;
    let listener = TcpListener::bind((address, port));
    let listener = listener
        .await
        .or_start(&format!("cannot listen on {}; `--port` sets another port", SocketAddr::new(address, port)))?;
    let own = listener.local_addr().or_start("cannot determine the address")?;
    let model = model::from_env().or_start("cannot use the model")?;
    let name = model.name().to_owned();
    let mut app = App::open(options, MachinePaths::default(), own, model).await?;
    app.start_sampler();
    let stopped = CancellationToken::new();
    let service = router(&app, &access, stopped.clone()).into_make_service_with_connect_info::<SocketAddr>();
    let greeting = greeting(own, &name, access.token().filter(|_| given.as_deref() == Some("")));
    // Ignore errors of standard output.
    let _ = writeln!(std::io::stdout(), "{greeting}");
    let stop = async move {
        stop().await;
        stopped.cancel();
    };
    let served = axum::serve(listener, service).with_graceful_shutdown(stop).await;
    app.close().await;
    served.or_start("the server failed")
}

/// Returns the startup message with the URLs, and the login link if a token was generated.
fn greeting(own: SocketAddr, model: &str, made: Option<&Token>) -> String {
    // An unspecified address such as `0.0.0.0` cannot be opened in a browser.
    let reached = match own.ip().is_unspecified() {
        true => format!("localhost:{}", own.port()),
        false => own.to_string(),
    };
    let place =
        format!("The console is at http://{reached}/ and its API at http://{reached}/api/tools; the model is {model}");
    let Some(token) = made.map(Token::text) else { return place };
    format!("{place}\nIts token is {token}\nLog in at http://{reached}/login#{token}")
}

/// Waits for Ctrl-C or a termination signal.
async fn stop() {
    tokio::select! { () = interrupted() => {}, () = terminated() => {} }
}

async fn interrupted() {
    // If signals are unavailable, wait forever.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn terminated() {
    #[cfg(unix)]
    if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        signal.recv().await;
        return;
    }
    std::future::pending::<()>().await;
}

/// State shared by the pages.
#[derive(Clone)]
struct SiteState {
    tools: Tools,
    settings: SettingsFile,
    failures: Failures,
    journal: SqliteJournal,
    chats: Chats,
    access: Access,
    stopped: CancellationToken,
}

/// Returns the router of the pages and the API, both behind one guard.
pub fn router(app: &App, access: &Access, stopped: CancellationToken) -> Router {
    let guard = access.guard();
    let api = Api::new(app.dispatcher().clone())
        .guard(guard.clone())
        .pending(app.deferred.clone())
        .journal(app.journal.clone())
        .until(stopped.clone());
    let site = SiteState {
        tools: app.tools.clone(),
        settings: app.settings.clone(),
        failures: app.sampler.failures(),
        journal: app.journal.clone(),
        chats: app.chats.clone(),
        access: access.clone(),
        stopped,
    };
    let pages = Router::new()
        .route("/", get(chat::start))
        .route("/chat/{id}", get(chat::show))
        .route("/chat/{id}/events", get(chat::events))
        .route("/chat/{id}/say", post(chat::say))
        .route("/chat/{id}/decide", post(chat::decide))
        .route("/chat/{id}/mode", post(chat::set_mode))
        .route("/chat/{id}/stop", post(chat::stop))
        .route("/chat/{id}/delete", post(chat::delete))
        .route("/tools", get(tools::catalogue))
        .route("/tools/{name}", get(tools::tool))
        .route("/servers/reload", post(tools::reload_servers))
        .route("/journal", get(journal::show))
        .route("/settings", get(settings::show).post(settings::switch))
        .route("/logout", post(login::log_out))
        .with_state(site)
        .layer(guard)
        .layer(from_fn(access::lead_to_login));
    let open = Router::new()
        .route("/login", get(login::show).post(login::log_in))
        .with_state(access.clone())
        .merge(assets::router())
        .layer(access.guard_of_login());
    Router::new()
        .nest("/api", api.into_router())
        .merge(pages.merge(open).layer(SecurityHeaders::pages()))
        .layer(from_fn_with_state(access.clone(), access::end_with_session))
}
