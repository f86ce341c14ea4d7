//! A scripted model for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::{Model, ModelError, ModelRequest, Reply, ResponseStream};

/// A model for tests that follows a script.
///
/// The script is a list of replies, or a function of the request. It lets a tool author test how a model's calls are
/// handled, with everything that applies to real calls.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Message, Reply, ScriptedModel};
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
/// let model = ScriptedModel::new([
///     Reply::call("table.book", json!({"guests": 20})).and_call("table.book", json!({"guests": 7})),
///     Reply::call("table.book", json!({"guests": 4})),
///     Reply::text("You have a table for four."),
/// ]);
/// let agent = Agent::builder(model, Dispatcher::builder().build()?).build();
/// let conversation = agent.conversation("test");
/// let outcome = conversation.say("A table, please.").await;
/// assert_eq!(outcome.answer(), Some("You have a table for four."));
///
/// // The results that the model has read.
/// let history = conversation.history().await?;
/// let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
/// assert_eq!(results[0].result.error.as_ref().unwrap().kind, ErrorKind::InvalidArguments);
/// assert_eq!(results[1].result.output, "The large table is taken.");
/// # Ok(())
/// # }
/// ```
///
/// A function receives the whole request, so that one model can serve many conversations:
///
/// ```
/// use tool_agent::{Message, Reply, ScriptedModel};
///
/// let model = ScriptedModel::from_fn(|request| match request.messages.last() {
///     Some(Message::Tools { results }) => Reply::text(&results[0].result.output),
///     _ => Reply::call("clock.now", serde_json::json!({})),
/// });
/// # let _ = model;
/// ```
pub struct ScriptedModel {
    script: Script,
}

enum Script {
    List(Mutex<VecDeque<Reply>>),
    Function(Box<dyn Fn(ModelRequest<'_>) -> Reply + Send + Sync>),
}

impl ScriptedModel {
    /// Creates a model that gives these replies in order and fails when there are none left.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { script: Script::List(Mutex::new(replies.into_iter().collect())) }
    }

    /// Creates a model that calls a function for each reply.
    pub fn from_fn(answer: impl Fn(ModelRequest<'_>) -> Reply + Send + Sync + 'static) -> Self {
        Self { script: Script::Function(Box::new(answer)) }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        let reply = match &self.script {
            Script::List(replies) => replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
            Script::Function(answer) => Some(answer(request)),
        };
        reply.unwrap_or_else(|| Reply::error(ModelError::rejected("the script has no replies left"))).into_stream()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").finish_non_exhaustive()
    }
}
