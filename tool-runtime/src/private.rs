//! What expansions of the macros name. Not for use by hand: it changes without notice.

pub use tool_model::{
    ArgumentDetails, ArgumentSpec, Number, Options, REGISTRATIONS, Registration, Rule, Source, linkme,
};

pub use crate::answer::Reply;
pub use crate::arguments::{Ask, Lend, lend};
pub use crate::inject::{InjectError, Inputs, Mode, Want};
pub use crate::shim::{Building, Class, Constructed, Constructor, Invocation, Needs, Receiver, Returned, Shim, Step};

/// The traits among which method resolution chooses.
pub mod tiers {
    pub use crate::answer::PlainReply;
    pub use crate::arguments::{LendUndecoded, LendUndescribed, LendUnsized, OptionalText, Undecoded, Undescribed};
    pub use crate::inject::{WantMoved, WantUnsized};
    pub use crate::shim::{Constructed, PlainReturned, UnknownReturned};
}
