//! The dispatcher: which tools there are, what they need, and how a call runs.

mod approve;
mod beginning;
mod bind;
mod builder;
mod careful;
mod check;
mod choose;
mod dependencies;
mod dispatcher;
mod explain;
mod offer;
mod preview;
mod problem;
mod promise;
mod read;
mod rules;
mod running;
mod scoped;
mod tries;
mod turn;
mod view;
mod watch;

pub(crate) use bind::{Bound, BoundTool, Function, InstanceSource};
pub use builder::Builder;
pub use check::Check;
pub(crate) use dependencies::{Dependencies, Given, Source};
pub use dispatcher::Dispatcher;
pub(crate) use dispatcher::{Inner, Limits};
pub use explain::{Explanation, ToolExplanation};
pub use offer::Definitions;
pub(crate) use offer::{Offer, Tools, no_such_tool};
pub use problem::{BuildError, Problem};
pub(crate) use rules::Rules;
pub use running::Call;
pub use turn::Turn;
pub use watch::Watch;
