//! The registry: adding, removing and listing the tools of a running dispatcher.

mod alias_clash;
mod changes;
mod tool_table;

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tool_model::ToolDefinition;

pub use changes::RegistryChanges;
pub(crate) use tool_table::{AppliedChanges, BoundChanges, ToolTable};

use crate::dispatch::{Definitions, DispatcherState};
use crate::{BuildError, RuntimeTool};

/// A handle to the tools of a dispatcher, to list and change them while it runs. Cheap to clone; see
/// [`Dispatcher::registry`](crate::Dispatcher::registry).
///
/// A registry can add and remove tools but not call them, which makes it the right handle for an adapter of remote
/// tools. Every change is atomic: it becomes visible as a whole in all clones of the dispatcher and in all selections
/// from it. Reads are lock-free, and running calls finish with the tools they started with.
///
/// ```
/// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().allow_empty().build()?;
/// let registry = tools.registry();
///
/// registry.register(RuntimeTool::new("time.zone", "The time zone.", |(): ()| async { "UTC" }))?;
/// assert_eq!(tools.call(ToolCall::from_text("time.zone", "{}")).await.output, "UTC");
///
/// let again = || RuntimeTool::new("time.zone", "The time zone.", |(): ()| async { "CET" });
/// let error = registry.register(again()).unwrap_err();
/// assert!(error.to_string().contains("two tools have this name"), "the message has the source of both");
/// assert!(!registry.register_or_keep(again())?, "the first tool stays, and a warning is logged");
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
    /// Fails if the name is taken or the tool itself is invalid.
    pub fn register(&self, tool: RuntimeTool) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().register(tool))
    }

    /// Adds a tool and removes the one that has its name, if any. An alias of another tool may have the same name or
    /// the same alias; a name takes precedence over an alias. A replaced linked tool comes back only after
    /// [`remove`](Self::remove) and [`Dispatcher::reload`](crate::Dispatcher::reload).
    ///
    /// # Errors
    /// Fails if the tool itself is invalid.
    pub fn replace(&self, tool: RuntimeTool) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().replace(tool))
    }

    /// Adds a tool unless its name is taken, and returns `true` if it was added. A conflict is logged as a warning.
    ///
    /// # Errors
    /// Fails if the tool itself is invalid.
    pub fn register_or_keep(&self, tool: RuntimeTool) -> Result<bool, BuildError> {
        let kept = self.change(RegistryChanges::new().register_or_keep(tool))?.kept;
        Ok(kept == 0)
    }

    /// Removes a tool and returns its definition.
    ///
    /// A linked tool comes back when a manifest that lists it is loaded, by
    /// [`Dispatcher::reload`](crate::Dispatcher::reload) or because a [watched](crate::Dispatcher::watch) file changed.
    /// Use [`disable`](Self::disable) to keep a tool away until it is enabled.
    pub fn remove(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        let changed = self.change(RegistryChanges::new().remove(name)).ok()?;
        changed.removed.into_iter().next()
    }

    /// Removes all tools. Linked tools come back as described at [`remove`](Self::remove).
    pub fn clear(&self) {
        // Clearing cannot fail.
        drop(self.change(RegistryChanges::new().clear()));
    }

    /// Stops offering a tool until [`enable`](Self::enable). The tool stays registered, and its name stays disabled
    /// when the tool is replaced or a manifest is loaded.
    ///
    /// # Errors
    /// Fails if there is no such tool. The message suggests similar names.
    pub fn disable(&self, name: &str) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().disable(name))
    }

    /// Offers a disabled tool again.
    ///
    /// # Errors
    /// Fails if there is no such tool. The message suggests similar names.
    pub fn enable(&self, name: &str) -> Result<(), BuildError> {
        self.apply(RegistryChanges::new().enable(name))
    }

    /// Applies several changes atomically: no reader sees some of them without the others.
    ///
    /// # Errors
    /// Reports every problem at once and changes nothing.
    pub fn apply(&self, changes: RegistryChanges) -> Result<(), BuildError> {
        self.change(changes).map(drop)
    }

    /// Applies changes and logs them. Added tools are logged with the snapshot that has them.
    fn change(&self, changes: RegistryChanges) -> Result<AppliedChanges, BuildError> {
        let logged = if tracing::enabled!(tracing::Level::DEBUG) { changes.without_added() } else { Vec::new() };
        let applied = self.inner.change(changes)?;
        for (change, name) in logged {
            tracing::debug!(tool = name, "{change}");
        }
        Ok(applied)
    }

    /// Returns a receiver of the number of changes, to be notified when the tools change.
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, RuntimeTool};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().allow_empty().build()?;
    /// let mut changes = tools.registry().changes();
    /// assert!(!changes.has_changed()?);
    ///
    /// tools.registry().register(RuntimeTool::new("noop", "Nothing.", |(): ()| async {}))?;
    /// assert!(changes.has_changed()?, "`changes.changed().await` would return");
    /// assert_eq!(*changes.borrow_and_update(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Returns the definition of the offered tool with this name or alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.inner.snapshot.with(|offer| offer.definition(name))
    }

    /// Returns `true` if a tool with this name or alias is offered.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.inner.snapshot.with(|offer| offer.find(name).is_some())
    }

    /// Returns the name of the offered tool with this name or alias; see [`Dispatcher::resolve`](crate::Dispatcher::resolve).
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Arc<str>> {
        self.inner.snapshot.with(|offer| offer.find(name).map(|tool| tool.name.clone()))
    }

    /// Returns `true` if a tool of that name is registered but [disabled](Self::disable).
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        self.inner.snapshot.with(|offer| offer.disabled.contains(name))
    }

    /// Returns the names of all offered tools, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.list().iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns all offered tools with their definitions, sorted by name.
    #[must_use]
    pub fn list(&self) -> Definitions {
        self.inner.snapshot.with(|offer| offer.definitions().clone())
    }

    /// Returns the number of offered tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.snapshot.with(|offer| offer.tools.len())
    }

    /// Returns `true` if no tool is offered.
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
