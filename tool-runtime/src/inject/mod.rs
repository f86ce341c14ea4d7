//! Dependency injection: values that handlers get from the application, not from the model.

mod blocking;
mod call_facts;
pub(crate) mod handler_inputs;
mod injected_value;
pub(crate) mod injection;
mod provider;
pub(crate) mod scope;

pub(crate) use blocking::{BlockingHandler, BlockingResult, StopOutcome, blocking_result};
pub(crate) use call_facts::{CallFact, CallFacts};
pub(crate) use handler_inputs::{Inputs, InstanceInput};
pub(crate) use injected_value::{ExclusiveGuard, HeldValue, InjectedValue, SharedGuard, ValueSlot};
pub(crate) use injection::{Injection, InjectionMode};
pub use provider::IntoFinishResult;
pub(crate) use provider::{FinishHook, FinishResult, ValueProvider};
pub use scope::InjectError;
pub(crate) use scope::{Scope, ScopeInner};

pub use crate::concurrency::CallPermit;
pub use crate::context::Deadline;
pub use crate::notes::Notes;
