//! Injected values, which belong to one call or are shared by all.

use std::any::{Any, TypeId, type_name};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use super::{InjectError, LentPart};
use crate::panics;

type AnyBox = Box<dyn Any + Send>;
type AnyArc = Arc<dyn Any + Send + Sync>;

/// A type-erased value of a call.
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

    /// Moves the value out. A value that is lent, or has another type, stays.
    pub(crate) fn take_value<T: Send + 'static>(&mut self) -> Option<T> {
        let value = match std::mem::take(self) {
            Self::Empty => return None,
            Self::Owned(value) => value.downcast::<T>().map(|value| *value).map_err(Self::Owned),
            // `Arc::downcast` requires `Sync`. A value that is lent for reading has it, but the bound here is only `Send`.
            Self::Shared(mut value) => Arc::get_mut(&mut value)
                .and_then(|lent| lent.downcast_mut::<Returnable<T>>()?.0.take())
                .ok_or(Self::Shared(value)),
        };
        value.map_err(|kept| *self = kept).ok()
    }
}

/// The content of [`HeldValue::Shared`]: a value that can be taken back out of its `Arc`.
struct Returnable<T>(Option<T>);

/// A value of a scope, made at most once per call.
#[derive(Default)]
pub(crate) struct ValueSlot {
    pub(crate) made: OnceCell<Result<(), InjectError>>,
    held: Mutex<HeldValue>,
    /// The part that may be borrowed instead of the value.
    lent: Option<Arc<LentPart>>,
}

impl ValueSlot {
    pub(crate) fn new(held: HeldValue) -> Arc<Self> {
        Arc::new(Self { made: OnceCell::new(), held: Mutex::new(held), lent: None })
    }

    /// Creates the slot of a value that is not made yet.
    pub(crate) fn of_provider(lent: Option<Arc<LentPart>>) -> Arc<Self> {
        Arc::new(Self { made: OnceCell::new(), held: Mutex::default(), lent })
    }

    pub(crate) fn put(&self, held: HeldValue) {
        *self.lock() = held;
    }

    pub(crate) fn take(&self) -> HeldValue {
        std::mem::take(&mut *self.lock())
    }

    /// Moves the value out, unless it is lent.
    fn take_value<T: Send + 'static>(&self) -> Result<T, InjectError> {
        self.lock().take_value().ok_or_else(unavailable::<T>)
    }

    /// Poisoning is ignored: nothing that runs under the lock can leave the value half-changed.
    fn lock(&self) -> MutexGuard<'_, HeldValue> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ValueSlot {
    /// The value belongs to the application, and a panic of its `Drop` must not reach the caller.
    fn drop(&mut self) {
        let held = std::mem::take(self.held.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !matches!(held, HeldValue::Empty) {
            panics::drop_quietly(held);
        }
    }
}

/// An injected value that is ready to be handed over.
#[derive(Clone)]
pub(crate) enum InjectedValue {
    /// A value of the call.
    Slot(Arc<ValueSlot>),
    /// A value that all calls share.
    Shared(AnyArc),
}

