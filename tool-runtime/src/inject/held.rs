//! One value, held for the length of a call or shared by all calls.

use std::any::{Any, type_name};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::InjectError;

type AnyBox = Box<dyn Any + Send>;
type AnyArc = Arc<dyn Any + Send + Sync>;

/// A value of a type that only its users know.
#[derive(Default)]
pub(crate) enum Held {
    /// Not made yet, moved out, or lent for writing.
    #[default]
    Empty,
    /// Owned by the call alone.
    Owned(AnyBox),
    /// Lent for reading, possibly several times.
    Shared(AnyArc),
}

impl Held {
    pub(crate) fn new<T: Send + 'static>(value: T) -> Self {
        Self::Owned(Box::new(value))
    }

    /// The value, if nobody else has it.
    pub(crate) fn into_value<T: Send + 'static>(self) -> Option<T> {
        match self {
            Self::Empty => None,
            Self::Owned(value) => value.downcast::<T>().ok().map(|value| *value),
            Self::Shared(value) => take_shared(value),
        }
    }
}

/// `Arc::downcast` asks for `Sync`, which a value lent for reading has; a `T` known only as `Send` cannot say so, but a
/// box of the `Arc` can be asked whether it is one of `T`.
fn take_shared<T: Send + 'static>(value: AnyArc) -> Option<T> {
    let mut shared = value;
    let place = Arc::get_mut(&mut shared)?;
    let place = place.downcast_mut::<Returnable<T>>()?;
    place.0.take()
}

/// What stands behind [`Held::Shared`]: a value that can be taken back out of its `Arc`.
struct Returnable<T>(Option<T>);

/// A slot of a scope: a value that is made once per call.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) made: OnceCell<Result<(), InjectError>>,
    held: Mutex<Held>,
}

impl Slot {
    pub(crate) fn of(held: Held) -> Arc<Self> {
        Arc::new(Self { made: OnceCell::new(), held: Mutex::new(held) })
    }

    pub(crate) fn put(&self, held: Held) {
        *self.lock() = held;
    }

    pub(crate) fn take(&self) -> Held {
        std::mem::take(&mut *self.lock())
    }

    /// Nothing that runs under the lock can leave the value half-changed, so a panic there does no harm.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an injected value comes from, found and ready.
#[derive(Clone)]
pub(crate) enum Input {
    /// One of the call's own.
    Slot(Arc<Slot>),
    /// One that all calls share.
    Shared(AnyArc),
}

impl Input {
    /// The value, moved out for its only owner.
    pub(crate) fn take<T: Send + 'static>(&self) -> Result<T, InjectError> {
        match self {
            Self::Slot(slot) => slot.take().into_value().ok_or_else(gone::<T>),
            Self::Shared(_) => Err(gone::<T>()),
        }
    }

    /// A copy of the value.
    pub(crate) fn cloned<T: Clone + Send + 'static>(&self) -> Result<T, InjectError> {
        let copy = match self {
            Self::Shared(value) => value.downcast_ref::<T>().cloned(),
            Self::Slot(slot) => match &*slot.lock() {
                Held::Owned(value) => value.downcast_ref::<T>().cloned(),
                Held::Shared(value) => value.downcast_ref::<Returnable<T>>().and_then(|value| value.0.clone()),
                Held::Empty => None,
            },
        };
        copy.ok_or_else(gone::<T>)
    }

    /// The value, lent for reading.
    pub(crate) fn shared<T: Send + Sync + 'static>(&self) -> Result<Shared<T>, InjectError> {
        let slot = match self {
            Self::Shared(value) => return value.clone().downcast().map(Shared::Ours).map_err(|_| gone::<T>()),
            Self::Slot(slot) => slot,
        };
        let mut held = slot.lock();
        *held = match std::mem::take(&mut *held) {
            Held::Owned(value) => match value.downcast::<T>() {
                Ok(value) => Held::Shared(Arc::new(Returnable(Some(*value)))),
                Err(other) => Held::Owned(other),
            },
            other => other,
        };
        match &*held {
            Held::Shared(value) => value.clone().downcast().map(Shared::Call).map_err(|_| gone::<T>()),
            _ => Err(gone::<T>()),
        }
    }

    /// The value, lent for writing; it goes back when the guard is dropped.
    pub(crate) fn exclusive<T: Send + 'static>(&self) -> Result<Exclusive<T>, InjectError> {
        let Self::Slot(slot) = self else { return Err(gone::<T>()) };
        let value = slot.take().into_value().ok_or_else(gone::<T>)?;
        Ok(Exclusive { value: Some(value), home: slot.clone() })
    }
}

fn gone<T>() -> InjectError {
    InjectError::new(format!("the {} of this call is in use elsewhere, or was moved out before", type_name::<T>()))
}

/// A value lent for reading.
pub enum Shared<T> {
    #[doc(hidden)]
    Ours(Arc<T>),
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "made and read here only")]
    Call(Arc<Returnable<T>>),
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Ours(value) => value,
            Self::Call(value) => value.0.as_ref().expect("taken out only when no guard is left"),
        }
    }
}

/// A value lent for writing. Dropped, it gives the value back to the call, so that it can be finished.
pub struct Exclusive<T: Send + 'static> {
    value: Option<T>,
    home: Arc<Slot>,
}

impl<T: Send + 'static> Deref for Exclusive<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("there until the guard is dropped")
    }
}

impl<T: Send + 'static> DerefMut for Exclusive<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("there until the guard is dropped")
    }
}

impl<T: Send + 'static> Drop for Exclusive<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.home.put(Held::new(value));
        }
    }
}
