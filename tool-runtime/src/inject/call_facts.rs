//! Facts of a call that handlers and providers can have injected.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{HeldValue, InjectedValue, ValueSlot};
use crate::Context;
use crate::concurrency::RunPermit;
use crate::inject::{CallPermit, Deadline, Notes};
use crate::output::Spill;

/// A fact of a call, identified by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFact {
    Context,
    Deadline,
    Cancellation,
    Notes,
    Permit,
}

impl CallFact {
    /// Returns the fact with this type.
    pub(crate) fn from_type(type_id: TypeId) -> Option<Self> {
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

    /// Describes the source, for reports.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Context => "the call itself: its origin",
            Self::Deadline => "the call itself: its deadline",
            Self::Cancellation => "the call itself: its cancellation token",
            Self::Notes => "the call itself: the metadata of its result",
            Self::Permit => "the call itself: its permit",
        }
    }
}

/// The facts of one call.
#[derive(Default)]
pub(crate) struct CallFacts {
    pub(crate) context: Context,
    pub(super) deadline: Deadline,
    /// Created on first use, or when the call is stopped.
    cancellation: OnceLock<CancellationToken>,
    /// Created on first use.
    notes: OnceLock<Notes>,
    /// Stores texts that are too long for the notes.
    spill: Option<Spill>,
    /// Held as long as any part of the call runs, including a thread that cannot be stopped, unless the handler releases
    /// it.
    pub(super) permit: CallPermit,
}

impl CallFacts {
    /// Creates the facts of a call that starts now and has this timeout.
    pub(crate) fn new(context: Context, timeout: Option<Duration>) -> Self {
        Self { context, deadline: Deadline::after(timeout), ..Self::default() }
    }

    /// Adds the store for texts that are too long for the notes.
    pub(crate) fn spilling(mut self, spill: Option<&Spill>) -> Self {
        self.spill = spill.cloned();
        self
    }

    /// Adds the permit of the call.
    pub(crate) fn holding(mut self, permit: Option<RunPermit>) -> Self {
        self.permit = permit.map(CallPermit::new).unwrap_or_default();
        self
    }

    pub(crate) fn input(&self, fact: CallFact) -> InjectedValue {
        let slot: Arc<ValueSlot> = match fact {
            CallFact::Context => ValueSlot::new(HeldValue::new(self.context.clone())),
            CallFact::Deadline => ValueSlot::new(HeldValue::new(self.deadline)),
            CallFact::Cancellation => ValueSlot::new(HeldValue::new(self.cancellation().clone())),
            CallFact::Notes => {
                let notes = self.notes.get_or_init(|| Notes::new(self.spill.as_ref(), &self.context));
                ValueSlot::new(HeldValue::new(notes.clone()))
            }
            CallFact::Permit => ValueSlot::new(HeldValue::new(self.permit.clone())),
        };
        InjectedValue::Slot(slot)
    }

    /// Returns the tool and the id of the call, for the log. A scope that belongs to no call has neither.
    pub(super) fn log_fields(&self) -> (Option<&str>, Option<&str>) {
        let Context { tool, call_id, .. } = &self.context;
        (Some(tool.as_str()).filter(|tool| !tool.is_empty()), call_id.as_deref())
    }

    /// Returns the handler's notes, if it has asked for them.
    pub(crate) fn notes(&self) -> Option<Notes> {
        self.notes.get().cloned()
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        self.cancellation.get_or_init(CancellationToken::new)
    }

    /// Cancels the token of the call, even if it is requested later.
    pub(crate) fn cancel(&self) {
        self.cancellation().cancel();
    }
}
