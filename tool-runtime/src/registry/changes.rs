//! A batch of changes to a registry.

use crate::RuntimeTool;

/// A batch of changes to a [`Registry`](super::Registry), applied in order and atomically by
/// [`Registry::apply`](super::Registry::apply).
///
/// For example, an adapter for the tools of another program removes tools that are gone and adds new ones in one step:
///
/// ```
/// use tool_runtime::{Dispatcher, RegistryChanges, RuntimeTool};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().allow_empty().build()?;
/// let tool = |name| RuntimeTool::new(name, "", |(): ()| async {});
/// tools.registry().apply(["x.a", "x.b"].map(tool).into_iter().collect())?;
///
/// tools.registry().apply(RegistryChanges::new().remove("x.a").replace(tool("x.b")).register(tool("x.c")))?;
/// assert_eq!(tools.registry().names().join(" "), "x.b x.c");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use = "changes have no effect until `Registry::apply`"]
pub struct RegistryChanges {
    pub(crate) all: Vec<RegistryChange<Box<RuntimeTool>>>,
}

/// One change. `T` is the tool before or after it is bound.
#[derive(Debug)]
pub(crate) enum RegistryChange<T> {
    Add(T, NameConflict),
    Remove(String),
    Clear,
    Enable(String),
    Disable(String),
}

/// The reaction to a name that is already taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NameConflict {
    Refuse,
    Replace,
    Keep,
}

impl RegistryChanges {
    /// Creates an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the changes that do not add a tool, each as a log message and the name of its tool.
    pub(super) fn without_added(&self) -> Vec<(&'static str, Option<String>)> {
        let each = self.all.iter().filter_map(|change| match change {
            RegistryChange::Add(..) => None,
            RegistryChange::Remove(name) => Some(("tool removed", Some(name.clone()))),
            RegistryChange::Clear => Some(("all tools removed", None)),
            RegistryChange::Enable(name) => Some(("tool enabled", Some(name.clone()))),
            RegistryChange::Disable(name) => Some(("tool disabled", Some(name.clone()))),
        });
        each.collect()
    }

    /// Adds a tool whose name must not be taken.
    pub fn register(self, tool: RuntimeTool) -> Self {
        self.and(RegistryChange::Add(Box::new(tool), NameConflict::Refuse))
    }

    /// Adds a tool and removes the one that has its name, if any.
    pub fn replace(self, tool: RuntimeTool) -> Self {
        self.and(RegistryChange::Add(Box::new(tool), NameConflict::Replace))
    }

    /// Adds a tool unless its name is taken.
    pub(super) fn register_or_keep(self, tool: RuntimeTool) -> Self {
        self.and(RegistryChange::Add(Box::new(tool), NameConflict::Keep))
    }

    /// Removes a tool, if it exists.
    pub fn remove(self, name: impl Into<String>) -> Self {
        self.and(RegistryChange::Remove(name.into()))
    }

    /// Removes all tools.
    pub fn clear(self) -> Self {
        self.and(RegistryChange::Clear)
    }

    /// Offers a disabled tool again.
    pub fn enable(self, name: impl Into<String>) -> Self {
        self.and(RegistryChange::Enable(name.into()))
    }

    /// Stops offering a tool but keeps it registered.
    pub fn disable(self, name: impl Into<String>) -> Self {
        self.and(RegistryChange::Disable(name.into()))
    }

    fn and(mut self, change: RegistryChange<Box<RuntimeTool>>) -> Self {
        self.all.push(change);
        self
    }
}

impl FromIterator<RuntimeTool> for RegistryChanges {
    /// Registers each of the tools.
    fn from_iter<I: IntoIterator<Item = RuntimeTool>>(tools: I) -> Self {
        Self { all: tools.into_iter().map(|tool| RegistryChange::Add(Box::new(tool), NameConflict::Refuse)).collect() }
    }
}
