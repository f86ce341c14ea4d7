//! What is known of a call by itself, for handlers and providers that ask.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{HeldValue, InjectedValue, ValueSlot};
use crate::Context;
use crate::concurrency::RunPermit;
use crate::inject::{CallPermit, Deadline, Notes};

/// A type that every call has a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFact {
    Context,
    Deadline,
    Cancellation,
    Notes,
    Permit,
}

impl CallFact {
    /// The fact of a type.
    pub(crate) fn of(type_id: TypeId) -> Option<Self> {
        [
            (TypeId::of::<Context>(), Self::Context),
            (TypeId::of::<Deadline>(), Self::Deadline),
            (TypeId::of::<CancellationToken>(), Self::Cancellation),
            (TypeId::of::<Notes>(), Self::Notes),
            (TypeId::of::<CallPermit>(), Self::Permit),
        ]
        .into_iter()
        .find_map(|(known, fact)| (known == type_id).then_some(fact))
    }

    /// In words, for whoever asks where a value comes from.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Context => "the call itself: where it comes from",
            Self::Deadline => "the call itself: when it has to be over",
            Self::Cancellation => "the call itself: a token that is cancelled when it is stopped",
            Self::Notes => "the call itself: the metadata of its result",
            Self::Permit => "the call itself: its place among those that run at a time",
        }
    }
}

/// The facts of one call.
#[derive(Default)]
pub(crate) struct CallFacts {
    pub(crate) context: Context,
    pub(super) deadline: Deadline,
    /// Created when it is first asked for, or when the call is stopped.
    cancellation: OnceLock<CancellationToken>,
    /// Created when it is first asked for.
    notes: OnceLock<Notes>,
    /// Kept as long as anything of the call goes on, a thread that cannot be stopped included, unless the handler leaves it.
    pub(super) permit: CallPermit,
}

impl CallFacts {
    /// The facts of a call that starts now and has this much time.
    pub(crate) fn new(context: Context, timeout: Option<Duration>) -> Self {
        Self { context, deadline: Deadline::after(timeout), ..Self::default() }
    }

    /// The same, with a place among the calls that run.
    pub(crate) fn holding(mut self, permit: Option<RunPermit>) -> Self {
        self.permit = permit.map(CallPermit::held).unwrap_or_default();
        self
    }

    pub(crate) fn input(&self, fact: CallFact) -> InjectedValue {
        let slot: Arc<ValueSlot> = match fact {
            CallFact::Context => ValueSlot::of(HeldValue::new(self.context.clone())),
            CallFact::Deadline => ValueSlot::of(HeldValue::new(self.deadline)),
            CallFact::Cancellation => ValueSlot::of(HeldValue::new(self.cancellation().clone())),
            CallFact::Notes => ValueSlot::of(HeldValue::new(self.notes.get_or_init(Notes::default).clone())),
            CallFact::Permit => ValueSlot::of(HeldValue::new(self.permit.clone())),
        };
        InjectedValue::Slot(slot)
    }

    /// Returns the tool and the id of the call, for the log. A scope that belongs to no call has neither.
    pub(super) fn of_log(&self) -> (Option<&str>, Option<&str>) {
        let Context { tool, call_id, .. } = &self.context;
        (Some(tool.as_str()).filter(|tool| !tool.is_empty()), call_id.as_deref())
    }

    /// What the handler says besides its output, if it asked for a place to say it.
    pub(crate) fn notes(&self) -> Option<Notes> {
        self.notes.get().cloned()
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        self.cancellation.get_or_init(CancellationToken::new)
    }

    /// Cancels the token of the call, also for those that ask for it later.
    pub(crate) fn cancel(&self) {
        self.cancellation().cancel();
    }
}
