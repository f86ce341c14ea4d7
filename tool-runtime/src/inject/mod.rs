//! Values that handlers get from the application, not from the model.

mod blocking;
mod call_facts;
mod handler_inputs;
mod injected_value;
mod injection;
mod provider;
mod scope;

pub(crate) use blocking::{Blocking, BlockingAnswer, Stopping, blocking_answer};
pub(crate) use call_facts::{Fact, Facts};
pub use handler_inputs::Inputs;
pub(crate) use handler_inputs::InstanceInput;
pub use injected_value::{Exclusive, Shared};
pub(crate) use injected_value::{Held, Input, Slot};
pub use injection::{Injection, Mode, Want, WantMoved, WantUnsized};
pub use provider::Finished;
pub(crate) use provider::{FinishHook, FinishResult, Provider};
pub(crate) use scope::ScopeInner;
pub use scope::{InjectError, Scope};
