//! The pages, and the API beneath them.

mod assets;
mod chat;
mod form;
mod journal;
mod layout;
mod markdown;
mod settings;
mod tools;

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tool_agent::Model;
use tool_http::{Api, Guard, SecurityHeaders};
use tool_journal::SqliteJournal;
use tool_runtime::CancellationToken;

pub use self::chat::Chats;
pub use self::markdown::markdown;

use crate::app::{App, OrStart, StartError};
use crate::machine::Places;
use crate::model;
use crate::options::Options;
use crate::settings::SettingsFile;
use crate::tools::Tools;

/// Serves the console until it is told to stop.
///
/// # Errors
/// What prevents it from starting.
pub async fn serve(options: &Options) -> Result<(), StartError> {
    let port = options.port;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.await.or_start(&format!("port {port} cannot be had; `--port` takes another"))?;
    let own = listener.local_addr().or_start("the address is not known")?;
    let model = model::from_env().or_start("the model cannot be used")?;
    let name = model.name().to_owned();
    let mut app = App::open(options, Places::default(), own, model).await?;
    app.start_sampler();
    let stopped = CancellationToken::new();
    let service = router(&app, stopped.clone()).into_make_service_with_connect_info::<SocketAddr>();
    println!("The console is at http://{own}/ and its API at http://{own}/api/tools; the model is {name}");
    let stop = async move {
        stop().await;
        stopped.cancel();
    };
    let served = axum::serve(listener, service).with_graceful_shutdown(stop).await;
    app.close().await;
    served.or_start("the server failed")
}

async fn stop() {
    // Where signals cannot be had, nobody can stop it this way.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What the pages are made of.
#[derive(Clone)]
struct Site {
    tools: Tools,
    settings: SettingsFile,
    journal: SqliteJournal,
    chats: Chats,
    stopped: CancellationToken,
}

/// The pages and the API of an application. One guard stands before both: they serve this machine, and no page of
/// another site.
pub fn router(app: &App, stopped: CancellationToken) -> Router {
    let guard = Guard::new();
    let api = Api::new(app.dispatcher().clone())
        .guard(guard.clone())
        .pending(app.deferred.clone())
        .journal(app.journal.clone())
        .until(stopped.clone());
    let site = Site {
        tools: app.tools.clone(),
        settings: app.settings.clone(),
        journal: app.journal.clone(),
        chats: app.chats.clone(),
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
        .route("/tools", get(tools::catalogue))
        .route("/tools/{name}", get(tools::tool))
        .route("/journal", get(journal::show))
        .route("/settings", get(settings::show).post(settings::switch))
        .with_state(site)
        .merge(assets::router())
        .layer(guard)
        .layer(SecurityHeaders::pages());
    Router::new().nest("/api", api.into_router()).merge(pages)
}
