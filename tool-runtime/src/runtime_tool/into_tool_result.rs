//! The return types of runtime tools' handlers.

use std::any::Any;

use serde::Serialize;
use serde_json::Value;

use crate::ToolResult;
use crate::handler_failure::{BoxError, HandlerFailure};
use crate::handler_result::{HandlerResult, from_tool_result, text};

/// A type that a [`RuntimeTool`](crate::RuntimeTool)'s handler can return: a `Result`, a [`ToolResult`], a string, a
/// JSON value or `()`.
///
/// A success that is not a string is serialized to JSON, an error is displayed. A [`HandlerError`](crate::HandlerError) decides whether the
/// model should retry. Return a value of another type as `Ok::<_, String>(value)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "return a `Result<T, E>` with a `T: Serialize` and an error such as a `String`, any `std::error::Error` or `anyhow::Error`, a `ToolResult`, a `String`, a `serde_json::Value` or `()`"
)]
pub trait IntoToolResult {
    #[doc(hidden)]
    fn into_answer(self) -> HandlerResult;
}

impl<T: Serialize + 'static, E: Into<BoxError>> IntoToolResult for Result<T, E> {
    fn into_answer(self) -> HandlerResult {
        match self {
            Ok(value) => match downcast::<T, ToolResult>(value) {
                Ok(result) => from_tool_result(result),
                Err(value) => text(&value),
            },
            Err(error) => Err(HandlerFailure::from_error(error.into())),
        }
    }
}

/// Downcasts a value to a concrete type.
fn downcast<T: 'static, K: 'static>(value: T) -> Result<K, T> {
    let mut slot = Some(value);
    match (&mut slot as &mut dyn Any).downcast_mut::<Option<K>>().and_then(Option::take) {
        Some(concrete) => Ok(concrete),
        None => Err(slot.expect("taken only by a successful downcast")),
    }
}

impl IntoToolResult for ToolResult {
    fn into_answer(self) -> HandlerResult {
        from_tool_result(self)
    }
}

macro_rules! plain {
    ($($ty:ty)*) => {
        $(impl IntoToolResult for $ty {
            fn into_answer(self) -> HandlerResult {
                text(&self)
            }
        })*
    };
}

plain! { () String &'static str Value }
