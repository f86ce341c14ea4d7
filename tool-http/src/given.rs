//! What the application adds to a call, by who makes it.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use tool_runtime::Call;

use crate::Problem;

/// Gives a call a value.
pub(crate) trait Gift: Send {
    fn give<'c>(self: Box<Self>, call: Call<'c>) -> Call<'c>;
}

struct Value<T>(T);

impl<T: Send + 'static> Gift for Value<T> {
    fn give<'c>(self: Box<Self>, call: Call<'c>) -> Call<'c> {
        call.with(self.0)
    }
}

type Made = Pin<Box<dyn Future<Output = Result<Box<dyn Gift>, Problem>> + Send>>;

/// Makes a value for each request, or refuses it.
#[derive(Clone)]
pub(crate) struct Giver(Arc<dyn Fn(&Parts) -> Made + Send + Sync>);

impl Giver {
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

    pub(crate) async fn make(&self, parts: &Parts) -> Result<Box<dyn Gift>, Problem> {
        (self.0)(parts).await
    }
}

fn boxed<T: Send + 'static>(value: T) -> Box<dyn Gift> {
    Box::new(Value(value))
}
