//! The dispatcher: builds the tools, and runs their calls.

mod build;
mod call;
mod dispatcher;
mod guarded;
mod retries;
mod rules;
mod turn;

pub(crate) use build::bind::{BoundTool, InstanceSource, ToolFunction, bind};
pub use build::builder::Builder;
pub(crate) use build::dependencies::{CallValue, Dependencies, ValueSource};
pub use build::problem::{BuildError, BuildProblem};
pub use call::Call;
pub use dispatcher::Dispatcher;
pub use dispatcher::check::ProviderCheck;
pub use dispatcher::explain::{Explanation, ToolExplanation};
pub use dispatcher::manifest_watch::ManifestWatch;
pub use dispatcher::snapshot::Definitions;
pub(crate) use dispatcher::snapshot::{ToolSnapshot, Tools, no_such_tool};
pub(crate) use dispatcher::{CallLimits, DispatcherState};
pub use retries::Retries;
pub(crate) use rules::CallRules;
pub use turn::Turn;
