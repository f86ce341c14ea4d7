//! What a page is told of a conversation.

use std::sync::Arc;

use futures_util::Stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tool_agent::ConversationStore;
use tool_runtime::CancellationToken;

use super::Seen;
use super::chats::Chats;
use super::live::Live;
use super::watchers::Watching;

impl Chats {
    /// What happens in a conversation: how it is now, then the run that goes on from its beginning, then every other, and
    /// what else changes. A page that has not seen what was there before that, or has what is gone, is told to load
    /// again. Nothing if too many watch.
    pub(super) fn follow(
        &self,
        id: String,
        seen: Seen,
        stopped: CancellationToken,
    ) -> Option<impl Stream<Item = Arc<str>> + Send + 'static> {
        let (sender, receiver) = mpsc::channel(64);
        let chats = self.clone();
        // Before anything is answered: a run that begins after that is not missed, however short it is.
        let (mut watching, live) = {
            let mut runs = self.runs();
            (runs.watch(&id)?, runs.get(&id))
        };
        tokio::spawn(async move {
            let follow = chats.tell(&id, &seen, live, &mut watching, &sender);
            tokio::select! { () = follow => {}, () = stopped.cancelled() => {}, () = sender.closed() => {} }
            drop(watching);
            chats.runs().forget_watchers(&id);
        });
        Some(ReceiverStream::new(receiver))
    }

    async fn tell(
        &self,
        id: &str,
        seen: &Seen,
        live: Option<Arc<Live>>,
        watching: &mut Watching,
        to: &mpsc::Sender<Arc<str>>,
    ) {
        // What cannot be read now can be when the page comes back.
        let (Ok(saved), Ok(waiting)) = (self.store.load(id).await, self.waiting(id).await) else { return };
        let saved = saved.unwrap_or_default();
        if !seen.is_all_before(live.as_deref(), saved.messages.len()) {
            send(to, &json!({"kind": "reload"})).await;
            return;
        }
        let mode = self.runs().mode(id).unwrap_or(saved.mode);
        let waiting: Vec<&str> = waiting.iter().map(|(pending, _)| pending.token.as_str()).collect();
        send(to, &json!({"kind": "state", "mode": mode, "waiting": waiting})).await;
        // Whoever falls too far behind is watching no more, and comes back.
        tokio::select! { () = tell_runs(live, &mut watching.runs, to) => {}, () = tell_changes(&mut watching.changes, to) => {} }
    }
}

async fn tell_runs(live: Option<Arc<Live>>, begun: &mut mpsc::Receiver<Arc<Live>>, to: &mpsc::Sender<Arc<str>>) {
    let mut next = live;
    let mut told = 0;
    loop {
        if let Some(live) = next.filter(|live| live.number > told) {
            told = live.number;
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

/// Tells something, if anybody listens.
async fn send(to: &mpsc::Sender<Arc<str>>, note: &Value) {
    drop(to.send(note.to_string().into()).await);
}
