//! What is heard of a connection beside its answers: progress, changes of the list, its end.

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

/// The connection ended before the answer came. A code of our own: JSON-RPC leaves such numbers to applications.
pub(in crate::remote) const LOST: ErrorCode = ErrorCode(7_001);
/// The answer was too long.
pub(in crate::remote) const TOO_LONG: ErrorCode = ErrorCode(7_002);
/// The answer could not be read.
pub(in crate::remote) const UNREADABLE: ErrorCode = ErrorCode(7_003);

/// Stands in a request's extensions, which are not sent: who listens to its progress.
#[derive(Clone)]
pub(in crate::remote) struct Listener(pub(in crate::remote) Progress);

/// Stands in a request's extensions, too: whether it was sent. What was not has not run.
#[derive(Clone, Default)]
pub(in crate::remote) struct Sent(Arc<AtomicBool>);

impl Sent {
    pub(in crate::remote) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The requests that wait for their answers, and what the server has told meanwhile.
#[derive(Default)]
pub(in crate::remote) struct Wire {
    waiting: Mutex<Waiting>,
    /// The list of tools has changed.
    pub(in crate::remote) changed: Notify,
    /// The server does not know our session any more: what is said in it is not heard.
    pub(in crate::remote) forgotten: CancellationToken,
    /// Nothing more is heard, and no request sent. rmcp takes its time to end what it has begun.
    pub(in crate::remote) ended: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    requests: HashMap<RequestId, Asked>,
    listeners: HashMap<ProgressToken, Progress>,
}

/// A request that waits for its answer.
struct Asked {
    is_call: bool,
    token: Option<ProgressToken>,
}

impl Waiting {
    fn end(&mut self, id: &RequestId) {
        let ended = self.requests.remove(id).or_else(|| {
            // There are servers that give a number back as a string, and rmcp takes that.
            let RequestId::String(text) = id else { return None };
            self.requests.remove(&RequestId::Number(text.parse().ok()?))
        });
        if let Some(Asked { token: Some(token), .. }) = ended {
            self.listeners.remove(&token);
        }
    }
}

impl Wire {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request that is being sent, by the id that is given back.
    fn sending(&self, message: &ClientJsonRpcMessage) -> Option<RequestId> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let asked = match &request.request {
                    // What is said first is rmcp's business, the end of it too.
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => return None,
                    ClientRequest::CallToolRequest(call) => {
                        if let Some(Sent(sent)) = call.extensions.get() {
                            sent.store(true, Ordering::Release);
                        }
                        Asked { is_call: true, token: self.listener_of(&call.extensions) }
                    }
                    _ => Asked { is_call: false, token: None },
                };
                self.waiting().requests.insert(request.id.clone(), asked);
                Some(request.id.clone())
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting().end(id);
                }
                None
            }
            _ => None,
        }
    }

    /// Remembers who listens to a call, if anybody does.
    fn listener_of(&self, extensions: &Extensions) -> Option<ProgressToken> {
        let Listener(progress) = extensions.get::<Listener>()?;
        let token = extensions.get::<RequestMetaObject>()?.get_progress_token()?;
        self.waiting().listeners.insert(token.clone(), progress.clone());
        Some(token)
    }

    /// Whether a tool is being called.
    pub(in crate::remote) fn is_calling(&self) -> bool {
        self.waiting().requests.values().any(|asked| asked.is_call)
    }

    fn progressed(&self, progress: &ProgressNotificationParam) {
        // The listener is the application's own code: it does not run under the lock.
        let listener = self.waiting().listeners.get(&progress.progress_token).cloned();
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
    pub(in crate::remote) async fn never_sends(&self, request: &Sent) {
        self.ended.cancelled().await;
        if request.is_so() {
            // It is told with the others.
            std::future::pending().await
        }
    }

    /// What the requests are told that are not answered any more.
    fn farewell(&self) -> VecDeque<ServerJsonRpcMessage> {
        self.ended.cancel();
        let waiting = std::mem::take(&mut *self.waiting());
        let lost = || ErrorData::new(LOST, "the connection was lost", None);
        waiting.requests.into_keys().map(|id| ServerJsonRpcMessage::error(lost(), Some(id))).collect()
    }
}

