//! Items that macro expansions refer to. Not a public API: it changes without notice.

pub use serde::{Deserialize, Deserializer};
pub use serde_json::Value;
pub use tool_model::{
    ArgumentDetails, ArgumentSpec, KeyValue, Number, Options, REGISTRATIONS, Registration, Rule, Source, linkme,
};

pub use crate::arguments::converted::{Parse, Via, converted, described_as, list, option, with};
pub use crate::arguments::slot::{Aliased, Ask, Lend, lend};
pub use crate::assert_manifest::ManifestAssertion;
pub use crate::effect::{PreviewReply, Previewed};
pub use crate::formatted_result::{applied, debugged, displayed};
pub use crate::handler_result::{BorrowedReply, HandlerReply, ReplyValue, ResultValue};
pub use crate::inject::InjectError;
pub use crate::inject::handler_inputs::HandlerInputs;
pub use crate::inject::injection::{InjectionMode, InjectionRequest};
pub use crate::progress::Progress;
pub use crate::shim::{
    BuiltInstance, Constructed, HandlerNeeds, HandlerStep, InstanceConstructor, Invocation, ReceiverKind, ReturnProbe,
    Shim, ToolClass, construction_failed,
};
pub use crate::stream::stream;

/// The traits among which method resolution chooses. Imported without names, so that they do not hide those of the user.
pub mod tiers {
    pub use crate::arguments::converted::{Unconverted as _, Unparsed as _};
    pub use crate::arguments::slot::{
        LendUndecoded as _, LendUndescribed as _, LendUnsized as _, NoReference as _, OptionalText as _,
        Undecoded as _, Undescribed as _,
    };
    pub use crate::effect::PlainPreview as _;
    pub use crate::handler_result::{ChainedReply as _, ErrorReply as _, FallibleReply as _, PlainReply as _};
    pub use crate::inject::injection::{WantMoved as _, WantUnsized as _};
    pub use crate::shim::{Constructed as _, PlainReturned as _, UnknownReturned as _};
    pub use crate::stream::{ChainedItem as _, ErrorItem as _, FallibleItem as _, PlainItem as _};
}
