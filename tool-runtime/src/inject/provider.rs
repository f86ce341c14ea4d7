//! Type-erased providers and finish hooks.

use std::any::TypeId;
use std::pin::Pin;
use std::sync::Arc;

use super::{HeldValue, LentPart, Scope};
use crate::CallOutcome;
use crate::handler_failure::BoxError;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A provider: makes a value for a call.
pub(crate) struct ValueProvider {
    pub(crate) name: String,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) make: Box<dyn Fn(Scope) -> BoxFuture<Result<HeldValue, BoxError>> + Send + Sync>,
    pub(crate) finish: Option<FinishHook>,
    /// The part of the value that handlers may borrow instead of it.
    pub(crate) lent: Option<Arc<LentPart>>,
}

impl ValueProvider {
    pub(crate) fn new<F, Fut, T, E>(name: String, provide: F) -> Self
    where
        F: Fn(Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Into<BoxError>,
    {
        Self {
            name,
            type_id: TypeId::of::<T>(),
            type_name: std::any::type_name::<T>(),
            make: Box::new(move |scope| {
                let made = provide(scope);
                Box::pin(async move { made.await.map(HeldValue::new).map_err(Into::into) })
            }),
            finish: None,
            lent: None,
        }
    }
}

/// A finish hook: gets a value and the outcome of its call.
pub(crate) struct FinishHook {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) finish: Box<dyn Fn(HeldValue, CallOutcome) -> Option<BoxFuture<FinishResult>> + Send + Sync>,
}

pub(crate) type FinishResult = Result<(), BoxError>;

impl FinishHook {
    pub(crate) fn new<F, Fut, T>(finish: F) -> Self
    where
        F: Fn(T, CallOutcome) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoFinishResult> + Send + 'static,
        T: Send + 'static,
    {
        Self {
            type_id: TypeId::of::<T>(),
            type_name: std::any::type_name::<T>(),
            finish: Box::new(move |mut held, outcome| {
                let finished = finish(held.take_value::<T>()?, outcome);
                Some(Box::pin(async move { finished.await.into_result() }))
            }),
        }
    }
}

/// A type that a finish hook may return: `()`, or a `Result` whose error fails the call.
pub trait IntoFinishResult {
    #[doc(hidden)]
    fn into_result(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

impl IntoFinishResult for () {
    fn into_result(self) -> FinishResult {
        Ok(())
    }
}

impl<E: Into<BoxError>> IntoFinishResult for Result<(), E> {
    fn into_result(self) -> FinishResult {
        self.map_err(Into::into)
    }
}
