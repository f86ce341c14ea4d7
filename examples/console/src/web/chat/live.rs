//! One run that goes on, whoever watches: a page that is loaded again finds it where it is.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tool_agent::ConversationStoreError;
use tool_runtime::CancellationToken;

/// A run that goes on.
pub(super) struct Live {
    pub(super) number: u64,
    /// How many messages there were before it, once it is known.
    before: OnceLock<usize>,
    /// Stops it.
    pub(super) cancel: CancellationToken,
    /// Told when another run can begin.
    pub(super) over: CancellationToken,
    /// Cancelled once what the person said or decided is kept.
    taken: CancellationToken,
    /// Why it is not kept.
    not_kept: OnceLock<ConversationStoreError>,
    /// What happened in it so far, for those who come later.
    notes: watch::Sender<Vec<Note>>,
    /// The calls about which it has asked a person, by their tokens.
    asked: Mutex<HashSet<String>>,
}

/// Something that happened, as a page is told of it.
#[derive(Clone)]
struct Note {
    json: Arc<str>,
    /// Whether nothing more happens in its run.
    is_last: bool,
}

impl Live {
    /// A run that is to begin: no other can.
    pub(super) fn new(number: u64) -> Self {
        Self {
            number,
            before: OnceLock::new(),
            cancel: CancellationToken::new(),
            over: CancellationToken::new(),
            taken: CancellationToken::new(),
            not_kept: OnceLock::new(),
            notes: watch::Sender::new(Vec::new()),
            asked: Mutex::default(),
        }
    }

    /// It begins behind so many messages, with what a person says, unless it goes on with what they have decided.
    pub(super) fn begin(&self, before: usize, said: Option<&str>) {
        self.before.get_or_init(|| before);
        self.note(&json!({"kind": "begin", "run": self.number, "said": said}));
    }

    /// Notes that what the person said or decided is kept.
    pub(super) fn take(&self) {
        self.taken.cancel();
    }

    /// Notes that the conversation could not be kept. Of a run that was [taken](Self::take) it is only the rest.
    pub(super) fn fail(&self, error: &ConversationStoreError) {
        self.not_kept.get_or_init(|| error.clone());
    }

    /// Waits until what the person said or decided is kept, or the run is over.
    ///
    /// # Errors
    /// If it is not kept.
    pub(super) async fn until_taken(&self) -> Result<(), ConversationStoreError> {
        tokio::select! {
            biased;
            () = self.taken.cancelled() => Ok(()),
            () = self.over.cancelled() => Err(self.not_kept.get().cloned().unwrap_or_else(|| {
                // It has panicked.
                ConversationStoreError::new("the run broke off before anything was kept: see the log, then try again")
            })),
        }
    }

    /// How many of so many messages were there before it.
    pub(super) fn before(&self, messages: usize) -> usize {
        self.before.get().map_or(messages, |before| messages.min(*before))
    }

    pub(super) fn note(&self, note: &Value) {
        let note = Note { json: note.to_string().into(), is_last: note["kind"] == "end" };
        self.notes.send_modify(|notes| notes.push(note));
    }

    /// Remembers that a person is asked about a call.
    pub(super) fn ask(&self, token: &str) {
        self.asked().insert(token.to_owned());
    }

    pub(super) fn has_asked(&self, token: &str) -> bool {
        self.asked().contains(token)
    }

    fn asked(&self) -> MutexGuard<'_, HashSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what has happened in it and what will; false if nobody listens any more.
    pub(super) async fn tell(&self, to: &mpsc::Sender<Arc<str>>) -> bool {
        let mut notes = self.notes.subscribe();
        let mut sent = 0;
        loop {
            let new: Vec<Note> = notes.borrow_and_update()[sent..].to_vec();
            sent += new.len();
            for note in new {
                if to.send(note.json).await.is_err() {
                    return false;
                }
                if note.is_last {
                    return true;
                }
            }
            tokio::select! {
                biased;
                Ok(()) = notes.changed() => {}
                // One may be over that had no time to say so.
                () = self.over.cancelled() => return true,
            }
        }
    }
}
