//! Items that the macros' expansions refer to. Not public API: it may change in any release.

pub use tool_model::{
    ArgumentDetails, ArgumentSpec, KeyValue, Number, Options, REGISTRATIONS, Registration, Rule, Source, linkme,
};

pub use crate::arguments::slot::{Aliased, Ask, Lend, lend};
pub use crate::assert_manifest::ManifestAssertion;
pub use crate::effect::{Preview, Previewed};
pub use crate::handler_result::Reply;
pub use crate::inject::InjectError;
pub use crate::inject::handler_inputs::Inputs;
pub use crate::inject::injection::{Mode, Want};
pub use crate::progress::Progress;
pub use crate::shim::{
    Building, Class, Constructed, Constructor, Invocation, Needs, Receiver, Returned, Shim, Step, construction_failed,
};
pub use crate::stream::stream;

/// The traits that method resolution selects from. Imported as `_`, so that they cannot shadow a user's names.
pub mod tiers {
    pub use crate::arguments::slot::{
        LendUndecoded as _, LendUndescribed as _, LendUnsized as _, NoReference as _, OptionalText as _,
        Undecoded as _, Undescribed as _,
    };
    pub use crate::effect::PlainPreview as _;
    pub use crate::handler_result::{FallibleReply as _, PlainReply as _};
    pub use crate::inject::injection::{WantMoved as _, WantUnsized as _};
    pub use crate::shim::{Constructed as _, PlainReturned as _, UnknownReturned as _, construction_failed};
    pub use crate::stream::{FallibleItem as _, PlainItem as _};
}
