//! The dispatcher itself.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use tool_model::{Manifest, Registration, ToolDefinition};

use super::{BoundTool, Builder, Call, Check, Dependencies, Explanation};
use crate::ToolCall;

/// Runs the calls of a model. Cheap to clone; clones share everything.
///
/// ```standalone_crate
/// use tool_runtime::{Dispatcher, ToolCall, tool_class};
///
/// struct GreetService {
///     greeting: String,
/// }
///
/// #[tool_class]
/// impl GreetService {
///     /// Greet someone.
///     pub fn hello(&self, name: &str) -> String {
///         format!("{}, {name}!", self.greeting)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().service(GreetService { greeting: "Hello".into() }).build()?;
/// let result = tools.call(ToolCall::from_text("greet.hello", r#"{"name": "Ada"}"#)).await;
/// assert_eq!(result.output, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) inner: Arc<Inner>,
}

/// What clones of a dispatcher share.
pub(crate) struct Inner {
    pub(crate) tools: HashMap<String, Arc<BoundTool>, FxBuildHasher>,
    pub(crate) not_offered: Vec<&'static Registration>,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) limits: Limits,
}

/// Limits that hold for every call.
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) argument_bytes: usize,
    pub(crate) allow_unknown: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: None, argument_bytes: 16_000_000, allow_unknown: false }
    }
}

impl Dispatcher {
    /// Starts a dispatcher.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// A call. What is given back is a future; it can first be told more, such as [`Call::with`].
    pub fn call<'a>(&'a self, call: ToolCall<'a>) -> Call<'a> {
        Call::new(self, call)
    }

    /// The tools on offer, as a manifest.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.inner.tools.iter().map(|(name, tool)| (name.clone(), ToolDefinition::clone(tool.definition()))).collect()
    }

    /// The tools on offer with their definitions, sorted by name.
    #[must_use]
    pub fn definitions(&self) -> Vec<(&str, &ToolDefinition)> {
        let tools = self.inner.tools.iter().map(|(name, tool)| (name.as_str(), &**tool.definition()));
        let mut all: Vec<(&str, &ToolDefinition)> = tools.collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }

    /// The definition of a tool on offer.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&ToolDefinition> {
        self.inner.tools.get(name).map(|tool| &**tool.definition())
    }

    /// Resolves every provider once and rolls back: for start-up and for tests.
    ///
    /// Closures hide from [`Builder::build`] what they ask their scope for, so that a name that does not exist, or
    /// a circle of providers, shows only here or in a call.
    pub fn check(&self) -> Check<'_> {
        Check::new(self)
    }

    /// Where each tool's handler, instance and injected values come from.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        Explanation::of(&self.inner)
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("tools", &self.inner.tools.len()).finish_non_exhaustive()
    }
}
