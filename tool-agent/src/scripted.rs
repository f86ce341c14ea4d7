//! A scripted model for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use tool_runtime::Dispatcher;

use crate::{Model, ModelError, ModelRequest, Reply, ResponseStream};

/// A model for tests that follows a script.
///
/// The script is a list of replies, or a function of the request. It lets a tool author test how a model's calls are
/// handled, with everything that applies to real calls. A reply that calls a tool which the request does not offer fails
/// the run, so that a test does not pass by a misspelled name. Other failed calls are in
/// [`RunOutcome::failed_calls`](crate::RunOutcome::failed_calls), because a model can recover from them.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_agent::{Agent, Reply, ScriptedModel};
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
/// let outcome = agent.conversation("test").say("A table, please.").await;
/// assert_eq!(outcome.answer(), Some("You have a table for four."));
///
/// // The errors that the model has read. In most tests: `assert_eq!(outcome.failed_calls, [])`.
/// let [too_many, taken] = &*outcome.failed_calls else { panic!("{outcome:?}") };
/// assert_eq!(too_many.result.error.as_ref().unwrap().kind, ErrorKind::InvalidArguments);
/// assert_eq!(taken.result.output, "The large table is taken.");
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
    allow_unknown_tools: bool,
}

enum Script {
    List(Mutex<VecDeque<Reply>>),
    Function(Box<dyn Fn(ModelRequest<'_>) -> Reply + Send + Sync>),
}

impl ScriptedModel {
    /// Creates a model that gives these replies in order and fails when there are none left.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { script: Script::List(Mutex::new(replies.into_iter().collect())), allow_unknown_tools: false }
    }

    /// Creates a model that calls a function for each reply.
    pub fn from_fn(answer: impl Fn(ModelRequest<'_>) -> Reply + Send + Sync + 'static) -> Self {
        Self { script: Script::Function(Box::new(answer)), allow_unknown_tools: false }
    }

    /// Permits calls of tools that the request does not offer, to test what a model reads after such a call.
    #[must_use]
    pub fn allow_unknown_tools(mut self) -> Self {
        self.allow_unknown_tools = true;
        self
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
        let Some(reply) = reply else {
            return Reply::error(ModelError::rejected("the script has no replies left")).into_stream();
        };
        match unknown_tool(&reply, request).filter(|_| !self.allow_unknown_tools) {
            Some(name) => Reply::error(not_offered(name, request)).into_stream(),
            None => reply.into_stream(),
        }
    }
}

/// Returns the first tool that the reply calls and the request does not offer.
fn unknown_tool<'a>(reply: &'a Reply, request: ModelRequest<'_>) -> Option<&'a str> {
    let mut names = reply.calls().map(|call| call.name.as_str());
    names.find(|name| request.tools.is_none_or(|tools| tools.definition(name).is_none()))
}

fn not_offered(name: &str, request: ModelRequest<'_>) -> ModelError {
    let definitions = request.tools.map(Dispatcher::definitions);
    let names: Vec<&str> = definitions.iter().flat_map(|tools| tools.iter()).map(|(name, _)| &**name).collect();
    let offered = match names.as_slice() {
        [] => "no tools".to_owned(),
        names if names.len() > 20 => format!("{} other tools", names.len()),
        names => names.join(", "),
    };
    ModelError::rejected(format!(
        "the script calls `{name}`, which the request does not offer (it offers {offered}); correct the name, or set \
         `ScriptedModel::allow_unknown_tools`"
    ))
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").finish_non_exhaustive()
    }
}
