//! An HTTP client that sends requests as a browser does.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, BodyDataStream, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, StatusCode, header};
use console::web::{Access, router};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_runtime::CancellationToken;
use tower::ServiceExt;

use crate::fixture::Console;

/// A client on this machine whose requests come from the console's own pages.
#[derive(Clone)]
pub struct Browser {
    router: Router,
    pub own: SocketAddr,
    peer: SocketAddr,
    /// The session cookie, if the console needs a login.
    cookie: Option<String>,
}

impl Browser {
    pub fn new(console: &Console) -> Self {
        Self::with_access(console, &Access::default())
    }

    /// Creates a client of a console with access control.
    pub fn with_access(console: &Console, access: &Access) -> Self {
        let peer = SocketAddr::from(([127, 0, 0, 1], 50_000));
        Self { router: router(&console.app, access, CancellationToken::new()), own: console.own, peer, cookie: None }
    }

    /// Returns the same client with another peer address, since requests are limited per peer.
    pub fn of_peer(&self, peer: [u8; 4]) -> Self {
        Self { peer: SocketAddr::from((peer, 50_000)), ..self.clone() }
    }

    /// Returns the same client with a session cookie.
    pub fn with_cookie(&self, cookie: &str) -> Self {
        Self { cookie: Some(cookie.to_owned()), ..self.clone() }
    }

    pub async fn send(&self, request: axum::http::request::Builder, body: Body) -> axum::response::Response {
        let mut request = request.body(body).expect("a request");
        request.extensions_mut().insert(ConnectInfo(self.peer));
        self.router.clone().oneshot(request).await.expect("an answer")
    }

    pub fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method).uri(path).header(header::HOST, self.own.to_string());
        match &self.cookie {
            Some(cookie) => request.header(header::COOKIE, cookie),
            None => request,
        }
    }

    pub async fn get(&self, path: &str) -> (StatusCode, String) {
        text(self.send(self.request(Method::GET, path), Body::empty()).await).await
    }

    pub async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        page
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, String) {
        let request = self.request(Method::POST, path).header(header::CONTENT_TYPE, "application/json");
        let request = request.header(header::ORIGIN, format!("http://{}", self.own));
        text(self.send(request, Body::from(body.to_string())).await).await
    }

    /// Collects the events of the next run of a conversation, up to its end.
    pub async fn watch(&self, conversation: &str) -> impl Future<Output = Vec<Value>> + use<> {
        self.watch_as(conversation, "").await
    }

    /// Collects the events of a page that has already received some; also ends at a reload event.
    pub async fn watch_as(&self, conversation: &str, seen: &str) -> impl Future<Output = Vec<Value>> + use<> {
        let mut body = self.stream(&format!("/chat/{conversation}/events?{seen}")).await;
        async move {
            let (mut buffer, mut notes) = (String::new(), Vec::new());
            while let Some(piece) = body.next().await {
                buffer.push_str(std::str::from_utf8(&piece.expect("a piece")).expect("text"));
                while let Some((event, rest)) = buffer.split_once("\n\n") {
                    let data = event.strip_prefix("data: ").map(str::to_owned);
                    buffer = rest.to_owned();
                    let Some(data) = data else { continue };
                    let note: Value = serde_json::from_str(&data).expect("JSON");
                    let is_last = note["kind"] == "end" || note["kind"] == "reload";
                    // Sent to every page at the start and on changes.
                    let is_news = note["kind"] != "state" && note["kind"] != "mode" || !notes.is_empty();
                    if is_news && note["kind"] != "alive" {
                        notes.push(note);
                    }
                    if is_last {
                        return notes;
                    }
                }
            }
            notes
        }
    }

    /// Opens a stream of events.
    pub async fn stream(&self, path: &str) -> BodyDataStream {
        let response = self.send(self.request(Method::GET, path), Body::empty()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.into_body().into_data_stream()
    }

    /// Sends a message and returns the events of its run.
    pub async fn say(&self, conversation: &str, said: &str) -> Vec<Value> {
        let watch = self.watch(conversation).await;
        let (status, answer) = self.post(&format!("/chat/{conversation}/say"), json!({"text": said})).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        watch.await
    }

    pub async fn decide(&self, conversation: &str, body: Value) -> Vec<Value> {
        let watch = self.watch(conversation).await;
        let (status, answer) = self.post(&format!("/chat/{conversation}/decide"), body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        watch.await
    }
}

pub async fn text(response: axum::response::Response) -> (StatusCode, String) {
    let status = response.status();
    let body = to_bytes(response.into_body(), 10_000_000).await.expect("a body");
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

/// Returns the last card of a run.
pub fn card(notes: &[Value]) -> &str {
    notes.iter().rev().find(|note| note["kind"] == "card").and_then(|note| note["html"].as_str()).expect("a card")
}

pub fn token(card: &str) -> &str {
    card.split_once("data-token=\"").and_then(|(_, rest)| rest.split_once('"')).expect("a token").0
}
