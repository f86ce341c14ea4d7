//! Where long results are kept.

use std::io;
use std::sync::Arc;

/// Keeps long results until a model reads them.
///
/// A store need not keep a text forever: of one that is gone the model is told so. A call uses it on a thread that
/// may block, and waits meanwhile, so it should not take long. [`Dispatcher::whole_output`](crate::Dispatcher::whole_output)
/// and [`Spill::shorten`](crate::output::Spill::shorten) use it on the thread of their caller.
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
    /// Keeps a text.
    ///
    /// # Errors
    /// The text could not be kept. The model still gets its beginning and its end.
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()>;

    /// The text that was put under a key: the same handle *and* the same conversation.
    ///
    /// # Errors
    /// The store could not be asked. A text that is not there is no error.
    fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>>;
}

/// What a text is kept under. The handle comes from a model, and may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpillKey<'a> {
    /// The conversation whose call had the result; calls without one share what they have.
    pub conversation: Option<&'a str>,
    /// The name that the model was given.
    pub handle: &'a str,
}

impl<'a> SpillKey<'a> {
    /// A key, for tests of a store.
    #[must_use]
    pub fn new(conversation: Option<&'a str>, handle: &'a str) -> Self {
        Self { conversation, handle }
    }
}