/// A transport that is listened to.
///
/// This is done here, where messages come in order, and not by rmcp's handlers, each of which is a task of its own: a
/// report of progress is told before the answer that follows it.
pub(in crate::remote) struct Heard<T> {
    inner: T,
    wire: Arc<Wire>,
    handshake: Handshake,
    /// Once the connection has ended: what is left to tell.
    farewell: Option<VecDeque<ServerJsonRpcMessage>>,
}

impl<T> Heard<T> {
    pub(in crate::remote) fn new(inner: T, wire: Arc<Wire>) -> Self {
        Self { inner, wire, handshake: Handshake::default(), farewell: None }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Heard<T> {
    type Error = T::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.handshake.sending(&message);
        // Nothing will answer a request by now: it is left to those who wait for it to see that.
        let is_late = self.farewell.is_some() && matches!(message, ClientJsonRpcMessage::Request(_));
        let sending = (!is_late).then(|| (self.wire.sending(&message), self.inner.send(message)));
        let wire = self.wire.clone();
        async move {
            let Some((id, sending)) = sending else { return Ok(()) };
            let sent = sending.await;
            if let (Err(_), Some(id)) = (&sent, id) {
                // Nothing will answer what was not sent.
                wire.waiting().end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(farewell) = &mut self.farewell {
                return farewell.pop_front();
            }
            match self.inner.receive().await {
                None => self.farewell = Some(self.wire.farewell()),
                Some(ServerJsonRpcMessage::Notification(message)) => match &message.notification {
                    ServerNotification::ProgressNotification(progress) => self.wire.progressed(&progress.params),
                    ServerNotification::ToolListChangedNotification(_) => {
                        self.wire.changed.notify_one();
                        return Some(ServerJsonRpcMessage::Notification(message));
                    }
                    _ => return Some(ServerJsonRpcMessage::Notification(message)),
                },
                Some(message) => {
                    let Some(message) = self.handshake.received(message) else { continue };
                    match &message {
                        ServerJsonRpcMessage::Response(answer) => self.wire.waiting().end(&answer.id),
                        ServerJsonRpcMessage::Error(error) => {
                            if let Some(id) = &error.id {
                                self.wire.waiting().end(id);
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

    /// Counts what is sent, and says what it was given.
    #[derive(Default)]
    struct Given {
        sent: usize,
        says: VecDeque<ServerJsonRpcMessage>,
    }

    impl Transport<RoleClient> for Given {
        type Error = Infallible;

        fn send(&mut self, _: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            self.sent += 1;
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.says.pop_front()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn call(id: i64, sent: &Sent) -> ClientJsonRpcMessage {
        let mut call = CallToolRequest::new(CallToolRequestParams::new("work"));
        call.extensions.insert(sent.clone());
        ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), RequestId::Number(id))
    }

    #[tokio::test]
    async fn what_comes_after_the_end_is_not_sent() {
        let (before, after) = (Sent::default(), Sent::default());
        let mut heard = Heard::new(Given::default(), Arc::default());
        heard.send(call(1, &before)).await.unwrap();
        let told = heard.receive().await;
        assert!(matches!(told, Some(ServerJsonRpcMessage::Error(error)) if error.error.code == LOST));
        heard.send(call(2, &after)).await.unwrap();
        assert!(heard.receive().await.is_none());
        assert_eq!((heard.inner.sent, before.is_so(), after.is_so()), (1, true, false));
        heard.wire.never_sends(&after).await;
    }

    #[tokio::test]
    async fn an_answer_is_known_by_the_number_in_a_string() {
        for (id, left) in [("5", 0), ("6", 1), ("x", 1)] {
            let error = ErrorData::internal_error("no", None);
            let answer = ServerJsonRpcMessage::error(error, Some(RequestId::String(id.into())));
            let mut heard = Heard::new(Given { says: [answer].into(), ..Given::default() }, Arc::default());
            heard.send(call(5, &Sent::default())).await.unwrap();
            assert!(heard.receive().await.is_some());
            assert_eq!(heard.wire.waiting().requests.len(), left, "{id}");
        }
    }
}
