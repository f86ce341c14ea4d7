//! Metadata that a handler adds to its result.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::Spill;
use crate::{Context, Metadata};

/// Adds [metadata](crate::ToolResult::metadata) to the result of a handler, for user interfaces; the model does not read
/// it. Every handler can have it injected. Cheap to clone.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_runtime::inject::Notes;
/// use tool_runtime::{Dispatcher, ToolCall, tool};
///
/// /// Rename a host.
/// #[tool]
/// fn rename(host: &str, name: &str, #[inject] notes: &Notes) -> String {
///     notes.insert("change", json!({"before": host, "after": name}));
///     format!("Renamed {host} to {name}.")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let call = ToolCall::new("rename", json!({"host": "web-1", "name": "www"}));
/// let result = tools.call(call).await;
/// assert_eq!(result.output, "Renamed web-1 to www.");
/// assert_eq!(result.metadata.get("change"), Some(&json!({"before": "web-1", "after": "www"})));
/// # Ok(())
/// # }
/// ```
///
/// Metadata of the dispatcher, such as `repairs` and `decision`, overrides a note with the same key. The result of a
/// handler that fails has its notes as well.
#[derive(Clone, Default)]
pub struct Notes {
    notes: Arc<Mutex<Map<String, Value>>>,
    /// The store of long texts, and the call that they belong to.
    spill: Option<Arc<(Spill, Context)>>,
}

impl Notes {
    /// Creates the notes of a call.
    pub(crate) fn new(spill: Option<&Spill>, context: &Context) -> Self {
        let spill = spill.map(|spill| Arc::new((spill.clone(), context.clone())));
        Self { notes: Arc::default(), spill }
    }

    /// Stores a text that is too long for the metadata and returns its handle, for a note. The model reads the text with
    /// the tool `read_result`, a program with [`Dispatcher::spilled`](crate::Dispatcher::spilled). Returns `None` if the
    /// dispatcher does not [spill](crate::Builder::spill), or if its store fails. May block, as the store does.
    ///
    /// ```standalone_crate
    /// use tool_runtime::inject::Notes;
    /// use tool_runtime::output::Spill;
    /// use tool_runtime::{Dispatcher, ToolCall, tool};
    ///
    /// /// Empty the log.
    /// #[tool(blocking)]
    /// fn empty(#[inject] notes: &Notes) -> &'static str {
    ///     let before = "nothing\n".repeat(1_000);
    ///     notes.insert("before", notes.spill(&before));
    ///     "The log is empty."
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().spill(Spill::over(1_000)).build()?;
    /// let result = tools.call(ToolCall::from_text("empty", "{}").conversation("chat-7")).await;
    /// let handle = result.metadata.get("before").and_then(|handle| handle.as_str()).unwrap();
    /// assert_eq!(tools.spilled(Some("chat-7"), handle).unwrap().len(), 8_000);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn spill(&self, text: &str) -> Option<String> {
        let (spill, context) = &**self.spill.as_ref()?;
        spill.keep(context.conversation(), context.call_id(), text)
    }

    /// Adds a note. A value that cannot be serialized as JSON is logged and dropped.
    pub fn insert(&self, key: impl Into<String>, value: impl Serialize) {
        match serde_json::to_value(value) {
            Ok(value) => drop(self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into(), value)),
            Err(error) => tracing::warn!(%error, "a note cannot be serialized as JSON"),
        }
    }

    /// Moves all notes into the metadata of a result.
    pub(crate) fn move_to(&self, metadata: &mut Metadata) {
        for (key, value) in std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner)) {
            metadata.insert(key, value);
        }
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notes").finish_non_exhaustive()
    }
}
