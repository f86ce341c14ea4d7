//! Per-call values that the application derives from a request.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use tool_runtime::Call;

use crate::Problem;

/// A value to pass to a call with [`Call::with`].
pub(crate) trait CallValue: Send {
    fn attach<'c>(self: Box<Self>, call: Call<'c>) -> Call<'c>;
}

struct TypedValue<T>(T);

impl<T: Send + 'static> CallValue for TypedValue<T> {
    fn attach<'c>(self: Box<Self>, call: Call<'c>) -> Call<'c> {
        call.with(self.0)
    }
}

type ValueFuture = Pin<Box<dyn Future<Output = Result<Box<dyn CallValue>, Problem>> + Send>>;

/// Makes a value for each request, or rejects the request.
#[derive(Clone)]
pub(crate) struct ValueFactory(Arc<dyn Fn(&Parts) -> ValueFuture + Send + Sync>);

impl ValueFactory {
    pub(crate) fn new<T: Send + 'static>(make: impl Fn(&Parts) -> Result<T, Problem> + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |parts| Box::pin(ready(make(parts).map(boxed)))))
    }

    pub(crate) fn new_async<T, F>(make: impl Fn(Parts) -> F + Send + Sync + 'static) -> Self
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        Self(Arc::new(move |parts| {
            let made = make(parts.clone());
            Box::pin(async move { made.await.map(boxed) })
        }))
    }

    pub(crate) async fn make(&self, parts: &Parts) -> Result<Box<dyn CallValue>, Problem> {
        (self.0)(parts).await
    }
}

fn boxed<T: Send + 'static>(value: T) -> Box<dyn CallValue> {
    Box::new(TypedValue(value))
}
