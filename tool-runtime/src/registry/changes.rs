//! Several changes that show at once.

use crate::RuntimeTool;

/// RegistryChanges to a [`Registry`](super::Registry) that show all at once, in the order in which they stand here.
///
/// An adapter whose tools come from another program takes out what is gone there and adds what is new:
///
/// ```
/// use tool_runtime::{Dispatcher, RegistryChanges, RuntimeTool};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let tool = |name| RuntimeTool::new(name, "", |(): ()| async {});
/// tools.registry().apply(["x.a", "x.b"].map(tool).into_iter().collect())?;
///
/// tools.registry().apply(RegistryChanges::new().remove("x.a").replace(tool("x.b")).register(tool("x.c")))?;
/// assert_eq!(tools.registry().names().join(" "), "x.b x.c");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use = "changes are made by `Registry::apply`"]
pub struct RegistryChanges {
    pub(crate) all: Vec<Change<Box<RuntimeTool>>>,
}

/// One change, with a tool that is to be bound, or is.
#[derive(Debug)]
pub(crate) enum Change<T> {
    Add(T, NameConflict),
    Remove(String),
    Clear,
    Enable(String),
    Disable(String),
}

/// What to do when a name is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NameConflict {
    Refuse,
    Replace,
    Keep,
}

impl RegistryChanges {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, whose name must be free then.
    pub fn register(self, tool: RuntimeTool) -> Self {
        self.and(Change::Add(Box::new(tool), NameConflict::Refuse))
    }

    /// Adds a tool, in the place of the one that has its name.
    pub fn replace(self, tool: RuntimeTool) -> Self {
        self.and(Change::Add(Box::new(tool), NameConflict::Replace))
    }

    /// Adds a tool unless there is one of its name.
    pub fn register_or_keep(self, tool: RuntimeTool) -> Self {
        self.and(Change::Add(Box::new(tool), NameConflict::Keep))
    }

    /// Takes a tool out, if there is one of that name.
    pub fn remove(self, name: impl Into<String>) -> Self {
        self.and(Change::Remove(name.into()))
    }

    /// Takes all tools out.
    pub fn clear(self) -> Self {
        self.and(Change::Clear)
    }

    /// Offers a tool again that was disabled.
    pub fn enable(self, name: impl Into<String>) -> Self {
        self.and(Change::Enable(name.into()))
    }

    /// Stops offering a tool.
    pub fn disable(self, name: impl Into<String>) -> Self {
        self.and(Change::Disable(name.into()))
    }

    fn and(mut self, change: Change<Box<RuntimeTool>>) -> Self {
        self.all.push(change);
        self
    }
}

/// Registers each of these tools.
impl FromIterator<RuntimeTool> for RegistryChanges {
    fn from_iter<I: IntoIterator<Item = RuntimeTool>>(tools: I) -> Self {
        Self { all: tools.into_iter().map(|tool| Change::Add(Box::new(tool), NameConflict::Refuse)).collect() }
    }
}
