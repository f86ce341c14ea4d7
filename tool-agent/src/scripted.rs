//! A model that says what it is told to say.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::{Answering, Model, ModelError, Reply, Request};

/// A model that follows a script, for tests: it answers at once, the same each time, and costs nothing.
///
/// A script is a list of answers, or a function of what the model is asked. With it a service author tests what a model
/// would do with their tools, through everything that a model's calls go through.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Message, Reply, Scripted};
/// use tool_runtime::{Dispatcher, ErrorKind, tool};
///
/// /// Book a table.
/// #[tool(name = "table.book")]
/// fn book(#[arg(min = 1, max = 8)] guests: u32) -> Result<String, String> {
///     if guests > 6 { Err("The large table is taken.".into()) } else { Ok(format!("Booked for {guests}.")) }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Scripted::new([
///     Reply::call("table.book", json!({"guests": 20})).and_call("table.book", json!({"guests": 7})),
///     Reply::call("table.book", json!({"guests": 4})),
///     Reply::text("You have a table for four."),
/// ]);
/// let agent = Agent::builder(model, Dispatcher::builder().build()?).build();
/// let conversation = agent.conversation("test");
/// let outcome = conversation.say("A table, please.").await;
/// assert_eq!(outcome.answer(), Some("You have a table for four."));
///
/// // What the model has read.
/// let history = conversation.history().await?;
/// let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
/// assert_eq!(results[0].result.error.as_ref().unwrap().kind, ErrorKind::InvalidArguments);
/// assert_eq!(results[1].result.output, "The large table is taken.");
/// # Ok(())
/// # }
/// ```
///
/// A function sees the whole request, and is the way to serve many conversations with one model:
///
/// ```
/// use tool_agent::{Message, Reply, Scripted};
///
/// let model = Scripted::from_fn(|request| match request.messages.last() {
///     Some(Message::Tools { results }) => Reply::text(&results[0].result.output),
///     _ => Reply::call("clock.now", serde_json::json!({})),
/// });
/// # let _ = model;
/// ```
pub struct Scripted {
    script: Script,
}

enum Script {
    List(Mutex<VecDeque<Reply>>),
    Function(Box<dyn Fn(Request<'_>) -> Reply + Send + Sync>),
}

impl Scripted {
    /// Gives these answers, one after the other. Asked once more, it fails.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { script: Script::List(Mutex::new(replies.into_iter().collect())) }
    }

    /// Asks a function for each answer.
    pub fn from_fn(answer: impl Fn(Request<'_>) -> Reply + Send + Sync + 'static) -> Self {
        Self { script: Script::Function(Box::new(answer)) }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        let reply = match &self.script {
            Script::List(replies) => replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
            Script::Function(answer) => Some(answer(request)),
        };
        reply.unwrap_or_else(|| Reply::fails(ModelError::rejected("the script has no more answers"))).now()
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").finish_non_exhaustive()
    }
}