impl InjectedValue {
    /// Moves the value out.
    pub(crate) fn take<T: Send + 'static>(&self) -> Result<T, InjectError> {
        match self {
            Self::Slot(slot) => slot.take_value(),
            Self::Shared(_) => Err(unavailable::<T>()),
        }
    }

    /// Returns `true` while the value is lent for reading.
    pub(crate) fn is_lent(&self) -> bool {
        let Self::Slot(slot) = self else { return false };
        matches!(&*slot.lock(), HeldValue::Shared(value) if Arc::strong_count(value) > 1)
    }

    /// Clones the value.
    pub(crate) fn cloned<T: Clone + Send + 'static>(&self) -> Result<T, InjectError> {
        let copy = match self {
            Self::Shared(value) => value.downcast_ref::<T>().cloned(),
            Self::Slot(slot) => match &*slot.lock() {
                HeldValue::Owned(value) => value.downcast_ref::<T>().cloned(),
                HeldValue::Shared(value) => value.downcast_ref::<Returnable<T>>().and_then(|value| value.0.clone()),
                HeldValue::Empty => None,
            },
        };
        copy.ok_or_else(unavailable::<T>)
    }

    /// Lends the value for reading.
    pub(crate) fn shared<T: Send + Sync + 'static>(&self) -> Result<SharedGuard<T>, InjectError> {
        let slot = match self {
            Self::Shared(value) => {
                let shared = match value.downcast_ref::<Arc<T>>() {
                    Some(shared) => Ok(shared.clone()),
                    None => value.clone().downcast(),
                };
                return shared.map(SharedGuard::Ours).map_err(|_| unavailable::<T>());
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
            HeldValue::Shared(value) => value.clone().downcast().map(SharedGuard::Call).map_err(|_| unavailable::<T>()),
            _ => Err(unavailable::<T>()),
        }
    }

    /// Lends the value for writing. Dropping the guard returns it.
    pub(crate) fn exclusive<T: Send + 'static>(&self) -> Result<ExclusiveGuard<T>, InjectError> {
        let Self::Slot(slot) = self else { return Err(unavailable::<T>()) };
        let held = match slot.lent.as_ref().filter(|part| part.type_id == TypeId::of::<T>()) {
            None => ExclusiveValue::Whole(slot.take_value()?),
            Some(part) => {
                let owner = part.take_owner(&mut slot.lock()).ok_or_else(unavailable::<T>)?;
                ExclusiveValue::Part(owner, part.clone())
            }
        };
        Ok(ExclusiveGuard { held, home: slot.clone() })
    }
}

fn unavailable<T>() -> InjectError {
    InjectError::new(format!("the {} of this call is in use elsewhere, or was moved out before", type_name::<T>()))
}

/// A guard for a value that is lent for reading.
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

/// A guard for a value that is lent for writing. Dropping it returns the value to the call, so that it can be finished.
pub struct ExclusiveGuard<T: Send + 'static> {
    held: ExclusiveValue<T>,
    home: Arc<ValueSlot>,
}

enum ExclusiveValue<T> {
    Whole(T),
    /// The value whose part is lent.
    Part(AnyBox, Arc<LentPart>),
    Returned,
}

impl<T: Send + 'static> ExclusiveGuard<T> {
    /// Lends the value.
    pub fn lend(&mut self) -> &mut T {
        match &mut self.held {
            ExclusiveValue::Whole(value) => value,
            ExclusiveValue::Part(owner, part) => part.borrow(owner).expect("its type was checked when it was taken"),
            ExclusiveValue::Returned => unreachable!("it is returned when the guard is dropped"),
        }
    }
}

impl<T: Send + 'static> Drop for ExclusiveGuard<T> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.held, ExclusiveValue::Returned) {
            ExclusiveValue::Whole(value) => self.home.put(HeldValue::new(value)),
            ExclusiveValue::Part(owner, _) => self.home.put(HeldValue::Owned(owner)),
            ExclusiveValue::Returned => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> InjectedValue {
        InjectedValue::Slot(ValueSlot::new(HeldValue::new(String::from("value"))))
    }

    #[test]
    fn a_lent_value_is_not_moved_out() {
        let input = input();
        let lent = input.shared::<String>().unwrap();
        assert!(input.exclusive::<String>().is_err() && input.take::<String>().is_err());
        assert_eq!(input.cloned::<String>().unwrap(), *lent);
        drop(lent);
        input.exclusive::<String>().unwrap().lend().push('!');
        assert_eq!(input.take::<String>().unwrap(), "value!");
        assert!(input.take::<String>().is_err() && input.cloned::<String>().is_err(), "it is gone");
    }

    #[test]
    fn a_value_of_another_type_is_not_moved_out() {
        let input = input();
        assert!(input.take::<u8>().is_err() && input.exclusive::<u8>().is_err() && input.shared::<u8>().is_err());
        drop(input.shared::<String>().unwrap());
        assert!(input.take::<u8>().is_err() && input.exclusive::<u8>().is_err() && input.shared::<u8>().is_err());
        assert_eq!(input.take::<String>().unwrap(), "value");
    }
}
