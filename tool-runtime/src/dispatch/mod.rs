//! The dispatcher: builds the tools, and runs their calls.

mod build;
mod call;
mod dispatcher;
mod guarded;
mod retries;
mod rules;
mod turn;

pub(crate) use build::bind::{BoundTool, Function, InstanceSource, bind};
pub use build::builder::Builder;
pub(crate) use build::dependencies::{Dependencies, Given, Source};
pub use build::problem::{BuildError, Problem};
pub use call::Call;
pub use dispatcher::Dispatcher;
pub use dispatcher::check::Check;
pub use dispatcher::explain::{Explanation, ToolExplanation};
pub use dispatcher::manifest_watch::ManifestWatch;
pub use dispatcher::snapshot::Definitions;
pub(crate) use dispatcher::snapshot::{Offer, Tools, no_such_tool};
pub(crate) use dispatcher::{Inner, Limits};
pub use retries::Retries;
pub(crate) use rules::Rules;
pub use turn::Turn;
