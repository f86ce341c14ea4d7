//! The trait of stores for long outputs.

use std::io;
use std::sync::Arc;

/// A store for long outputs; see [`Spill::store`](crate::output::Spill::store).
///
/// A store may forget texts: the model then reads that the output is gone. Calls use the store on a blocking thread
/// and wait for it. [`Dispatcher::whole_output`](crate::Dispatcher::whole_output) uses it on the caller's thread.
///
/// ```
/// use std::collections::HashMap;
/// use std::io;
/// use std::sync::{Arc, Mutex, PoisonError};
///
/// use tool_runtime::output::{Spill, SpillKey, SpillStore};
///
/// #[derive(Default)]
/// struct Outputs(Mutex<HashMap<(Option<String>, String), Arc<str>>>);
///
/// fn owned(key: SpillKey<'_>) -> (Option<String>, String) {
///     (key.conversation.map(str::to_owned), key.handle.to_owned())
/// }
///
/// impl SpillStore for Outputs {
///     fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()> {
///         self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(owned(key), text.into());
///         Ok(())
///     }
///
///     fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
///         Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&owned(key)).cloned())
///     }
/// }
///
/// let spill = Spill::over(10_000).store(Outputs::default());
/// # let _ = spill;
/// ```
pub trait SpillStore: Send + Sync + 'static {
    /// Stores a text.
    ///
    /// # Errors
    /// Fails if the text cannot be stored. The model still receives its beginning and its end.
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()>;

    /// Returns the text that was stored under the same handle *and* the same conversation.
    ///
    /// # Errors
    /// Fails if the store cannot be read. A missing text is `None`.
    fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>>;
}

/// The key of a stored text. The handle comes from a model and may be any string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpillKey<'a> {
    /// The conversation of the call. Calls without a conversation share their texts.
    pub conversation: Option<&'a str>,
    /// The name that the model received.
    pub handle: &'a str,
}

impl<'a> SpillKey<'a> {
    /// Creates a key, for tests of a store.
    #[must_use]
    pub fn new(conversation: Option<&'a str>, handle: &'a str) -> Self {
        Self { conversation, handle }
    }
}
