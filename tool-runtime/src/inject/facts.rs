//! What is known of a call by itself, for handlers and providers that ask.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Held, Input, Slot};
use crate::{Context, Deadline, Notes, Permit, Place};

/// A type that every call has a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Context,
    Deadline,
    Cancellation,
    Notes,
    Place,
}

impl Fact {
    /// The fact of a type.
    pub(crate) fn of(type_id: TypeId) -> Option<Self> {
        [
            (TypeId::of::<Context>(), Self::Context),
            (TypeId::of::<Deadline>(), Self::Deadline),
            (TypeId::of::<CancellationToken>(), Self::Cancellation),
            (TypeId::of::<Notes>(), Self::Notes),
            (TypeId::of::<Place>(), Self::Place),
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
            Self::Place => "the call itself: its place among those that run at a time",
        }
    }
}

/// The facts of one call.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) context: Context,
    timeout: Option<Duration>,
    /// Told when it is first asked for: the handler starts then.
    deadline: OnceLock<Deadline>,
    /// Made when somebody asks for it.
    cancellation: OnceLock<CancellationToken>,
    /// Likewise.
    notes: OnceLock<Notes>,
    /// Kept as long as anything of the call goes on, a thread that cannot be stopped included, unless the handler leaves it.
    pub(super) place: Place,
}

impl Facts {
    pub(crate) fn new(context: Context, timeout: Option<Duration>) -> Self {
        Self {
            context,
            timeout,
            deadline: OnceLock::new(),
            cancellation: OnceLock::new(),
            notes: OnceLock::new(),
            place: Place::default(),
        }
    }

    /// The same, with a place among the calls that run.
    pub(crate) fn holding(mut self, permit: Option<Permit>) -> Self {
        self.place = permit.map(Place::held).unwrap_or_default();
        self
    }

    pub(crate) fn input(&self, fact: Fact) -> Input {
        let slot: Arc<Slot> = match fact {
            Fact::Context => Slot::of(Held::new(self.context.clone())),
            Fact::Deadline => Slot::of(Held::new(self.deadline())),
            Fact::Cancellation => Slot::of(Held::new(self.cancellation().clone())),
            Fact::Notes => Slot::of(Held::new(self.notes.get_or_init(Notes::default).clone())),
            Fact::Place => Slot::of(Held::new(self.place.clone())),
        };
        Input::Slot(slot)
    }

    /// What the handler says besides its output, if it asked for a place to say it.
    pub(crate) fn notes(&self) -> Option<Notes> {
        self.notes.get().cloned()
    }

    pub(crate) fn deadline(&self) -> Deadline {
        *self.deadline.get_or_init(|| Deadline::after(self.timeout))
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        self.cancellation.get_or_init(CancellationToken::new)
    }

    /// Tells a handler that listens that its call is stopped.
    pub(crate) fn cancel(&self) {
        if let Some(token) = self.cancellation.get() {
            token.cancel();
        }
    }
}
