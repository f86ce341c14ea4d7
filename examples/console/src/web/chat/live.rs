//! A current run, which pages can join at any time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tool_agent::ConversationStoreError;
use tool_runtime::CancellationToken;

/// A current run.
pub(super) struct LiveRun {
    pub(super) number: u64,
    /// The number of messages before it, once known.
    before: OnceLock<usize>,
    /// Stops the run.
    pub(super) cancel: CancellationToken,
    /// Cancelled when another run can begin.
    pub(super) over: CancellationToken,
    /// Cancelled once the user's message or decision is stored.
    taken: CancellationToken,
    /// The error of storing it.
    not_kept: OnceLock<ConversationStoreError>,
    /// The notes so far, for pages that join later.
    notes: watch::Sender<Vec<RunNote>>,
    /// The calls that the run has asked the user about, by token.
    asked: Mutex<HashSet<String>>,
}

/// An event of a run, as JSON for the page.
#[derive(Clone)]
struct RunNote {
    json: Arc<str>,
    /// `true` for the last note of a run.
    is_last: bool,
}

impl LiveRun {
    /// Creates a run that reserves the conversation.
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

    /// Begins the run after `before` messages, with the message of the user unless it continues with a decision.
    pub(super) fn begin(&self, before: usize, said: Option<&str>) {
        self.before.get_or_init(|| before);
        self.note(&json!({"kind": "begin", "run": self.number, "said": said}));
    }

    /// Records that the user's message or decision is stored.
    pub(super) fn take(&self) {
        self.taken.cancel();
    }

    /// Records that storing the conversation failed. After [`take`](Self::take) this concerns only the rest of the run.
    pub(super) fn fail(&self, error: &ConversationStoreError) {
        self.not_kept.get_or_init(|| error.clone());
    }

    /// Waits until the user's message or decision is stored, or the run has ended.
    ///
    /// # Errors
    /// If it was not stored.
    pub(super) async fn until_taken(&self) -> Result<(), ConversationStoreError> {
        tokio::select! {
            biased;
            () = self.taken.cancelled() => Ok(()),
            () = self.over.cancelled() => Err(self.not_kept.get().cloned().unwrap_or_else(|| {
                // The run has panicked.
                ConversationStoreError::new("the run failed before anything was stored; see the log, then try again")
            })),
        }
    }

    /// Returns how many of the messages were there before the run.
    pub(super) fn before(&self, messages: usize) -> usize {
        self.before.get().map_or(messages, |before| messages.min(*before))
    }

    pub(super) fn note(&self, note: &Value) {
        let note = RunNote { json: note.to_string().into(), is_last: note["kind"] == "end" };
        self.notes.send_modify(|notes| notes.push(note));
    }

    /// Records that a call waits for the user's decision.
    pub(super) fn ask(&self, token: &str) {
        self.asked().insert(token.to_owned());
    }

    pub(super) fn has_asked(&self, token: &str) -> bool {
        self.asked().contains(token)
    }

    fn asked(&self) -> MutexGuard<'_, HashSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends past and future notes. Returns `false` if the receiver is gone.
    pub(super) async fn tell(&self, to: &mpsc::Sender<Arc<str>>) -> bool {
        let mut notes = self.notes.subscribe();
        let mut sent = 0;
        loop {
            let new: Vec<RunNote> = notes.borrow_and_update()[sent..].to_vec();
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
                // The run may have ended without a last note.
                () = self.over.cancelled() => return true,
            }
        }
    }
}
