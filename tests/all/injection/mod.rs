//! Providers, values, services and per-call values; scopes that finish with the right outcome.

// Blocking handlers, which cannot be stopped.
mod blocking;
// Errors of `build()`, and the output of `explain()`.
mod build_errors;
// Warnings of `build()`, and a dispatcher without tools.
mod build_warnings;
// Finish hooks and the end of a scope.
mod finish_hooks;
// Borrowed and moved values.
mod borrowing;
// Parts of provided values.
mod lent_parts;
// Dependencies and failures of providers.
mod providers;
// Instances: shared, behind a lock, trait objects, and those built inside a call.
mod instances;
// Services of the application, and constructors.
mod services;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::inject::InjectError;
use tool_runtime::{Builder, Dispatcher, Manifest, tool, tool_class};

/// The tools of this file whose handler path contains `part`.
fn only(part: &str) -> Manifest {
    let mut tools = Manifest::default();
    for (name, tool) in Manifest::linked().iter() {
        if tool.handler.contains("::injection::") && tool.handler.contains(part) {
            tools.insert(name, tool.clone());
        }
    }
    assert!(!tools.is_empty(), "no tool with {part:?}");
    tools
}

fn tools(part: &str) -> Builder {
    Dispatcher::builder().manifest(only(part))
}

/// A session as applications have it: shared within a call, ended once.
#[derive(Clone)]
struct Session {
    id: usize,
    log: Arc<Mutex<Vec<String>>>,
}

impl Session {
    fn write(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(format!("{}: {}", self.id, what.into()));
    }
}

#[derive(Clone)]
struct Repository {
    session: Session,
}

#[derive(Clone)]
struct CurrentUser(&'static str);

/// Not `Clone`, like a database transaction.
struct Transaction {
    written: Vec<String>,
}

/// Keeps `store.block` waiting while its lock is held.
type Gate = Arc<tokio::sync::Mutex<()>>;

struct Store {
    repository: Repository,
}

#[tool_class(prefix = "store")]
impl Store {
    pub fn new(repository: Repository) -> Self {
        repository.session.write("new");
        Self { repository }
    }

    /// Saves a text.
    pub async fn save(&self, text: &str, session: &Session) -> usize {
        session.write(format!("save {text}"));
        self.repository.session.id
    }

    pub async fn fail(&self) -> Result<(), String> {
        self.repository.session.write("fail");
        Err("it went wrong".to_owned())
    }

    pub async fn panic(&self) {
        self.repository.session.write("panic");
        panic!("at the disco");
    }

    pub async fn hang(&self) {
        self.repository.session.write("hang");
        std::future::pending::<()>().await;
    }

    #[tool(blocking)]
    pub fn block(&self, #[inject] gate: &Gate) -> &'static str {
        drop(gate.blocking_lock());
        self.repository.session.write("unblocked");
        "done"
    }
}

/// Providers for [`Store`], which log what happens to the sessions.
fn store(log: &Arc<Mutex<Vec<String>>>) -> Dispatcher {
    gated(log, &Gate::default())
}

fn gated(log: &Arc<Mutex<Vec<String>>>, gate: &Gate) -> Dispatcher {
    let (started, ended) = (log.clone(), log.clone());
    let count = Arc::new(AtomicUsize::new(0));
    tools("::Store::")
        .provide("session", move |_| {
            let log = started.clone();
            let id = count.fetch_add(1, Ordering::SeqCst);
            async move {
                log.lock().unwrap().push(format!("{id}: begin"));
                Ok::<_, String>(Session { id, log })
            }
        })
        .finish("session", move |session: Session, outcome| {
            let log = ended.clone();
            async move {
                let end = if outcome.is_success() { "commit".to_owned() } else { format!("rollback {outcome:?}") };
                log.lock().unwrap().push(format!("{}: {end}", session.id));
            }
        })
        .provide("repository", |scope| async move {
            Ok::<_, InjectError>(Repository { session: scope.get("session").await? })
        })
        .value("gate", gate.clone())
        .build()
        .unwrap()
}

fn lines(log: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    log.lock().unwrap().drain(..).collect()
}

/// Moves a value out that cannot be cloned.
#[tool(name = "moved.out")]
fn moved_out(#[inject] transaction: Transaction) -> usize {
    transaction.written.len()
}

struct Draft {
    words: Vec<String>,
}

#[tool_class]
impl Draft {
    pub async fn new(#[inject] opening: &str) -> Result<Self, String> {
        tokio::task::yield_now().await;
        if opening.is_empty() {
            return Err("nothing to begin with".to_owned());
        }
        Ok(Self { words: vec![opening.to_owned()] })
    }

    pub fn append(&mut self, word: String) -> String {
        self.words.push(word);
        self.words.join(" ")
    }

    pub fn consume(self) -> usize {
        self.words.len()
    }

    pub fn shared(self: Arc<Self>) -> usize {
        self.words.len()
    }
}
