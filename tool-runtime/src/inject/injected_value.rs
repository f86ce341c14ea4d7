//! One value, held for the length of a call or shared by all calls.

use std::any::{Any, type_name};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::InjectError;
use crate::panics;

type AnyBox = Box<dyn Any + Send>;
type AnyArc = Arc<dyn Any + Send + Sync>;

/// A value of a type that only its users know.
#[derive(Default)]
pub(crate) enum HeldValue {
    /// Not made yet, moved out, or lent for writing.
    #[default]
    Empty,
    /// Owned by the call alone.
    Owned(AnyBox),
    /// Lent for reading, possibly several times.
    Shared(AnyArc),
}

impl HeldValue {
    pub(crate) fn new<T: Send + 'static>(value: T) -> Self {
        Self::Owned(Box::new(value))
    }

    /// Moves the value out. One that is lent, or of another type, stays where it is.
    pub(crate) fn take_value<T: Send + 'static>(&mut self) -> Option<T> {
        let value = match std::mem::take(self) {
            Self::Empty => return None,
            Self::Owned(value) => value.downcast::<T>().map(|value| *value).map_err(Self::Owned),
            // `Arc::downcast` asks for `Sync`, which a value lent for reading has; a `T` known only as `Send` cannot say so.
            Self::Shared(mut value) => Arc::get_mut(&mut value)
                .and_then(|lent| lent.downcast_mut::<Returnable<T>>()?.0.take())
                .ok_or(Self::Shared(value)),
        };
        value.map_err(|kept| *self = kept).ok()
    }
}

/// What stands behind [`HeldValue::Shared`]: a value that can be taken back out of its `Arc`.
struct Returnable<T>(Option<T>);

/// A slot of a scope: a value that is made once per call.
#[derive(Default)]
pub(crate) struct ValueSlot {
    pub(crate) made: OnceCell<Result<(), InjectError>>,
    held: Mutex<HeldValue>,
}

impl ValueSlot {
    pub(crate) fn of(held: HeldValue) -> Arc<Self> {
        Arc::new(Self { made: OnceCell::new(), held: Mutex::new(held) })
    }

    pub(crate) fn put(&self, held: HeldValue) {
        *self.lock() = held;
    }

    pub(crate) fn take(&self) -> HeldValue {
        std::mem::take(&mut *self.lock())
    }

    /// Moves the value out, unless it is lent.
    fn take_value<T: Send + 'static>(&self) -> Result<T, InjectError> {
        self.lock().take_value().ok_or_else(gone::<T>)
    }

    /// Nothing that runs under the lock can leave the value half-changed, so a panic there does no harm.
    fn lock(&self) -> MutexGuard<'_, HeldValue> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ValueSlot {
    /// The value belongs to the application: a panic of its `Drop` must not reach the caller of a tool.
    fn drop(&mut self) {
        let held = std::mem::take(self.held.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !matches!(held, HeldValue::Empty) {
            panics::drop_quietly(held);
        }
    }
}

/// Where an injected value comes from, found and ready.
#[derive(Clone)]
pub(crate) enum InjectedValue {
    /// One of the call's own.
    Slot(Arc<ValueSlot>),
    /// One that all calls share.
    Shared(AnyArc),
}

