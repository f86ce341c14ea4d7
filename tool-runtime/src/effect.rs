//! What a call would do, said by its tool before it is made.

use std::fmt::Display;
use std::future::{Ready, ready};

use serde::{Deserialize, Serialize};

use crate::handler_result::{HandlerResult, failed, unwritable};

/// What a call would do. A tool says so through the function that its `preview` names.
///
/// A preview takes the arguments of its tool and gives back an effect, or a `Result` of one; it may be `async`. It must
/// do nothing else: it runs where nobody has agreed to the call yet. In a class it is a method, and no tool itself; an
/// argument that it does not need is called `_name`. For a function it is another function, by its path, with the
/// same parameters.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_runtime::{Dispatcher, Effect, ToolCall, tool, tool_class};
///
/// pub struct NoteService;
///
/// #[tool_class]
/// impl NoteService {
///     /// Replace the text of a note.
///     #[tool(sensitive, preview = "show_changes")]
///     pub fn replace(&self, name: &str, text: String) { /* writes it */ }
///
///     fn show_changes(&self, name: &str, text: &str) -> Effect {
///         let before = "buy milk".to_owned();
///         Effect::Diff { path: Some(name.to_owned()), before, after: text.to_owned() }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().service(NoteService).build()?;
/// let call = ToolCall::new("note.replace", json!({"name": "today", "text": "buy bread"}));
/// let effect = tools.call(call).preview().await?;
/// assert_eq!(
///     effect,
///     Some(Effect::Diff { path: Some("today".into()), before: "buy milk".into(), after: "buy bread".into() })
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// A text would change.
    Diff {
        /// What holds the text, such as a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The text as it is; empty if it would be new.
        before: String,
        /// The text as it would be; empty if it would be deleted.
        after: String,
    },
    /// A command would run.
    Command(String),
    /// A statement would be executed, such as one of SQL.
    Statement(String),
    /// Something else, in words.
    Text(String),
}

impl From<String> for Effect {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Effect {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// What a preview may give back.
#[diagnostic::on_unimplemented(
    message = "a preview gives back an `Effect` or a `Result<Effect, E>`, not `{Self}`",
    label = "gives back a `{Self}`",
    note = "`tool_runtime::Effect` says what a call would do: a diff, a command, a statement, or a text",
    note = "the error of a `Result` must implement `Display`"
)]
pub trait Previewed {
    /// The effect as JSON.
    fn answer(self) -> HandlerResult;
}

impl Previewed for Effect {
    fn answer(self) -> HandlerResult {
        serde_json::to_string(&self).map(Into::into).map_err(|error| unwritable(&error))
    }
}

impl<E: Display> Previewed for Result<Effect, E> {
    fn answer(self) -> HandlerResult {
        self.map_err(|error| failed(&error))?.answer()
    }
}

/// What a function gave back that may be `async`: its type decides, through the inherent method, which goes before the
/// trait's.
pub struct Preview<T>(pub T);

impl<F: Future> Preview<F> {
    /// The effect, once it is there.
    pub async fn tool_answer(self) -> HandlerResult
    where
        F::Output: Previewed,
    {
        self.0.await.answer()
    }
}

/// A preview that is not `async`.
pub trait PlainPreview {
    /// What it gives back.
    type Value;

    /// The effect.
    fn tool_answer(self) -> Ready<HandlerResult>
    where
        Self::Value: Previewed;
}

impl<T> PlainPreview for Preview<T> {
    type Value = T;

    fn tool_answer(self) -> Ready<HandlerResult>
    where
        T: Previewed,
    {
        ready(self.0.answer())
    }
}
