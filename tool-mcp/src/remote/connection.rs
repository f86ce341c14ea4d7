//! A connection to a server.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult, Tool};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, ServiceError,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tool_runtime::CancellationToken;

use super::endpoint::{Endpoint, redact_url};
use super::requests::ServerRequests;
use super::server_config::{ProtocolGeneration, ServerConfig, ServerLimits};
use super::transport::{ConnectionMonitor, MonitoredTransport, NEWEST, StderrTail, connect_http, start};
use crate::lines::LineTransport;

/// A connection, closed when dropped.
pub(super) struct ServerConnection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) monitor: Arc<ConnectionMonitor>,
    pub(super) requests: ServerRequests,
    /// The server may respond to a call with a request for input.
    pub(super) uses_rounds: bool,
    /// The server may reject a call because the session has expired.
    pub(super) may_expire: bool,
    stop: CancellationToken,
    ended: CancellationToken,
}

/// The reason why a connection could not be opened.
#[derive(Debug)]
pub(super) struct ConnectionError {
    message: String,
    /// The server may know only the older generation, without saying so.
    maybe_older: bool,
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for ConnectionError {
    fn from(message: String) -> Self {
        Self { message, maybe_older: false }
    }
}

impl ServerConnection {
    /// Opens a connection. A server that disconnects on an unknown first message is tried again with `initialize`.
    ///
    /// Cancelling `stop` closes the connection, even if it is no longer in use.
    pub(super) async fn open(
        config: &ServerConfig,
        requests: &ServerRequests,
        stderr: &StderrTail,
        stop: &CancellationToken,
    ) -> Result<Self, ConnectionError> {
        let open_as = |generation| Self::open_as(config, requests, stderr, generation, stop.child_token());
        match open_as(config.generation).await {
            Err(refused) if refused.maybe_older && config.generation == ProtocolGeneration::Newest => {
                tracing::debug!(server = config.name, %refused, "retrying with the older protocol generation");
                open_as(ProtocolGeneration::Initialize).await
            }
            opened => opened,
        }
    }

    async fn open_as(
        config: &ServerConfig,
        requests: &ServerRequests,
        stderr: &StderrTail,
        generation: ProtocolGeneration,
        stop: CancellationToken,
    ) -> Result<Self, ConnectionError> {
        let longest = config.limits.message;
        let monitor = Arc::<ConnectionMonitor>::default();
        // Closes the connection if opening it fails or is cancelled.
        let close_unfinished = stop.clone().drop_guard();
        let mut opened = match &config.endpoint {
            Endpoint::Command(command) => {
                let program = command.program.display();
                let started = start(&config.name, command, longest, stderr);
                let lines = started.map_err(|error| format!("cannot start {program}: {error}"))?;
                Self::serve(lines, monitor, requests, generation, stop).await
            }
            Endpoint::Http(http) => {
                let transport = connect_http(http, longest, &monitor, &stop)?;
                Self::serve(transport, monitor, requests, generation, stop).await
            }
            Endpoint::Streams(streams) => {
                let streams = streams.connect().await.map_err(|error| format!("cannot connect: {error}"))?;
                Self::serve(LineTransport::new(streams.0, streams.1, longest, ()), monitor, requests, generation, stop)
                    .await
            }
        }?;
        close_unfinished.disarm();
        opened.may_expire = matches!(config.endpoint, Endpoint::Http(_));
        Ok(opened)
    }

