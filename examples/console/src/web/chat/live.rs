//! Runs that go on, whoever watches: a page that is loaded again finds them where they are.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::Stream;
use serde_json::{Value, json};
use tokio::sync::watch;
use tool_agent::{Agent, Message, Mode, Run, SqliteStore, Store, StoreError, Summary};
use tool_runtime::confirm::EditError;
use tool_runtime::{CancellationToken, Decision, Pending, PendingCall};

use super::record::record;

/// How many modes are remembered that may not be kept yet.
const MODES: usize = 1000;

/// The conversations that are held with one agent. Cheap to clone.
#[derive(Clone)]
pub struct Chats {
    agent: Agent,
    store: SqliteStore,
    state: Arc<State>,
}

struct State {
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    live: HashMap<String, Arc<Live>>,
    /// Modes that were set: a store knows one only once a run has kept it.
    modes: HashMap<String, Mode>,
    /// How many runs were begun.
    begun: u64,
    /// Who is told of each run that begins in a conversation.
    watchers: HashMap<String, Vec<tokio::sync::mpsc::UnboundedSender<Arc<Live>>>>,
}

impl Runs {
    fn forget_watchers(&mut self, id: &str) {
        if let Some(watchers) = self.watchers.get_mut(id) {
            watchers.retain(|watcher| !watcher.is_closed());
            if watchers.is_empty() {
                self.watchers.remove(id);
            }
        }
    }
}

/// A run that goes on.
pub(super) struct Live {
    pub(super) number: u64,
    /// How many messages there were before it.
    before: usize,
    cancel: CancellationToken,
    /// What happened in it so far, for those who come later.
    notes: watch::Sender<Vec<Note>>,
    /// The calls about which it has asked a person, by their tokens.
    asked: Mutex<HashSet<String>>,
    /// Told when another run can begin.
    over: CancellationToken,
}

/// Something that happened, as a page is told of it.
#[derive(Clone)]
struct Note {
    json: Arc<str>,
    /// Whether nothing more happens in its run.
    is_last: bool,
}

impl Live {
    pub(super) fn note(&self, note: &Value) {
        let note = Note { json: note.to_string().into(), is_last: note["kind"] == "end" };
        self.notes.send_modify(|notes| notes.push(note));
    }

    /// Remembers that a person is asked about a call.
    pub(super) fn ask(&self, token: &str) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(token.to_owned());
    }

    fn has_asked(&self, token: &str) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).contains(token)
    }
}

/// A conversation as a page shows it first.
pub(super) struct View {
    /// What was said before the run that goes on.
    pub(super) messages: Vec<Message>,
    pub(super) mode: Mode,
    /// Whether a run goes on.
    pub(super) is_live: bool,
    /// The calls that wait for a person.
    pub(super) waiting: Vec<(Pending, PendingCall)>,
}

/// A run goes on in this conversation already.
#[derive(Debug)]
pub(super) struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("An answer is on its way: wait for it, or stop it.")
    }
}

/// What a person has made of a call's arguments cannot run.
#[derive(Debug)]
pub(super) enum WrongEdit {
    /// The call does not wait any more.
    NotWaiting,
    /// The text cannot be read, or in more than one way.
    Unreadable(EditError),
}

impl fmt::Display for WrongEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting => f.write_str("This call does not wait any more."),
            Self::Unreadable(error) => write!(f, "The arguments cannot be read: {error}."),
        }
    }
}

