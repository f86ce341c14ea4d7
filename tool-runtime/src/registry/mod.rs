//! The tools of a dispatcher, and how they change while it runs.

mod changes;
mod tool_table;

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tool_model::ToolDefinition;

pub use changes::RegistryChanges;
pub(crate) use tool_table::{AppliedChanges, BoundChanges, ToolTable};

use crate::dispatch::{Definitions, DispatcherState};
use crate::manifest::IntoManifest;
use crate::{BuildError, RuntimeTool};

/// The tools of a dispatcher: what it offers, and how that changes while it runs. Cheap to clone; see
/// [`Dispatcher::registry`](crate::Dispatcher::registry).
///
/// Whoever has it can add and remove tools, but not call them: it is what an adapter for tools of other programs is
/// given. Every change shows as a whole, in all clones of the dispatcher and in all that was selected from it. Reading
/// waits for nobody, and calls that have begun end as they began.
///
/// ```
/// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let registry = tools.registry();
///
/// registry.register(RuntimeTool::new("time.zone", "The time zone.", |(): ()| async { "UTC" }))?;
/// assert_eq!(tools.call(ToolCall::from_text("time.zone", "{}")).await.output, "UTC");
///
/// let again = || RuntimeTool::new("time.zone", "The time zone.", |(): ()| async { "CET" });
/// let error = registry.register(again()).unwrap_err();
/// assert!(error.to_string().contains("two tools have this name"), "both are named, with their places");
/// assert!(!registry.register_or_keep(again())?, "the first one stays, and a warning is logged");
/// registry.replace(again())?;
/// assert_eq!(tools.call(ToolCall::from_text("time.zone", "{}")).await.output, "CET");
///
/// registry.disable("time.zone")?;
/// assert!(!registry.has("time.zone") && registry.is_disabled("time.zone"));
/// registry.enable("time.zone")?;
/// assert_eq!(registry.remove("time.zone").unwrap().description, "The time zone.");
/// assert!(registry.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Registry {
    inner: Arc<DispatcherState>,
}

impl Registry {
    pub(crate) fn new(inner: Arc<DispatcherState>) -> Self {
        Self { inner }
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// When there is one of that name, with both named, or when the tool itself is wrong.
    pub fn register(&self, tool: RuntimeTool) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().register(tool))
    }

    /// Adds a tool, in the place of the one that has its name. A linked tool that was replaced comes back only by
    /// [`remove`](Self::remove) and [`reload`](Self::reload).
    ///
    /// # Errors
    /// When the tool itself is wrong.
    pub fn replace(&self, tool: RuntimeTool) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().replace(tool))
    }

    /// Adds a tool unless there is one of its name: then that one stays, and a warning names both. Whether it was added.
    ///
    /// # Errors
    /// When the tool itself is wrong.
    pub fn register_or_keep(&self, tool: RuntimeTool) -> Result<bool, BuildError> {
        let kept = self.inner.change(RegistryChanges::new().register_or_keep(tool))?.kept;
        Ok(kept == 0)
    }

    /// Removes a tool and returns its definition.
    ///
    /// A linked tool comes back when a manifest that has it is loaded, by [`reload`](Self::reload) or because a
    /// [watched](crate::Dispatcher::watch) file has changed: a manifest says which linked tools there are.
    /// [`disable`](Self::disable) keeps a tool away until it is enabled.
    pub fn remove(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        let changed = self.inner.change(RegistryChanges::new().remove(name)).ok()?;
        changed.removed.into_iter().next()
    }

    /// Removes all tools; linked ones come back as after [`remove`](Self::remove).
    pub fn clear(&self) {
        // It can only succeed.
        drop(self.inner.change(RegistryChanges::new().clear()));
    }

    /// Stops offering a tool, until [`enable`](Self::enable). It stays registered, also when it is replaced or when a
    /// manifest is loaded.
    ///
    /// # Errors
    /// When there is no such tool; the message has the nearest names.
    pub fn disable(&self, name: &str) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().disable(name))
    }

    /// Offers a tool again.
    ///
    /// # Errors
    /// When there is no such tool; the message has the nearest names.
    pub fn enable(&self, name: &str) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().enable(name))
    }

    /// Makes several changes at once: nobody sees some of them without the others.
    ///
    /// # Errors
    /// Everything that is wrong, all at once. Nothing is changed then.
    pub fn apply(&self, changes: RegistryChanges) -> Result<(), BuildError> {
        self.inner.change(changes).map(drop)
    }

    /// Offers the linked tools of another manifest from now on; see [`Dispatcher::reload`](crate::Dispatcher::reload).
    /// Tools that were made at run time stay.
    ///
    /// # Errors
    /// Everything that does not fit, all at once. What was offered before is still offered.
    pub fn reload(&self, manifest: impl IntoManifest) -> Result<(), BuildError> {
        self.inner.reload(manifest)
    }

    /// Tells whoever offers the tools elsewhere that they have changed: it counts the changes, and can be waited for.
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, RuntimeTool};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let mut changes = tools.registry().changes();
    /// assert!(!changes.has_changed()?);
    ///
    /// tools.registry().register(RuntimeTool::new("noop", "Nothing.", |(): ()| async {}))?;
    /// assert!(changes.has_changed()?, "and `changes.changed().await` would go on");
    /// assert_eq!(*changes.borrow_and_update(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.inner.snapshot.with(|offer| offer.definition(name))
    }

    /// Whether a tool of that name is on offer.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.inner.snapshot.with(|offer| offer.tools.contains_key(name))
    }

    /// Whether there is a tool of that name that is not offered because somebody has [disabled](Self::disable) it.
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        self.inner.snapshot.with(|offer| offer.disabled.contains(name))
    }

    /// The names of all tools on offer, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.list().iter().map(|(name, _)| name.clone()).collect()
    }

    /// All tools on offer with their definitions, sorted by name.
    #[must_use]
    pub fn list(&self) -> Definitions {
        self.inner.snapshot.with(|offer| offer.definitions().clone())
    }

    /// How many tools are on offer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.snapshot.with(|offer| offer.tools.len())
    }

    /// Whether no tool is on offer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("tools", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