    async fn serve<T>(
        transport: T,
        monitor: Arc<ConnectionMonitor>,
        requests: &ServerRequests,
        generation: ProtocolGeneration,
        stop: CancellationToken,
    ) -> Result<Self, ConnectionError>
    where
        T: Transport<RoleClient> + 'static,
    {
        let preferred_versions = vec![NEWEST];
        let lifecycle = match generation {
            ProtocolGeneration::Newest => {
                ClientLifecycleMode::Auto { preferred_versions, legacy_version: Some(ProtocolVersion::V_2025_11_25) }
            }
            ProtocolGeneration::Initialize => ClientLifecycleMode::Initialize,
            ProtocolGeneration::Discover => ClientLifecycleMode::Discover { preferred_versions },
        };
        let ended = CancellationToken::new();
        let monitored = MonitoredTransport::new(transport, monitor.clone());
        let opening = serve_client_with_lifecycle_and_ct(requests.clone(), monitored, lifecycle, stop.clone());
        // Boxed as a trait object, because the compiler cannot prove that rmcp's future is `Send`.
        let opening: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(opening);
        let running = opening.await.map_err(open_error)?;
        let peer = running.peer().clone();
        let guard = ended.clone().drop_guard();
        tokio::spawn(async move {
            let _guard = guard;
            drop(running.waiting().await);
        });
        let uses_rounds = peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
        Ok(Self { peer, monitor, requests: requests.clone(), uses_rounds, may_expire: false, stop, ended })
    }

    /// Returns `true` if the server no longer knows the session. A new connection is needed then.
    pub(super) fn is_session_expired(&self) -> bool {
        self.monitor.session_expired.is_cancelled()
    }

    /// Returns `true` if the connection can no longer be used.
    pub(super) fn is_closed(&self) -> bool {
        self.is_session_expired() || self.monitor.ended.is_cancelled()
    }

    /// Waits until the connection can no longer be used, and returns the reason.
    pub(super) async fn closed(&self) -> &'static str {
        const LOST: &str = "the connection was lost";
        tokio::select! {
            () = self.monitor.ended.cancelled() => LOST,
            () = self.ended.cancelled() => LOST,
            () = self.monitor.session_expired.cancelled() => "the session expired",
        }
    }

    /// Closes the connection and ends the program behind it, if there is one.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }

    /// Lists the tools, up to the limit. Also returns a message if tools were dropped.
    pub(super) async fn list(&self, limits: ServerLimits) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..limits.tools.max(1) {
            let page = self.page(cursor).await?;
            tools.extend(page.0);
            if tools.len() > limits.tools {
                break;
            }
            cursor = page.1;
            if cursor.is_none() {
                return Ok((tools, None));
            }
        }
        tools.truncate(limits.tools);
        let dropped = format!("it lists more than {} tools; the rest was dropped", limits.tools);
        Ok((tools, Some(dropped)))
    }

    /// Requests a page from the server, bypassing rmcp's cache.
    async fn page(&self, cursor: Option<String>) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ClientRequest::ListToolsRequest(ListToolsRequest { params, ..ListToolsRequest::default() });
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        match sent.await_response().await? {
            ServerResult::ListToolsResult(page) => Ok((page.tools, page.next_cursor)),
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn open_error(error: ClientInitializeError) -> ConnectionError {
    if let ClientInitializeError::TransportError { error, .. } = &error
        && error.error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    {
        // Reading and writing race to notice that the program has ended.
        return open_error(ClientInitializeError::ConnectionClosed(String::new()));
    }
    let maybe_older = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
    );
    let message = match error {
        ClientInitializeError::ConnectionClosed(_) => "it disconnected during the handshake".to_owned(),
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_) => {
            "it does not speak MCP".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => error_chain(&*error.error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return open_error(*fallback),
        error => error.to_string(),
    };
    ConnectionError { message, maybe_older }
}

/// Joins an error with its sources, because the outermost message of HTTP errors is seldom the cause. Secrets in URLs are
/// redacted.
pub(super) fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(StreamableHttpError::Client(error)) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        // rmcp does not return this error from `source()`.
        return error_chain(error);
    }
    let mut text = error.to_string();
    let mut urls = Vec::new();
    let mut sources = Some(error);
    while let Some(source) = sources {
        let source_text = source.to_string();
        if !text.contains(&source_text) {
            text = format!("{text}: {source_text}");
        }
        urls.extend(source.downcast_ref().and_then(reqwest::Error::url));
        sources = source.source();
    }
    urls.into_iter().fold(text, |text, url| redact_url(&text, url))
}
