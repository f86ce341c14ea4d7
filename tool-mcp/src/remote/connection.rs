//! One connection to a server, from the first message to the last.

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

use super::config::{Generation, Limits, ServerConfig};
use super::reached::{Reached, without_secrets};
use super::requests::Requests;
use super::transport::{Heard, LastWords, NEWEST, Wire, connect_http, start};
use crate::lines::Lines;

/// A connection. It ends when it is dropped.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) wire: Arc<Wire>,
    pub(super) requests: Requests,
    /// Whether the server may answer a call with a question.
    pub(super) asks_back: bool,
    /// Whether the server may refuse a call because it does not know us any more.
    pub(super) may_forget: bool,
    stop: CancellationToken,
    ended: CancellationToken,
}

/// Why there is no connection, in words.
#[derive(Debug)]
pub(super) struct Refused {
    message: String,
    /// The server may only know the older generation, and not say so.
    maybe_older: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Self { message, maybe_older: false }
    }
}

impl Connection {
    /// Connects. A server that breaks off at a message it does not know is tried again with one that it must know.
    ///
    /// When `stop` is cancelled, it ends, even if it is no longer the one that is used.
    pub(super) async fn open(
        config: &ServerConfig,
        requests: &Requests,
        last_words: &LastWords,
        stop: &CancellationToken,
    ) -> Result<Self, Refused> {
        let open_as = |generation| Self::open_as(config, requests, last_words, generation, stop.child_token());
        match open_as(config.generation).await {
            Err(refused) if refused.maybe_older && config.generation == Generation::Newest => {
                tracing::debug!(server = config.name, %refused, "tried again as a server of the older generation");
                open_as(Generation::Initialize).await
            }
            opened => opened,
        }
    }

    async fn open_as(
        config: &ServerConfig,
        requests: &Requests,
        last_words: &LastWords,
        generation: Generation,
        stop: CancellationToken,
    ) -> Result<Self, Refused> {
        let longest = config.limits.message;
        let wire = Arc::<Wire>::default();
        // What was begun ends when it fails, or when nobody waits for it any more.
        let unfinished = stop.clone().drop_guard();
        let mut opened = match &config.reached {
            Reached::Command(command) => {
                let program = command.program.display();
                let started = start(&config.name, command, longest, last_words);
                let lines = started.map_err(|error| format!("{program} cannot be started: {error}"))?;
                Self::serve(lines, wire, requests, generation, stop).await
            }
            Reached::Http(http) => {
                let transport = connect_http(http, longest, &wire, &stop)?;
                Self::serve(transport, wire, requests, generation, stop).await
            }
            Reached::Streams(streams) => {
                let streams = streams.connect().await.map_err(|error| format!("it cannot be reached: {error}"))?;
                Self::serve(Lines::new(streams.0, streams.1, longest, ()), wire, requests, generation, stop).await
            }
        }?;
        unfinished.disarm();
        opened.may_forget = matches!(config.reached, Reached::Http(_));
        Ok(opened)
    }

    async fn serve<T>(
        transport: T,
        wire: Arc<Wire>,
        requests: &Requests,
        generation: Generation,
        stop: CancellationToken,
    ) -> Result<Self, Refused>
    where
        T: Transport<RoleClient> + 'static,
    {
        let preferred_versions = vec![NEWEST];
        let lifecycle = match generation {
            Generation::Newest => {
                ClientLifecycleMode::Auto { preferred_versions, legacy_version: Some(ProtocolVersion::V_2025_11_25) }
            }
            Generation::Initialize => ClientLifecycleMode::Initialize,
            Generation::Discover => ClientLifecycleMode::Discover { preferred_versions },
        };
        let ended = CancellationToken::new();
        let heard = Heard::new(transport, wire.clone());
        let opening = serve_client_with_lifecycle_and_ct(requests.clone(), heard, lifecycle, stop.clone());
        // In a box of a known type: the compiler cannot see through rmcp's futures that they may be sent.
        let opening: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(opening);
        let running = opening.await.map_err(refused)?;
        let peer = running.peer().clone();
        let guard = ended.clone().drop_guard();
        tokio::spawn(async move {
            let _guard = guard;
            drop(running.waiting().await);
        });
        let asks_back = peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
        Ok(Self { peer, wire, requests: requests.clone(), asks_back, may_forget: false, stop, ended })
    }

    /// Whether the server does not know our session any more. Then another connection is made.
    pub(super) fn is_forgotten(&self) -> bool {
        self.wire.forgotten.is_cancelled()
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_forgotten() || self.wire.ended.is_cancelled()
    }

    /// Waits until the connection is of no use any more, and gives back why.
    pub(super) async fn lost(&self) -> &'static str {
        const LOST: &str = "the connection was lost";
        tokio::select! {
            () = self.wire.ended.cancelled() => LOST,
            () = self.ended.cancelled() => LOST,
            () = self.wire.forgotten.cancelled() => "it forgot the session",
        }
    }

    /// Ends the connection, and the program behind it if there is one.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }

    /// The tools of the server, as many as are allowed; and what was left out, in words.
    pub(super) async fn list(&self, limits: Limits) -> Result<(Vec<Tool>, Option<String>), ServiceError> {
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
        let left_out = format!("it lists more than {} tools; the rest was left out", limits.tools);
        Ok((tools, Some(left_out)))
    }

    /// One page of the list, from the server itself: what is asked for again has changed.
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

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn refused(error: ClientInitializeError) -> Refused {
    if let ClientInitializeError::TransportError { error, .. } = &error
        && error.error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    {
        // A program that has ended shows in what comes first, reading or writing.
        return refused(ClientInitializeError::ConnectionClosed(String::new()));
    }
    let maybe_older = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
    );
    let message = match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was connected".to_owned(),
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_) => {
            "it does not answer as a server of MCP".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => chain(&*error.error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return refused(*fallback),
        error => error.to_string(),
    };
    Refused { message, maybe_older }
}

/// An error with its reasons: what HTTP clients say first is seldom what happened. They say with which URL it did, too;
/// what may be secret in that is left out.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(StreamableHttpError::Client(error)) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        // rmcp does not call this its source.
        return chain(error);
    }
    let mut words = error.to_string();
    let mut urls = Vec::new();
    let mut reasons = Some(error);
    while let Some(reason) = reasons {
        let reason_words = reason.to_string();
        if !words.contains(&reason_words) {
            words = format!("{words}: {reason_words}");
        }
        urls.extend(reason.downcast_ref().and_then(reqwest::Error::url));
        reasons = reason.source();
    }
    urls.into_iter().fold(words, |words, url| without_secrets(&words, url))
}
