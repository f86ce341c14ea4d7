//! What a page is told of a conversation.

use std::sync::Arc;

use futures_util::Stream;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tool_agent::Store;
use tool_runtime::CancellationToken;

use super::chats::Chats;
use super::live::Live;

impl Chats {
    /// What happens in a conversation: the run that goes on from its beginning, then every other. A page that has fewer
    /// messages than there are is told to load again: a run has ended since it was made.
    pub(super) fn follow(
        &self,
        id: String,
        seen: usize,
        stopped: CancellationToken,
    ) -> impl Stream<Item = Arc<str>> + Send + 'static {
        let (sender, receiver) = mpsc::channel(64);
        let chats = self.clone();
        // Before anything is answered: a run that begins after that is not missed, however short it is.
        let (mut begun, live) = {
            let mut runs = self.runs();
            (runs.watch(&id), runs.get(&id))
        };
        tokio::spawn(async move {
            let follow = chats.tell(&id, seen, live, &mut begun, &sender);
            tokio::select! { () = follow => {}, () = stopped.cancelled() => {}, () = sender.closed() => {} }
            drop(begun);
            chats.runs().forget_watchers(&id);
        });
        ReceiverStream::new(receiver)
    }

    async fn tell(
        &self,
        id: &str,
        seen: usize,
        live: Option<Arc<Live>>,
        begun: &mut mpsc::UnboundedReceiver<Arc<Live>>,
        to: &mpsc::Sender<Arc<str>>,
    ) {
        if live.is_none() && self.store.load(id).await.ok().flatten().is_some_and(|saved| saved.messages.len() > seen) {
            let again: Arc<str> = json!({"kind": "reload"}).to_string().into();
            drop(to.send(again).await);
            return;
        }
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
}
