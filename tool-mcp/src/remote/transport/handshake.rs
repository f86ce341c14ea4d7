//! Late answers during the handshake.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, DiscoverResult, Implementation, InitializeResult, JsonRpcResponse,
    JsonRpcVersion2_0, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};

/// The newest version of the protocol, which has no `initialize`.
pub(in crate::remote) const NEWEST: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// Keeps a late answer to `server/discover` from being taken for the answer to `initialize`.
///
/// rmcp probes a server with `server/discover` and falls back to `initialize` on the same connection if the probe is not
/// answered within 10 seconds. A program that takes longer to start reads both requests once it is up, and answers both.
#[derive(Default)]
pub(super) struct Handshake {
    /// The probe, until it is answered or given up.
    probe: Option<RequestId>,
    /// The probe that rmcp has given up, until it is answered.
    late: Option<RequestId>,
    /// The `initialize` that followed a probe without an answer, until it is answered.
    initialize: Option<RequestId>,
    /// The late answer of a server that knows `server/discover`.
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

    /// Returns the message that rmcp should see instead of a received one, or `None` for a late answer.
    ///
    /// A server that answers the probe late and refuses `initialize` speaks the newest version only. rmcp is given the
    /// answer to the probe as the answer to `initialize`, which it accepts with a version that has no handshake.
    pub(super) fn received(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        if self.probe.is_none() && self.late.is_none() && self.initialize.is_none() {
            return Some(message);
        }
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return Some(message),
        };
        // An error without an id answers the oldest request: the server could not read it.
        let answers = |request: &Option<RequestId>| {
            request.as_ref().is_some_and(|request| id.is_none_or(|id| is_answer_to(request, id)))
        };
        if answers(&self.late) {
            tracing::debug!("server/discover was answered after it was given up");
            self.late = None;
            if let ServerJsonRpcMessage::Response(JsonRpcResponse { result, .. }) = message
                && let ServerResult::DiscoverResult(result) = result
                && result.supported_versions.contains(&NEWEST)
            {
                self.discovered = Some(result);
            }
            return None;
        }
        if answers(&self.probe) {
            self.probe = None;
        } else if answers(&self.initialize) {
            let request = self.initialize.take();
            let discovered = self.discovered.take();
            if let (ServerJsonRpcMessage::Error(_), Some(id), Some(result)) = (&message, request, discovered) {
                return Some(initialized(id, result));
            }
        }
        Some(message)
    }
}

/// Returns `true` if an answer's id is that of a request. Some servers return a number as a string; rmcp accepts that.
fn is_answer_to(request: &RequestId, answer: &RequestId) -> bool {
    match (request, answer) {
        (RequestId::Number(request), RequestId::String(answer)) => answer.parse() == Ok(*request),
        _ => request == answer,
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
