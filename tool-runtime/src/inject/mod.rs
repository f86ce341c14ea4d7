//! Values that handlers get from the application, not from the model.

mod blocking;
mod facts;
mod held;
mod inputs;
mod provider;
mod scope;
mod want;

pub(crate) use blocking::{Blocking, BlockingAnswer, Stopping, blocking_answer};
pub(crate) use facts::{Fact, Facts};
pub use held::{Exclusive, Shared};
pub(crate) use held::{Held, Input, Slot};
pub use inputs::Inputs;
pub(crate) use inputs::InstanceInput;
pub use provider::Finished;
pub(crate) use provider::{FinishHook, FinishResult, Provider};
pub(crate) use scope::ScopeInner;
pub use scope::{InjectError, Scope};
pub use want::{Injection, Mode, Want, WantMoved, WantUnsized};
