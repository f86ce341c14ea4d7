//! The inputs of a handler besides its arguments: the instance and the injected values.

use std::any::{Any, type_name};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::{InjectError, InjectedValue, Scope};

/// The instance and the injected values of one call, in the order of the parameters.
#[derive(Default)]
pub struct HandlerInputs {
    pub(crate) instance: InstanceInput,
    pub(crate) values: Vec<InjectedValue>,
}

/// The type-erased instance.
#[derive(Default)]
pub(crate) enum InstanceInput {
    /// The function has no receiver.
    #[default]
    None,
    /// The instance that all calls share.
    Shared(Arc<dyn Any + Send + Sync>),
    /// The instance of this call.
    Own(Box<dyn Any + Send>),
    /// The guard of the instance that `.service_mut(..)` locks for each call.
    Locked(Box<dyn Any + Send>),
    /// None: a runtime tool takes values from its scope.
    Scope(Scope),
}

impl HandlerInputs {
    pub(super) fn input(&self, index: usize) -> Result<&InjectedValue, InjectError> {
        self.values.get(index).ok_or_else(|| InjectError::new("no value was prepared for this parameter".to_owned()))
    }

    /// Takes the instance for `&self`.
    #[inline]
    pub fn instance<S: Send + 'static>(&mut self) -> Result<Instance<S>, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Shared(shared) if shared.is::<S>() => Ok(Instance::Shared(shared)),
            InstanceInput::Shared(shared) if shared.is::<Arc<S>>() => Ok(Instance::SharedArc(shared)),
            InstanceInput::Own(own) => own.downcast().map(Instance::Own).map_err(|_| no_instance::<S>()),
            InstanceInput::Locked(guard) => guard.downcast().map(Instance::Locked).map_err(|_| no_instance::<S>()),
            _ => Err(no_instance::<S>()),
        }
    }

    /// Takes the instance for `&mut self`.
    pub fn instance_mut<S: Send + 'static>(&mut self) -> Result<InstanceMut<S>, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Own(own) => own.downcast().map(InstanceMut::Own).map_err(|_| no_instance::<S>()),
            InstanceInput::Locked(guard) => guard.downcast().map(InstanceMut::Locked).map_err(|_| no_instance::<S>()),
            _ => Err(no_instance::<S>()),
        }
    }

    /// Takes the instance for `self: Arc<Self>`.
    pub fn instance_arc<S: Send + Sync + 'static>(&mut self) -> Result<Arc<S>, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Shared(shared) => match shared.downcast_ref::<Arc<S>>() {
                Some(shared) => Ok(shared.clone()),
                None => shared.downcast().map_err(|_| no_instance::<S>()),
            },
            InstanceInput::Own(own) => own.downcast().map(Arc::from).map_err(|_| no_instance::<S>()),
            _ => Err(no_instance::<S>()),
        }
    }

    /// Takes the trait object for `&self`.
    #[inline]
    pub fn object<S: ?Sized + 'static>(&mut self) -> Result<ObjectInstance<S>, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Shared(shared) if shared.is::<Arc<S>>() => Ok(ObjectInstance(shared, PhantomData)),
            _ => Err(no_instance::<S>()),
        }
    }

    /// Takes the trait object for `self: Arc<Self>`.
    pub fn object_arc<S: ?Sized + 'static>(&mut self) -> Result<Arc<S>, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Shared(shared) => shared.downcast_ref::<Arc<S>>().cloned().ok_or_else(no_instance::<S>),
            _ => Err(no_instance::<S>()),
        }
    }

    /// Takes the scope of a runtime tool.
    pub(crate) fn take_scope(&mut self) -> Result<Scope, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Scope(scope) => Ok(scope),
            _ => Err(InjectError::new("there is no scope to take values from")),
        }
    }

    /// Takes the instance for `self`.
    pub(super) fn take_instance<S: Send + Sync + 'static>(
        &mut self,
        clone: Option<fn(&S) -> S>,
    ) -> Result<S, InjectError> {
        match std::mem::take(&mut self.instance) {
            InstanceInput::Shared(shared) => {
                let clone = clone.ok_or_else(no_instance::<S>)?;
                let behind_arc = || shared.downcast_ref::<Arc<S>>().map(|shared| &**shared);
                shared.downcast_ref().or_else(behind_arc).map(clone).ok_or_else(no_instance::<S>)
            }
            InstanceInput::Own(own) => own.downcast().map(|own| *own).map_err(|_| no_instance::<S>()),
            _ => Err(no_instance::<S>()),
        }
    }
}

fn no_instance<S: ?Sized>() -> InjectError {
    InjectError::new(format!("there is no {} to call the method on", type_name::<S>()))
}

/// The instance behind `&self`.
pub enum Instance<S: 'static> {
    #[doc(hidden)]
    Shared(Arc<dyn Any + Send + Sync>),
    #[doc(hidden)]
    SharedArc(Arc<dyn Any + Send + Sync>),
    #[doc(hidden)]
    Own(Box<S>),
    #[doc(hidden)]
    Locked(Box<OwnedMutexGuard<S>>),
}

impl<S: 'static> Deref for Instance<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        match self {
            Self::Shared(shared) => shared.downcast_ref().expect("its type was checked in `HandlerInputs::instance`"),
            Self::SharedArc(shared) => {
                shared.downcast_ref::<Arc<S>>().expect("its type was checked in `HandlerInputs::instance`")
            }
            Self::Own(own) => own,
            Self::Locked(guard) => guard,
        }
    }
}

/// The trait object behind `&self`: a type-erased `Arc<S>`.
pub struct ObjectInstance<S: ?Sized>(Arc<dyn Any + Send + Sync>, PhantomData<Arc<S>>);

impl<S: ?Sized + 'static> Deref for ObjectInstance<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        self.0.downcast_ref::<Arc<S>>().expect("its type was checked in `HandlerInputs::instance`")
    }
}

/// The instance behind `&mut self`.
pub enum InstanceMut<S: 'static> {
    #[doc(hidden)]
    Own(Box<S>),
    #[doc(hidden)]
    Locked(Box<OwnedMutexGuard<S>>),
}

impl<S> Deref for InstanceMut<S> {
    type Target = S;

    fn deref(&self) -> &S {
        match self {
            Self::Own(own) => own,
            Self::Locked(guard) => guard,
        }
    }
}

impl<S> DerefMut for InstanceMut<S> {
    fn deref_mut(&mut self) -> &mut S {
        match self {
            Self::Own(own) => own,
            Self::Locked(guard) => guard,
        }
    }
}
