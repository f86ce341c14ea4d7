//! What expansions of the macros name. Not for use by hand: it changes without notice.

pub use tool_model::{ArgumentSpec, Number, REGISTRATIONS, Registration, Rule, Source, linkme};

pub use crate::answer::Reply;
pub use crate::arguments::{Ask, Lend, lend};
pub use crate::inject::{Mode, Want};
pub use crate::shim::{Building, Class, Constructed, Constructor, Receiver, Returned, Shim, Step};

/// The traits among which method resolution chooses.
pub mod tiers {
    pub use crate::answer::PlainReply;
    pub use crate::arguments::{LendUnsized, OptionalText, Undecoded, UnknownSchema};
    pub use crate::inject::{WantMoved, WantUnsized};
    pub use crate::shim::{Constructed, PlainReturned, UnknownReturned};
}
