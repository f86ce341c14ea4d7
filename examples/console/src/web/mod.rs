//! The pages, and the API beneath them.

use std::net::Ipv4Addr;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_runtime::Dispatcher;

use crate::app::{App, OrStart, StartError};
use crate::machine::Places;
use crate::options::Options;

/// Serves the console until it is told to stop.
///
/// # Errors
/// What prevents it from starting.
pub async fn serve(options: &Options) -> Result<(), StartError> {
    let port = options.port;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.await.or_start(&format!("port {port} cannot be had; `--port` takes another"))?;
    let own = listener.local_addr().or_start("the address is not known")?;
    let mut app = App::open(options, Places::default(), own).await?;
    app.start_sampler();
    println!("The console is at http://{own}/ and its API at http://{own}/api/tools");
    let router = router(&app);
    let served = axum::serve(listener, router).with_graceful_shutdown(stop()).await;
    app.close().await;
    served.or_start("the server failed")
}

async fn stop() {
    // Where signals cannot be had, nobody can stop it this way.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The pages and the API of an application.
pub fn router(app: &App) -> Router {
    Router::new().route("/api/tools", get(tools)).with_state(app.dispatcher().clone())
}

async fn tools(State(tools): State<Dispatcher>) -> Json<Value> {
    Json(json!(
        tools
            .definitions()
            .iter()
            .map(|(name, tool)| json!({"name": name, "description": tool.description}))
            .collect::<Vec<_>>()
    ))
}
