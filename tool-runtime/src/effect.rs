//! Effects: what a call would do, as its preview says.

use std::future::{Ready, ready};

use serde::{Deserialize, Serialize};

use crate::handler_failure::{BoxError, HandlerFailure};
use crate::handler_result::{HandlerResult, unwritable};

/// The effect that a call would have, returned by the function that the tool's `preview` key names.
///
/// A preview takes the arguments of its tool and returns an effect, or a `Result` of one; it may be `async`. It must not
/// have side effects, because it runs before the call is approved. In a class it is a method that is not a tool itself; an
/// argument that it does not need is called `_name`. For a function it is another function, given by its path, with
/// the same parameters.
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
    /// Text would change.
    Diff {
        /// The path of the text, such as that of a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The current text; empty if it does not exist yet.
        before: String,
        /// The new text; empty if it would be deleted.
        after: String,
    },
    /// A command would run.
    Command(String),
    /// A statement would be executed, such as SQL.
    Statement(String),
    /// Another effect, described in text.
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

/// A type that a preview may return.
#[diagnostic::on_unimplemented(
    message = "a preview returns an `Effect` or a `Result<Effect, E>`, not `{Self}`",
    label = "returns a `{Self}`",
    note = "`tool_runtime::Effect` says what a call would do: a diff, a command, a statement, or a text",
    note = "the error of a `Result` is a `std::error::Error`, a `String` or an `anyhow::Error`"
)]
pub trait Previewed {
    /// Serializes the effect as JSON.
    fn into_result(self) -> HandlerResult;
}

impl Previewed for Effect {
    fn into_result(self) -> HandlerResult {
        serde_json::to_string(&self).map(Into::into).map_err(|error| unwritable(&error))
    }
}

impl<E: Into<BoxError>> Previewed for Result<Effect, E> {
    fn into_result(self) -> HandlerResult {
        self.map_err(|error| HandlerFailure::from_error(error.into()))?.into_result()
    }
}

/// A value that a preview returned, which may be a future. Method resolution decides by type: the inherent method goes
/// before that of the trait.
pub struct PreviewReply<T>(pub T);

impl<F: Future> PreviewReply<F> {
    /// Awaits the effect.
    pub async fn tool_result(self) -> HandlerResult
    where
        F::Output: Previewed,
    {
        self.0.await.into_result()
    }
}

/// A preview that is not `async`.
pub trait PlainPreview {
    /// The return type.
    type Value;

    /// Converts the effect.
    fn tool_result(self) -> Ready<HandlerResult>
    where
        Self::Value: Previewed;
}

impl<T> PlainPreview for PreviewReply<T> {
    type Value = T;

    fn tool_result(self) -> Ready<HandlerResult>
    where
        T: Previewed,
    {
        ready(self.0.into_result())
    }
}