impl Chats {
    /// The conversations of an agent that keeps them in this store.
    #[must_use]
    pub fn new(agent: Agent, store: SqliteStore) -> Self {
        let state = State { runs: Mutex::default() };
        Self { agent, store, state: Arc::new(state) }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.state.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn recent(&self) -> Result<Vec<Summary>, StoreError> {
        let mut recent = self.store.newest(10).await?;
        // One of which only the mode was set.
        recent.retain(|one| one.messages > 0);
        Ok(recent)
    }

    pub(super) async fn view(&self, id: &str) -> Result<View, StoreError> {
        // Looked up first: a run that ends meanwhile is told of by the events.
        let (live, set) = {
            let runs = self.runs();
            (runs.live.get(id).cloned(), runs.modes.get(id).copied())
        };
        let saved = self.store.load(id).await?.unwrap_or_default();
        let waiting = self.agent.conversation(id).waiting().await.unwrap_or_default();
        let mut messages = saved.messages;
        if let Some(live) = &live {
            messages.truncate(live.before);
        }
        Ok(View { messages, mode: set.unwrap_or(saved.mode), is_live: live.is_some(), waiting })
    }

    pub(super) async fn say(&self, id: &str, text: String) -> Result<(), Busy> {
        let said = text.clone();
        self.begin(id, Some(text), |agent| agent.conversation(id).say(said)).await
    }

    pub(super) async fn decide(&self, id: &str, token: String, decision: Decision) -> Result<(), Busy> {
        // The run that asks is not over yet when a person reads the question, and some are quick.
        let asking = self.runs().live.get(id).filter(|live| live.has_asked(&token)).cloned();
        if let Some(asking) = asking {
            asking.over.cancelled().await;
        }
        self.begin(id, None, |agent| agent.conversation(id).decide(token, decision)).await
    }

    /// The arguments of a call that waits, as a person has changed them.
    pub(super) async fn edited(&self, id: &str, token: &str, text: Option<&str>) -> Result<Value, WrongEdit> {
        let waiting = self.agent.conversation(id).waiting().await.unwrap_or_default();
        let call = waiting.iter().find(|(pending, _)| pending.token.as_str() == token);
        let (_, call) = call.ok_or(WrongEdit::NotWaiting)?;
        call.question.edited(text.unwrap_or_default()).map_err(WrongEdit::Unreadable)
    }

    /// Begins a run, which goes on without anybody watching.
    async fn begin(&self, id: &str, said: Option<String>, run: impl FnOnce(&Agent) -> Run) -> Result<(), Busy> {
        let before = self.store.load(id).await.ok().flatten().map_or(0, |saved| saved.messages.len());
        let live = {
            let mut runs = self.runs();
            if runs.live.contains_key(id) {
                return Err(Busy);
            }
            runs.begun += 1;
            let number = runs.begun;
            let (cancel, notes) = (CancellationToken::new(), watch::Sender::new(Vec::new()));
            let live = Arc::new(Live {
                number,
                before,
                cancel,
                notes,
                asked: Mutex::default(),
                over: CancellationToken::new(),
            });
            live.note(&json!({"kind": "begin", "run": number, "said": said}));
            runs.live.insert(id.to_owned(), live.clone());
            for watcher in runs.watchers.get(id).into_iter().flatten() {
                // One that is gone is forgotten elsewhere.
                let _ = watcher.send(live.clone());
            }
            live
        };
        let run = run(&self.agent).cancel(live.cancel.clone()).channel("console", id);
        let (chats, id) = (self.clone(), id.to_owned());
        let conversation = self.agent.conversation(&id);
        tokio::spawn(async move {
            // Taken out even if the run panics, so that the conversation can go on.
            let _over = Over { chats, id, live: live.clone() };
            record(conversation, run, &live).await;
        });
        Ok(())
    }

    pub(super) async fn set_mode(&self, id: &str, mode: Mode) -> Result<(), StoreError> {
        self.agent.conversation(id).set_mode(mode).await?;
        let mut runs = self.runs();
        if runs.modes.len() >= MODES {
            runs.modes.clear();
        }
        runs.modes.insert(id.to_owned(), mode);
        Ok(())
    }

    /// Stops the run that goes on; false if there is none.
    pub(super) fn stop(&self, id: &str) -> bool {
        let live = self.runs().live.get(id).cloned();
        live.inspect(|live| live.cancel.cancel()).is_some()
    }

    /// What happens in a conversation: the run that goes on from its beginning, then every other. A page that has fewer
    /// messages than there are is told to load again: a run has ended since it was made.
    pub(super) fn follow(
        &self,
        id: String,
        seen: usize,
        stopped: CancellationToken,
    ) -> impl Stream<Item = Arc<str>> + Send + 'static {
        let (sender, receiver) = tokio::sync::mpsc::channel(64);
        let chats = self.clone();
        // Before anything is answered: a run that begins after that is not missed, however short it is.
        let (watcher, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let live = {
            let mut runs = self.runs();
            runs.watchers.entry(id.clone()).or_default().push(watcher);
            runs.live.get(&id).cloned()
        };
        tokio::spawn(async move {
            let follow = chats.tell(&id, seen, live, &mut begun, &sender);
            tokio::select! { () = follow => {}, () = stopped.cancelled() => {}, () = sender.closed() => {} }
            drop(begun);
            chats.runs().forget_watchers(&id);
        });
        tokio_stream::wrappers::ReceiverStream::new(receiver)
    }

    async fn tell(
        &self,
        id: &str,
        seen: usize,
        live: Option<Arc<Live>>,
        begun: &mut tokio::sync::mpsc::UnboundedReceiver<Arc<Live>>,
        to: &tokio::sync::mpsc::Sender<Arc<str>>,
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
                if !send_all(&live, to).await {
                    return;
                }
            }
            let Some(begun) = begun.recv().await else { return };
            next = Some(begun);
        }
    }
}

/// Sends what has happened in a run and what will; false if nobody listens any more.
async fn send_all(live: &Live, to: &tokio::sync::mpsc::Sender<Arc<str>>) -> bool {
    let mut notes = live.notes.subscribe();
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
        if notes.changed().await.is_err() {
            return true;
        }
    }
}

/// Takes a run out of those that go on when it is over.
struct Over {
    chats: Chats,
    id: String,
    live: Arc<Live>,
}

impl Drop for Over {
    fn drop(&mut self) {
        let mut runs = self.chats.runs();
        if runs.live.get(&self.id).is_some_and(|live| live.number == self.live.number) {
            runs.live.remove(&self.id);
        }
        drop(runs);
        self.live.over.cancel();
    }
}
