//! The event stream of a conversation's page.

use std::sync::Arc;

use futures_util::Stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tool_agent::ConversationStore;
use tool_runtime::CancellationToken;

use super::SeenMessages;
use super::chats::Chats;
use super::live::LiveRun;
use super::subscribers::RunSubscription;

impl Chats {
    /// Streams the events of a conversation: its state, the current run from its beginning, each later run, and other
    /// changes. A page with missing or outdated messages gets a reload event. Returns `None` if there are too many
    /// subscribers.
    pub(super) fn follow(
        &self,
        id: String,
        seen: SeenMessages,
        stopped: CancellationToken,
    ) -> Option<impl Stream<Item = Arc<str>> + Send + 'static> {
        let (sender, receiver) = mpsc::channel(64);
        let chats = self.clone();
        // Subscribe before the response, so that no run is missed.
        let (mut subscription, live) = {
            let mut runs = self.runs();
            (runs.watch(&id)?, runs.get(&id))
        };
        tokio::spawn(async move {
            let follow = chats.tell(&id, &seen, live, &mut subscription, &sender);
            tokio::select! { () = follow => {}, () = stopped.cancelled() => {}, () = sender.closed() => {} }
            drop(subscription);
            chats.runs().forget_watchers(&id);
        });
        Some(ReceiverStream::new(receiver))
    }

    async fn tell(
        &self,
        id: &str,
        seen: &SeenMessages,
        live: Option<Arc<LiveRun>>,
        subscription: &mut RunSubscription,
        to: &mpsc::Sender<Arc<str>>,
    ) {
        // On a failed read the page reconnects.
        let (Ok(saved), Ok(waiting)) = (self.store.load(id).await, self.waiting(id).await) else { return };
        let saved = saved.unwrap_or_default();
        if !seen.is_all_before(live.as_deref(), saved.messages.len()) {
            send(to, &json!({"kind": "reload"})).await;
            return;
        }
        let mode = self.runs().mode(id).unwrap_or(saved.mode);
        let waiting: Vec<&str> = waiting.iter().map(|(pending, _)| pending.token.as_str()).collect();
        send(to, &json!({"kind": "state", "mode": mode, "waiting": waiting})).await;
        // A subscriber that falls too far behind is dropped and reconnects.
        tokio::select! { () = tell_runs(live, &mut subscription.runs, to) => {}, () = tell_changes(&mut subscription.changes, to) => {} }
    }
}

async fn tell_runs(live: Option<Arc<LiveRun>>, begun: &mut mpsc::Receiver<Arc<LiveRun>>, to: &mpsc::Sender<Arc<str>>) {
    let mut next = live;
    let mut last_number = 0;
    loop {
        if let Some(live) = next.filter(|live| live.number > last_number) {
            last_number = live.number;
            if !live.tell(to).await {
                return;
            }
        }
        let Some(begun) = begun.recv().await else { return };
        next = Some(begun);
    }
}

async fn tell_changes(changes: &mut mpsc::Receiver<Arc<str>>, to: &mpsc::Sender<Arc<str>>) {
    while let Some(change) = changes.recv().await {
        if to.send(change).await.is_err() {
            return;
        }
    }
}

/// Sends a note unless the receiver is gone.
async fn send(to: &mpsc::Sender<Arc<str>>, note: &Value) {
    drop(to.send(note.to_string().into()).await);
}
