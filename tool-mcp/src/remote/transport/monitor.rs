//! Monitors a connection: pending requests, progress, changed tools, and its end.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, Extensions,
    ProgressNotificationParam, ProgressToken, RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::Transport;
use serde_json::json;
use tokio::sync::Notify;
use tool_runtime::{CancellationToken, Progress};

use super::handshake::Handshake;

/// The connection ended before the response. A private code, in the range that JSON-RPC leaves to applications.
pub(in crate::remote) const LOST: ErrorCode = ErrorCode(7_001);
/// The response was too long.
pub(in crate::remote) const TOO_LONG: ErrorCode = ErrorCode(7_002);
/// The response was invalid.
pub(in crate::remote) const UNREADABLE: ErrorCode = ErrorCode(7_003);

/// The receiver of a request's progress. Stored in the extensions of the request, which are not sent.
#[derive(Clone)]
pub(in crate::remote) struct ProgressListener(pub(in crate::remote) Progress);

/// Set when a request is sent. Stored in its extensions. A request that was not sent has not run.
#[derive(Clone, Default)]
pub(in crate::remote) struct SentFlag(Arc<AtomicBool>);

impl SentFlag {
    pub(in crate::remote) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The state of a connection that is shared with its transport.
#[derive(Default)]
pub(in crate::remote) struct ConnectionMonitor {
    pending: Mutex<PendingRequests>,
    /// Notified when the tools may have changed.
    pub(in crate::remote) tools_changed: Notify,
    /// Cancelled when the server no longer knows the session.
    pub(in crate::remote) session_expired: CancellationToken,
    /// Cancelled when nothing more is received or sent. rmcp itself notices the end only later.
    pub(in crate::remote) ended: CancellationToken,
}

#[derive(Default)]
struct PendingRequests {
    requests: HashMap<RequestId, PendingRequest>,
    listeners: HashMap<ProgressToken, Progress>,
}

/// A request without a response so far.
struct PendingRequest {
    is_call: bool,
    token: Option<ProgressToken>,
}

impl PendingRequests {
    fn end(&mut self, id: &RequestId) {
        let ended = self.requests.remove(id).or_else(|| {
            // Some servers return a number as a string, and rmcp accepts that.
            let RequestId::String(text) = id else { return None };
            self.requests.remove(&RequestId::Number(text.parse().ok()?))
        });
        if let Some(PendingRequest { token: Some(token), .. }) = ended {
            self.listeners.remove(&token);
        }
    }
}

impl ConnectionMonitor {
    fn pending(&self) -> MutexGuard<'_, PendingRequests> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request that is being sent, and returns its id.
    fn sending(&self, message: &ClientJsonRpcMessage) -> Option<RequestId> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let pending = match &request.request {
                    // rmcp handles the handshake and its failures.
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => return None,
                    ClientRequest::CallToolRequest(call) => {
                        if let Some(SentFlag(sent)) = call.extensions.get() {
                            sent.store(true, Ordering::Release);
                        }
                        PendingRequest { is_call: true, token: self.add_listener(&call.extensions) }
                    }
                    _ => PendingRequest { is_call: false, token: None },
                };
                self.pending().requests.insert(request.id.clone(), pending);
                Some(request.id.clone())
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending().end(id);
                }
                None
            }
            _ => None,
        }
    }

    /// Records the progress listener of a call, if it has one.
    fn add_listener(&self, extensions: &Extensions) -> Option<ProgressToken> {
        let ProgressListener(progress) = extensions.get::<ProgressListener>()?;
        let token = extensions.get::<RequestMetaObject>()?.get_progress_token()?;
        self.pending().listeners.insert(token.clone(), progress.clone());
        Some(token)
    }

    /// Returns `true` while a tool call is pending.
    pub(in crate::remote) fn is_calling(&self) -> bool {
        self.pending().requests.values().any(|request| request.is_call)
    }

    fn report_progress(&self, progress: &ProgressNotificationParam) {
        // The listener is application code and must not run under the lock.
        let listener = self.pending().listeners.get(&progress.progress_token).cloned();
        if let Some(listener) = listener {
            let mut report = json!({"progress": progress.progress});
            if let Some(total) = progress.total {
                report["total"] = total.into();
            }
            if let Some(message) = &progress.message {
                report["message"] = message.as_str().into();
            }
            listener.report(report);
        }
    }

    /// Waits until it is certain that a request will not be sent.
    pub(in crate::remote) async fn never_sends(&self, request: &SentFlag) {
        self.ended.cancelled().await;
        if request.is_set() {
            // It fails together with the other pending requests.
            std::future::pending().await
        }
    }

    /// Ends the connection, and returns an error response for each pending request.
    fn end(&self) -> VecDeque<ServerJsonRpcMessage> {
        self.ended.cancel();
        let pending = std::mem::take(&mut *self.pending());
        let lost = || ErrorData::new(LOST, "the connection was lost", None);
        pending.requests.into_keys().map(|id| ServerJsonRpcMessage::error(lost(), Some(id))).collect()
    }
}

