//! The dispatcher: building its tools, and running their calls.
//!
//! | stage | module |
//! |---|---|
//! | bind tools to what they need | [`build`] |
//! | hold and change the tools | [`dispatcher`] |
//! | run a call on the fast path | [`call`] |
//! | approve, limit and record a call | [`guarded`] |
//! | run the calls of a turn | [`turn`] |

mod build;
mod call;
mod dispatcher;
mod guarded;
mod retries;
mod rules;
mod turn;

pub(crate) use build::bind::bind;
pub(crate) use build::bound_tool::{BoundTool, InstanceSource, ToolFunction};
pub use build::builder::Builder;
pub(crate) use build::dependencies::{CallValue, Dependencies, ValueSource};
pub use build::problem::{BuildError, BuildProblem};
pub(crate) use build::warnings::warnings;
pub use call::Call;
pub use dispatcher::Dispatcher;
pub use dispatcher::check::ProviderCheck;
pub(crate) use dispatcher::dispatcher_state::{CallLimits, DispatcherState};
pub use dispatcher::explain::{Explanation, ToolExplanation};
pub use dispatcher::manifest_watch::ManifestWatch;
pub use dispatcher::snapshot::Definitions;
pub(crate) use dispatcher::snapshot::{ToolSnapshot, Tools, no_such_tool};
pub use retries::Retries;
pub(crate) use rules::CallRules;
pub use turn::Turn;
