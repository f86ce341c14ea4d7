//! Injected parameters, whose mode method resolution chooses by type.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;

use super::{ExclusiveGuard, HandlerInputs, InjectError, SharedGuard};

/// An injected parameter, as a shim declares it.
#[derive(Clone, Copy, Debug)]
pub struct Injection {
    /// The parameter's name.
    pub parameter: &'static str,
    /// The type of the value, owned.
    pub type_id: TypeId,
    /// The type of an `Arc` of it: a service that was passed as `Arc<T>` can be lent as `&T`.
    pub arc_type_id: TypeId,
    /// The type's name.
    pub type_name: &'static str,
    /// The way in which the value is passed.
    pub mode: InjectionMode,
}

/// The way in which an injected value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionMode {
    /// By value, a clone.
    Clone,
    /// By value, moved out.
    Move,
    /// `&T`
    Ref,
    /// `&mut T`
    Mut,
}

/// A request for a value of a type.
pub struct InjectionRequest<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> InjectionRequest<T> {
    /// Creates the request.
    pub const NEW: Self = Self(PhantomData);
}

fn injection<T: 'static>(parameter: &'static str, mode: InjectionMode) -> Injection {
    Injection {
        parameter,
        type_id: TypeId::of::<T>(),
        arc_type_id: TypeId::of::<Arc<T>>(),
        type_name: type_name::<T>(),
        mode,
    }
}

impl<T: Clone> InjectionRequest<T> {
    /// Declares a parameter that is cloned.
    #[must_use]
    pub fn tool_owned(self, parameter: &'static str) -> Injection
    where
        T: Send + 'static,
    {
        injection::<T>(parameter, InjectionMode::Clone)
    }

    /// Takes a clone.
    pub fn tool_take(self, inputs: &HandlerInputs, index: usize) -> Result<T, InjectError>
    where
        T: Send + 'static,
    {
        inputs.input(index)?.cloned()
    }

    /// Takes the instance: a clone of a shared one, or the call's own.
    pub fn tool_take_instance(self, inputs: &mut HandlerInputs) -> Result<T, InjectError>
    where
        T: Send + Sync + 'static,
    {
        inputs.take_instance::<T>(Some(T::clone))
    }
}

/// A type that is not `Clone` is moved out.
pub trait WantMoved {
    /// The type.
    type Value;

    /// Declares a parameter that is moved out.
    fn tool_owned(self, parameter: &'static str) -> Injection
    where
        Self::Value: Send + 'static;

    /// Takes the value.
    fn tool_take(self, inputs: &HandlerInputs, index: usize) -> Result<Self::Value, InjectError>
    where
        Self::Value: Send + 'static;

    /// Takes the call's own instance.
    fn tool_take_instance(self, inputs: &mut HandlerInputs) -> Result<Self::Value, InjectError>
    where
        Self::Value: Send + Sync + 'static;
}

impl<T> WantMoved for InjectionRequest<T> {
    type Value = T;

    fn tool_owned(self, parameter: &'static str) -> Injection
    where
        T: Send + 'static,
    {
        injection::<T>(parameter, InjectionMode::Move)
    }

    fn tool_take(self, inputs: &HandlerInputs, index: usize) -> Result<T, InjectError>
    where
        T: Send + 'static,
    {
        inputs.input(index)?.take()
    }

    fn tool_take_instance(self, inputs: &mut HandlerInputs) -> Result<T, InjectError>
    where
        T: Send + Sync + 'static,
    {
        inputs.take_instance::<T>(None)
    }
}

impl<T> InjectionRequest<T> {
    /// Declares a parameter that is lent for reading.
    #[must_use]
    pub fn tool_lent(self, parameter: &'static str) -> Injection
    where
        T: Send + Sync + 'static,
    {
        injection::<T>(parameter, InjectionMode::Ref)
    }

    /// Lends the value for reading.
    pub fn tool_borrow(self, inputs: &HandlerInputs, index: usize) -> Result<SharedGuard<T>, InjectError>
    where
        T: Send + Sync + 'static,
    {
        inputs.input(index)?.shared()
    }

    /// Declares a parameter that is lent for writing.
    #[must_use]
    pub fn tool_lent_mut(self, parameter: &'static str) -> Injection
    where
        T: Send + 'static,
    {
        injection::<T>(parameter, InjectionMode::Mut)
    }

    /// Lends the value for writing.
    pub fn tool_borrow_mut(self, inputs: &HandlerInputs, index: usize) -> Result<ExclusiveGuard<T>, InjectError>
    where
        T: Send + 'static,
    {
        inputs.input(index)?.exclusive()
    }
}

/// `&str` is lent from a `String`, `&Path` from a `PathBuf`.
pub trait WantUnsized {
    /// The owned form.
    type Owned;

    /// Declares a parameter that is lent for reading.
    fn tool_lent(self, parameter: &'static str) -> Injection;

    /// Lends the value for reading.
    fn tool_borrow(self, inputs: &HandlerInputs, index: usize) -> Result<SharedGuard<Self::Owned>, InjectError>;
}

impl<T: ?Sized + ToOwned<Owned: Send + Sync + 'static>> WantUnsized for InjectionRequest<T> {
    type Owned = T::Owned;

    fn tool_lent(self, parameter: &'static str) -> Injection {
        injection::<T::Owned>(parameter, InjectionMode::Ref)
    }

    fn tool_borrow(self, inputs: &HandlerInputs, index: usize) -> Result<SharedGuard<T::Owned>, InjectError> {
        inputs.input(index)?.shared()
    }
}