/// A transport that updates a [`ConnectionMonitor`].
///
/// rmcp runs each handler in its own task. Here messages are still in order, so a progress report is delivered before the
/// response that follows it.
pub(in crate::remote) struct MonitoredTransport<T> {
    inner: T,
    monitor: Arc<ConnectionMonitor>,
    handshake: Handshake,
    /// The remaining error responses, once the connection has ended.
    final_errors: Option<VecDeque<ServerJsonRpcMessage>>,
}

impl<T> MonitoredTransport<T> {
    pub(in crate::remote) fn new(inner: T, monitor: Arc<ConnectionMonitor>) -> Self {
        Self { inner, monitor, handshake: Handshake::default(), final_errors: None }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for MonitoredTransport<T> {
    type Error = T::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.handshake.sending(&message);
        // A request after the end gets no response; `never_sends` reports that.
        let is_late = self.final_errors.is_some() && matches!(message, ClientJsonRpcMessage::Request(_));
        let sending = (!is_late).then(|| (self.monitor.sending(&message), self.inner.send(message)));
        let monitor = self.monitor.clone();
        async move {
            let Some((id, sending)) = sending else { return Ok(()) };
            let sent = sending.await;
            if let (Err(_), Some(id)) = (&sent, id) {
                // A request that was not sent gets no response.
                monitor.pending().end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(errors) = &mut self.final_errors {
                return errors.pop_front();
            }
            match self.inner.receive().await {
                None => self.final_errors = Some(self.monitor.end()),
                Some(ServerJsonRpcMessage::Notification(message)) => match &message.notification {
                    ServerNotification::ProgressNotification(progress) => {
                        self.monitor.report_progress(&progress.params)
                    }
                    ServerNotification::ToolListChangedNotification(_) => {
                        self.monitor.tools_changed.notify_one();
                        return Some(ServerJsonRpcMessage::Notification(message));
                    }
                    _ => return Some(ServerJsonRpcMessage::Notification(message)),
                },
                Some(message) => {
                    let Some(message) = self.handshake.received(message) else { continue };
                    match &message {
                        ServerJsonRpcMessage::Response(response) => self.monitor.pending().end(&response.id),
                        ServerJsonRpcMessage::Error(error) => {
                            if let Some(id) = &error.id {
                                self.monitor.pending().end(id);
                            }
                        }
                        _ => {}
                    }
                    return Some(message);
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rmcp::model::{CallToolRequest, CallToolRequestParams};

    use super::*;

    /// Counts sent messages, and receives the given ones.
    #[derive(Default)]
    struct FakeTransport {
        sent: usize,
        incoming: VecDeque<ServerJsonRpcMessage>,
    }

    impl Transport<RoleClient> for FakeTransport {
        type Error = Infallible;

        fn send(&mut self, _: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            self.sent += 1;
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.incoming.pop_front()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn call(id: i64, sent: &SentFlag) -> ClientJsonRpcMessage {
        let mut call = CallToolRequest::new(CallToolRequestParams::new("work"));
        call.extensions.insert(sent.clone());
        ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), RequestId::Number(id))
    }

    #[tokio::test]
    async fn sends_no_request_after_the_end() {
        let (before, after) = (SentFlag::default(), SentFlag::default());
        let mut transport = MonitoredTransport::new(FakeTransport::default(), Arc::default());
        transport.send(call(1, &before)).await.unwrap();
        let received = transport.receive().await;
        assert!(matches!(received, Some(ServerJsonRpcMessage::Error(error)) if error.error.code == LOST));
        transport.send(call(2, &after)).await.unwrap();
        assert!(transport.receive().await.is_none());
        assert_eq!((transport.inner.sent, before.is_set(), after.is_set()), (1, true, false));
        transport.monitor.never_sends(&after).await;
    }

    #[tokio::test]
    async fn matches_a_response_whose_id_is_a_number_in_a_string() {
        for (id, left) in [("5", 0), ("6", 1), ("x", 1)] {
            let error = ErrorData::internal_error("no", None);
            let response = ServerJsonRpcMessage::error(error, Some(RequestId::String(id.into())));
            let inner = FakeTransport { incoming: [response].into(), ..FakeTransport::default() };
            let mut transport = MonitoredTransport::new(inner, Arc::default());
            transport.send(call(5, &SentFlag::default())).await.unwrap();
            assert!(transport.receive().await.is_some());
            assert_eq!(transport.monitor.pending().requests.len(), left, "{id}");
        }
    }
}
