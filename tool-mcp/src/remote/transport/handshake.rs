//! Late responses during the handshake.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, DiscoverResult, Implementation, InitializeResult, JsonRpcResponse,
    JsonRpcVersion2_0, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};

/// The newest version of the protocol, which has no `initialize`.
pub(in crate::remote) const NEWEST: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// Keeps a late response to `server/discover` from being taken for the response to `initialize`.
///
/// rmcp probes a server with `server/discover` and falls back to `initialize` on the same connection if the probe gets no
/// response within 10 seconds. A program that takes longer to start reads both requests once it is up, and responds to
/// both.
#[derive(Default)]
pub(super) struct Handshake {
    /// The probe, until it gets a response or times out.
    probe: Option<RequestId>,
    /// The probe that timed out, until it gets a response.
    late: Option<RequestId>,
    /// The `initialize` that followed a timed-out probe, until it gets a response.
    initialize: Option<RequestId>,
    /// The late response of a server that knows `server/discover`.
    discovered: Option<DiscoverResult>,
}

impl Handshake {
    pub(super) fn sending(&mut self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(request) = message else { return };
        match &request.request {
            ClientRequest::DiscoverRequest(_) => self.probe = Some(request.id.clone()),
            ClientRequest::InitializeRequest(_) => {
                self.late = self.probe.take();
                self.initialize = self.late.is_some().then(|| request.id.clone());
            }
            _ => {}
        }
    }

    /// Returns the message that rmcp should see instead of a received one, or `None` for a late response.
    ///
    /// A server that responds late to the probe and refuses `initialize` speaks the newest version only. rmcp is given the
    /// late response as the response to `initialize`, which it accepts with a version that has no handshake.
    pub(super) fn received(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        if self.probe.is_none() && self.late.is_none() && self.initialize.is_none() {
            return Some(message);
        }
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return Some(message),
        };
        // An error without an id belongs to the oldest request, which the server could not parse.
        let is_for = |request: &Option<RequestId>| {
            request.as_ref().is_some_and(|request| id.is_none_or(|id| is_response_to(request, id)))
        };
        if is_for(&self.late) {
            tracing::debug!("server/discover got its response after the timeout");
            self.late = None;
            if let ServerJsonRpcMessage::Response(JsonRpcResponse { result, .. }) = message
                && let ServerResult::DiscoverResult(result) = result
                && result.supported_versions.contains(&NEWEST)
            {
                self.discovered = Some(result);
            }
            return None;
        }
        if is_for(&self.probe) {
            self.probe = None;
        } else if is_for(&self.initialize) {
            let request = self.initialize.take();
            let discovered = self.discovered.take();
            if let (ServerJsonRpcMessage::Error(_), Some(id), Some(result)) = (&message, request, discovered) {
                return Some(initialized(id, result));
            }
        }
        Some(message)
    }
}

/// Returns `true` if a response has the id of a request. Some servers return a number as a string; rmcp accepts that.
fn is_response_to(request: &RequestId, response: &RequestId) -> bool {
    match (request, response) {
        (RequestId::Number(request), RequestId::String(response)) => response.parse() == Ok(*request),
        _ => request == response,
    }
}

fn initialized(id: RequestId, discovered: DiscoverResult) -> ServerJsonRpcMessage {
    let mut result = InitializeResult::new(discovered.capabilities.clone());
    result.protocol_version = NEWEST;
    result.server_info = discovered.server_info().unwrap_or_else(|| Implementation::new("unknown", "unknown"));
    result.instructions = discovered.instructions;
    result.meta = discovered.meta;
    let result = ServerResult::InitializeResult(result);
    ServerJsonRpcMessage::Response(JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result })
}