impl InjectedValue {
    /// The value, moved out for its only owner.
    pub(crate) fn take<T: Send + 'static>(&self) -> Result<T, InjectError> {
        match self {
            Self::Slot(slot) => slot.take_value(),
            Self::Shared(_) => Err(gone::<T>()),
        }
    }

    /// Returns `true` while the value is lent for reading.
    pub(crate) fn is_lent(&self) -> bool {
        let Self::Slot(slot) = self else { return false };
        matches!(&*slot.lock(), HeldValue::Shared(value) if Arc::strong_count(value) > 1)
    }

    /// A copy of the value.
    pub(crate) fn cloned<T: Clone + Send + 'static>(&self) -> Result<T, InjectError> {
        let copy = match self {
            Self::Shared(value) => value.downcast_ref::<T>().cloned(),
            Self::Slot(slot) => match &*slot.lock() {
                HeldValue::Owned(value) => value.downcast_ref::<T>().cloned(),
                HeldValue::Shared(value) => value.downcast_ref::<Returnable<T>>().and_then(|value| value.0.clone()),
                HeldValue::Empty => None,
            },
        };
        copy.ok_or_else(gone::<T>)
    }

    /// The value, lent for reading.
    pub(crate) fn shared<T: Send + Sync + 'static>(&self) -> Result<SharedGuard<T>, InjectError> {
        let slot = match self {
            Self::Shared(value) => {
                let shared = match value.downcast_ref::<Arc<T>>() {
                    Some(shared) => Ok(shared.clone()),
                    None => value.clone().downcast(),
                };
                return shared.map(SharedGuard::Ours).map_err(|_| gone::<T>());
            }
            Self::Slot(slot) => slot,
        };
        let mut held = slot.lock();
        *held = match std::mem::take(&mut *held) {
            HeldValue::Owned(value) => match value.downcast::<T>() {
                Ok(value) => HeldValue::Shared(Arc::new(Returnable(Some(*value)))),
                Err(other) => HeldValue::Owned(other),
            },
            other => other,
        };
        match &*held {
            HeldValue::Shared(value) => value.clone().downcast().map(SharedGuard::Call).map_err(|_| gone::<T>()),
            _ => Err(gone::<T>()),
        }
    }

    /// The value, lent for writing; it goes back when the guard is dropped.
    pub(crate) fn exclusive<T: Send + 'static>(&self) -> Result<ExclusiveGuard<T>, InjectError> {
        let Self::Slot(slot) = self else { return Err(gone::<T>()) };
        Ok(ExclusiveGuard { value: Some(slot.take_value()?), home: slot.clone() })
    }
}

fn gone<T>() -> InjectError {
    InjectError::new(format!("the {} of this call is in use elsewhere, or was moved out before", type_name::<T>()))
}

/// A value lent for reading.
pub enum SharedGuard<T> {
    #[doc(hidden)]
    Ours(Arc<T>),
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "made and read here only")]
    Call(Arc<Returnable<T>>),
}

impl<T> Deref for SharedGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Ours(value) => value,
            Self::Call(value) => value.0.as_ref().expect("taken out only when no guard is left"),
        }
    }
}

/// A value lent for writing. Dropped, it gives the value back to the call, so that it can be finished.
pub struct ExclusiveGuard<T: Send + 'static> {
    value: Option<T>,
    home: Arc<ValueSlot>,
}

impl<T: Send + 'static> Deref for ExclusiveGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("there until the guard is dropped")
    }
}

impl<T: Send + 'static> DerefMut for ExclusiveGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("there until the guard is dropped")
    }
}

impl<T: Send + 'static> Drop for ExclusiveGuard<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.home.put(HeldValue::new(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> InjectedValue {
        InjectedValue::Slot(ValueSlot::of(HeldValue::new(String::from("value"))))
    }

    #[test]
    fn what_is_lent_stays_where_it_is() {
        let input = input();
        let lent = input.shared::<String>().unwrap();
        assert!(input.exclusive::<String>().is_err() && input.take::<String>().is_err());
        assert_eq!(input.cloned::<String>().unwrap(), *lent);
        drop(lent);
        input.exclusive::<String>().unwrap().push('!');
        assert_eq!(input.take::<String>().unwrap(), "value!");
        assert!(input.take::<String>().is_err() && input.cloned::<String>().is_err(), "it is gone");
    }

    #[test]
    fn what_is_of_another_type_stays_where_it_is() {
        let input = input();
        assert!(input.take::<u8>().is_err() && input.exclusive::<u8>().is_err() && input.shared::<u8>().is_err());
        drop(input.shared::<String>().unwrap());
        assert!(input.take::<u8>().is_err() && input.exclusive::<u8>().is_err() && input.shared::<u8>().is_err());
        assert_eq!(input.take::<String>().unwrap(), "value");
    }
}
